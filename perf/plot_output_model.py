#!/usr/bin/env python3
"""The picture of nunatak-step -output: simulated years per day with each method of output, and the
fraction of the run.

    nunatak-step -grid_dx 8km -refine 8 -virtual_ranks 1,4,16,64,256,1024 -steps 2 \\
        -output direct,pnetcdf,serial,async:16 -output_every 1 -report joint.json
    perf/plot_output_model.py joint.json -o docs/img/output_model.png
"""
import argparse
import json
import pathlib

from scaling_study.plots import STYLE, plt, styles, write

parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("report", type=pathlib.Path)
parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
arguments = parser.parse_args()
records = json.loads(arguments.report.read_text())["output"]
methods = list(dict.fromkeys(r["method"] for r in records))
plt.rcParams.update(STYLE)
figure, (speed, fraction) = plt.subplots(1, 2, figsize=(9.2, 4.0))
first = [r for r in records if r["method"] == methods[0]]
speed.plot([r["ranks"] for r in first], [r["sypd_without_output"] for r in first], color="0.45",
           ls=":", label="without output")
for method, (colour, marker, dashes) in zip(methods, styles(methods)):
    rows = [r for r in records if r["method"] == method]
    ranks = [r["ranks"] for r in rows]
    speed.plot(ranks, [r["sypd"] for r in rows], color=colour, marker=marker, ls=dashes,
               label=method)
    fraction.plot(ranks, [max(r["output_percent"], 0.01) for r in rows], color=colour,
                  marker=marker, ls=dashes)
fraction.axhline(10, color="black", ls="--", lw=1.2)
fraction.annotate("10 %", (ranks[0], 11))
for axes, title, label in ((speed, "speed, modelled", "simulated years per day"),
                           (fraction, "output, modelled", "% of the run")):
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ranks, [f"{n:,}" for n in ranks])
    axes.minorticks_off()
    axes.set_xlabel("virtual ranks that compute")
    axes.set_ylabel(label)
figure.legend(loc="outside upper center", ncols=len(methods) + 1)
write(figure, arguments.output)
