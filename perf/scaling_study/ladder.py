"""The ladder: one problem with methods that change rung by rung, from PISM's to the default (perf/studies/ladder.yaml). Its figure in the
report has a bar of compute and output for each rung. As a program it models the rungs that nunatak-step knows, on virtual ranks:

    perf/scaling_study/ladder.py build/ci/miniapp/nunatak-step -grid_dx 8km -ranks 1,16,256,1024,4096,16384 -o model.png
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

RUNG = "rung="  # how the curves of such a study begin
SAME = 1e-6  # relative: the tolerance of the solver of the stress balance
MODELLED = {"sweep, one by one, DMDA": "-halo dmda -pico_batch no -pico_skip_unchanged no -pico_distance sweep",
            "1 bfs": "-halo dmda -pico_batch no -pico_skip_unchanged no -pico_distance bfs", "2 batch": "-halo dmda", "4 packed ghosts": ""}


def same(study):
    """Says which runs did not get the volume and the melt of the first rung."""
    runs = [run for run in study.runs if run["curve"].startswith(RUNG)]
    for run in runs:
        first = next(one for one in runs if one["mode"] == run["mode"] and (run["mode"] == "strong" or one["cores"] == run["cores"]))
        for part, name in (("mass_budget", "volume_end_km3"), ("ocean", "total_melt_Gt_per_year")):
            expected, found = ((one["report"].get(part) or {}).get(name) or 0.0 for one in (first, run))
            if not math.isclose(expected, found, rel_tol=SAME):
                study.complain(f"{run['who']}: {name}: expected {expected:.9g} as on the first rung, found {found:.9g}")


def draw(figures):
    """Bars in the order of the rungs, a panel for each number of cores."""
    import numpy as np

    from . import page, parts
    from .plots import BARS
    p = figures.points[figures.points.curve.str.startswith(RUNG)]
    panels = list(dict.fromkeys(zip(p.machine, p["mode"], p.cores)))
    if not panels:
        return
    figure, grid = figures.panels(len(panels), width=4.2, height=4.0)
    rungs = list(dict.fromkeys(p.curve))
    for axes, (machine, mode, cores) in zip(grid[0], panels):
        rows = p[(p.machine == machine) & (p["mode"] == mode) & (p.cores == cores)]
        total = rows[rows.part == parts.TOTAL].set_index("curve").reindex(rungs)
        whole = rows[rows.kind.isin(list(BARS))].groupby("curve").fraction.sum().reindex(rungs)
        bottom = np.zeros(len(rungs))
        for name, (colour, hatch) in BARS.items():
            of_kind = rows[rows.kind == name].groupby("curve").fraction.sum().reindex(rungs).fillna(0.0)
            seconds = (of_kind / whole * total["median"]).fillna(0.0).to_numpy()
            axes.bar(range(len(rungs)), seconds, 0.72, bottom, color=colour, hatch=hatch, edgecolor="0.15", lw=0.5, label=name)
            bottom += seconds
        low, high = (total["median"] - total["min"]).fillna(0.0), (total["max"] - total["median"]).fillna(0.0)
        axes.errorbar(range(len(rungs)), bottom, [low, high], color="black", ls="", capsize=3, lw=1)
        axes.set_xticks(range(len(rungs)), [rung.removeprefix(RUNG) for rung in rungs], rotation=40, ha="right")
        axes.grid(axis="x", visible=False)
        first = total.dropna(subset="median").iloc[0]
        axes.set_title(f"{int(first.nodes)} {'node' if first.nodes == 1 else 'nodes'}, {page.cores_text(total.dropna(subset='median').assign(cores=cores).iloc[0])} "
                       f"{figures.unit}" + (f", {machine}" if p.machine.nunique() > 1 else ""), fontsize=10)
    grid[0][0].set_ylabel("time of the run (s)")
    figures.save(figure, "ladder.png", "The same problem, rung by rung from PISM's methods to those of the default: compute and output stacked "
                 "(means over ranks), median and range of the run.", grid[0][0].get_legend_handles_labels())


def model(program, ranks, options):
    """{rung: [modelled seconds of a step on each number of ranks]}; the fields of all rungs are the same bits."""
    found, fields = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        for rung, words in MODELLED.items():
            report = pathlib.Path(folder) / "step.json"
            subprocess.run([program, *options, *words.split(), "-virtual_ranks", ",".join(map(str, ranks)), "-report", report],
                           check=True, stdout=subprocess.DEVNULL)
            step = json.loads(report.read_text(encoding="utf-8"))
            fields.add(step["fields"])
            found[rung] = [{r["part"]: r for r in step["records"] if r["ranks"] == n} for n in ranks]
    if len(fields) != 1:
        sys.exit(f"ladder: error: expected the same fields on all rungs, found {', '.join(fields)}")
    return found


def main():
    parser = argparse.ArgumentParser(prog="ladder", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="nunatak-step")
    parser.add_argument("-ranks", default="1,16,256,4096", help="virtual ranks (default %(default)s)")
    parser.add_argument("-o", dest="output", metavar="PNG", help="figure")
    arguments, options = parser.parse_known_args()
    ranks = [int(n) for n in arguments.ranks.split(",")]
    found = model(str(pathlib.Path(arguments.program).resolve()), ranks, options)
    print(f"{'modelled ms of a step':26s}" + "".join(f"{n:>11,}" for n in ranks))
    for rung, records in found.items():
        for part in ("ocean", "step"):
            print(f"{rung + ': ' + part:26s}" + "".join(f"{1e3 * of[part]['loggp_s']:11.4g}" for of in records))
    if not arguments.output:
        return
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    from scaling_study.plots import LINES, STYLE, plt
    plt.rcParams.update(STYLE)
    figure, grid = plt.subplots(1, 2, figsize=(9, 3.8))
    for axes, part in zip(grid, ("ocean", "step")):
        for (rung, records), (colour, marker, dashes) in zip(found.items(), LINES):
            axes.loglog(ranks, [1e3 * of[part]["loggp_s"] for of in records], color=colour, marker=marker, ls=dashes, label=rung)
        axes.set(title={"ocean": "PICO", "step": "the step, SSA by nunatak's solver"}[part], xlabel="virtual ranks", ylabel="modelled time (ms)")
    grid[0].legend(fontsize=8)
    figure.savefig(arguments.output)


if __name__ == "__main__":
    main()
