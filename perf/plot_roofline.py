#!/usr/bin/env python3
"""The kernels of a step below the roof of the memory: counted bytes over time, as a fraction of the
STREAM triad of the same run.

    bench_kernels -grid_dx 8e3 > kernels.json
    perf/plot_roofline.py kernels.json -o docs/img/roofline.png

Operations are not counted: there is no other roof than that of the memory, and no arithmetic
intensity.
"""
import argparse
import json
import pathlib

from scaling_study.plots import BLUE, ORANGE, STYLE, plt, write

parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("report", type=pathlib.Path, help="what bench_kernels prints")
parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
arguments = parser.parse_args()

report = json.loads(arguments.report.read_text(encoding="utf-8"))
step, grid = report["step"]["median_ms"], report["grid"]
kernels = {**report["kernels"], "step without SSA": report["without_ssa"]}
if "share_of_triad" in report["ssa"]:
    of_ssa, cells = report["ssa"], report["sizes"]["cells"]
    kernels["SSA, with its solve from rest"] = {
        "share_of_triad": of_ssa["share_of_triad"],
        "median_ms": report["parts"]["stress balance: SSA"]["median_ms"], "bytes_per_cell":
        of_ssa["bytes_per_unknown_cell_and_step"] * of_ssa["unknown_cells"] / cells}
names = sorted(kernels, key=lambda name: kernels[name]["bytes_per_cell"])
plt.rcParams.update({**STYLE, "axes.grid.axis": "x"})
figure, axes = plt.subplots(figsize=(7.6, 0.26 * len(names) + 1.3))
axes.barh(names, [kernels[name]["share_of_triad"] for name in names], 0.7,
          color=[BLUE if name in report["kernels"] else ORANGE for name in names])
fastest = [kernels[name].get("share_of_triad_best") for name in names]
axes.plot(fastest, range(len(names)), ls="", marker="|", ms=10, color="black")
axes.axvline(1, color="black", lw=1.2)
right = 1.02 * max(1.0, *(share for name in names for share in (
    kernels[name]["share_of_triad"], kernels[name].get("share_of_triad_best", 0))))
for row, name in enumerate(names):
    axes.text(right, row, f"{kernels[name]['bytes_per_cell']:,.0f} B, "
              f"{100 * kernels[name]['median_ms'] / step:.1f} %", va="center", fontsize=8)
axes.text(right, len(names), "bytes of a cell,\npart of the step's time", va="center", fontsize=8)
axes.set_xlim(0, right)
axes.set_xlabel(
    f"counted bytes per second over those of the triad ({report['triad']['GB_per_s']:.1f} GB/s; "
    f"ranks {report['ranks']['size']}, threads {report['threads']}, {grid['dx'] / 1000:g} km)\n"
    f"bars: medians of {report['repetitions']} steps; marks: the fastest", fontsize=9)
axes.grid(axis="y", visible=False)
axes.tick_params(axis="y", length=0)
write(figure, arguments.output)
