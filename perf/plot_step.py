#!/usr/bin/env python3
"""Draw the modelled time of a hybrid step against ranks, from nunatak-step -report: the figure of docs/step-scaling.md.

    nunatak-step -grid_dx 4000 -sliding_q 0.25 -virtual_ranks 1,4,16,64,256,1024,4096,16384 -report equal.json
    nunatak-step -grid_dx 4000 -sliding_q 0.25 -virtual_ranks 4,16,64,256,1024,4096 -grid_cut ice -report ice.json
    perf/plot_step.py docs/img/step_scaling.png equal.json ice.json
"""
import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

LINES = (("stress balance: SSA", "#0072B2", "o"), ("energy", "#D55E00", "s"), ("stress balance: 3-D velocity", "#CC79A7", "^"),
         ("ocean", "#009E73", "v"), ("mass transport", "#E69F00", "D"))

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plot", metavar="PICTURE")
parser.add_argument("equal", metavar="EQUAL.json", help="patches of equal size")
parser.add_argument("ice", metavar="ICE.json", help="patches cut by the ice")
arguments = parser.parse_args()
with open(arguments.equal) as file:
    equal = json.load(file)
with open(arguments.ice) as file:
    ice = json.load(file)


def curve(study, part, key="loggp_s"):
    found = [(r["ranks"], 1e3 * r[key]) for r in study["records"] if r["part"] == part]
    return [n for n, _ in found], [ms for _, ms in found]


figure, axis = plt.subplots(figsize=(8.5, 5.6), layout="constrained")
ranks, step = curve(equal, "step")
axis.plot(ranks, step, color="black", marker="o", lw=2, label="the step, patches of equal size")
axis.plot(*curve(ice, "step"), color="black", marker="o", ls="--", lw=2, label="the step, patches cut by the ice")
for part, colour, marker in LINES:
    axis.plot(*curve(equal, part), color=colour, marker=marker, ms=5, lw=1, label=part)
axis.plot(ranks, [step[0] * ranks[0] / n for n in ranks], color="0.6", ls=":", label="ideal")
axis.set(xscale="log", yscale="log", xlabel="ranks", ylabel="modelled time of a step from rest (ms)",
         title=f"Synthetic continent, {equal['grid']['Mx']} x {equal['grid']['My']} cells of {equal['grid']['dx'] / 1e3:g} km, "
               f"{equal['grid']['Mz']} levels")
axis.set_xticks(ranks, [str(n) for n in ranks])
axis.minorticks_off()
axis.set_ylim(bottom=0.02)
axis.grid(alpha=0.3)
axis.legend(fontsize=9, handlelength=3.5)
figure.savefig(arguments.plot, dpi=130)
