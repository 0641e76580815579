#!/usr/bin/env python3
"""The picture of nunatak-step on virtual ranks: modelled time of a step and of its parts.

    nunatak-step -grid_dx 4km -virtual_ranks 1,16,64,256,1024,4096,16384 -report step.json
    nunatak-step -grid_dx 4km -virtual_ranks 16,256,1024,4096 -grid_cut ice -report ice.json
    perf/plot_step_model.py step.json --ice ice.json -o docs/img/step_scaling.png
"""
import argparse
import json
import pathlib

from scaling_study.plots import LINES, STYLE, plt, write

parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("report", type=pathlib.Path)
parser.add_argument("--ice", type=pathlib.Path, help="the same with -grid_cut ice")
parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
arguments = parser.parse_args()


def lines(path):
    """{part: [(ranks, ms), ...]}"""
    found = {}
    for r in json.loads(path.read_text())["records"]:
        found.setdefault(r["part"], []).append((r["ranks"], 1e3 * r["loggp_s"]))
    return found


parts = lines(arguments.report)
step = parts.pop("step")
plt.rcParams.update(STYLE)
figure, axes = plt.subplots(figsize=(7.6, 4.8))
axes.plot(*zip(*step), color="black", lw=2.2, marker="o", label="the step, equal patches")
if arguments.ice:
    axes.plot(*zip(*lines(arguments.ice)["step"]), color="black", lw=2.2, ls="--", marker="o",
              mfc="white", label="the step, cut by the ice")
largest = sorted(parts, key=lambda part: -parts[part][0][1])[:5]
for part, (colour, marker, dashes) in zip(largest, LINES):
    axes.plot(*zip(*parts[part]), color=colour, marker=marker, ls=dashes, lw=1.2, label=part)
ranks = [n for n, _ in step]
axes.plot(ranks, [step[0][1] * ranks[0] / n for n in ranks], color="0.3", ls=":", lw=1,
          label="ideal")
axes.set_xscale("log", base=2)
axes.set_yscale("log")
axes.set_xticks(ranks, [f"{n:,}" for n in ranks])
axes.minorticks_off()
axes.set_xlabel("virtual ranks")
axes.set_ylabel("modelled time of a step from rest (ms)")
axes.set_title("a step, modelled: work counted, network by LogGP", fontsize=10)
figure.legend(loc="outside right upper", fontsize=9)
write(figure, arguments.output)
