#!/usr/bin/env python3
"""The ladder: one problem on rungs from PISM's methods to the default (perf/studies/ladder.yaml).
Its figure in the report has bars of output and computing for each rung, and how many times as long
each takes as the next one. As a program it models the rungs on virtual ranks, for the last panel of
that figure:

    perf/scaling_study/ladder.py build/ci/miniapp/nunatak-step \\
        --json study-ladder-cluster/model.json -grid_dx 8km -refine 4 \\
        -virtual_ranks 1024 -steps 2 -output_every 10
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from scaling_study import rows  # noqa: E402

RUNG = "rung="  # how the curves of such a study begin
# name, colour, marker
PARTS = {"total": ("run", "black", "o"), "compute": ("computing", "#0072B2", "s"),
         "output": ("output", "#D55E00", "^")}
SAME = 1e-6  # relative: the tolerance of the solver of the stress balance
MODEL = "model.json"  # in the folder of results
# options of nunatak-step: {rung: method of output}. `pnetcdf` has the two phases of collective
# NetCDF-4 without HDF5's own work, so rungs below 5 are lower bounds of output; those below OWN_SSA
# get PISM's SSA by ssa_by_count().
OWN_SSA, WORK = 3, "64 ranks, nunatak, ns of a cell and linear iteration of the SSA"
PISM, TWO_PHASES = "-halo dmda -pico_batch no -pico_skip_unchanged no -pico_distance", "pnetcdf"
MODELLED = {f"{PISM} sweep": {0: TWO_PHASES}, f"{PISM} bfs": {1: TWO_PHASES},
            "-halo dmda": {2: TWO_PHASES, 3: TWO_PHASES},
            "": {4: TWO_PHASES, 5: "direct", 6: "async:16"}}


def same(study):
    """Says which runs did not get the volume and the melt of the first rung."""
    runs = [run for run in study.runs if run["curve"].startswith(RUNG)]
    for run in runs:
        first = next(one for one in runs if one["mode"] == run["mode"] and
                     (run["mode"] == "strong" or one["cores"] == run["cores"]))
        for part, name in (("mass_budget", "volume_end_km3"), ("ocean", "total_melt_Gt_per_year")):
            expected, found = ((one["report"].get(part) or {}).get(name) or 0.0
                               for one in (first, run))
            if not math.isclose(expected, found, rel_tol=SAME):
                study.complain(f"{run['who']}: {name}: expected {expected:.9g} as on the first "
                               f"rung, found {found:.9g}")


def read_model(study):
    """Reads what this file as a program has written into the folder, if it has."""
    from . import texts
    path = study.folder / MODEL
    try:
        model = texts.parsed(texts.text_of(path)) if path.exists() else None
        if model is not None and not all(isinstance(s, (int, float)) for s in (
            model["ranks"], model["years"],
            *(s for rung in model["rungs"].values() for s in rung.values()))):
            raise ValueError("numbers are missing")
        study.model = model
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        study.complain(f"{MODEL}: expected what perf/scaling_study/ladder.py writes, found none "
                       f"({texts.one_line(error)})")


def steps(points):
    """How many times as long each rung takes as the next one, with its interval: the run, compute,
    output. Where cores are shared, compute is compared by processor time, and the run, in which it
    waits, not at all."""
    from . import parts
    found = []
    p = points[points.curve.str.startswith(RUNG) & points.part.isin(PARTS)]
    for (machine, mode, cores), here in p.groupby(["machine", "mode", "cores"], sort=False):
        rungs = list(dict.fromkeys(here.curve))
        of = {(row["curve"], row["part"]): row for row in here.to_dict("records")}
        for one, other, part in ((*pair, part) for pair in zip(rungs, rungs[1:]) for part in PARTS):
            upper, lower, in_processor_time = parts.comparable(
                of.get((one, part)), of.get((other, part))) or (None, None, None)
            if in_processor_time is None or in_processor_time and part == parts.TOTAL:
                continue
            low, high = parts.interval(upper["times"], lower["times"])
            found.append(
                {"machine": machine, "mode": mode, "cores": cores, "nodes": upper["nodes"],
                 "rung": one.removeprefix(RUNG), "next": other.removeprefix(RUNG),
                 "part": part, "processor_time": in_processor_time,
                 "ratio": {"median": upper["median"] / lower["median"], "low": low, "high": high}})
    return found


def steps_table(found):
    """A row for each step from rung to rung."""
    from . import page
    cells = {}
    for one in found:
        low, high = one["ratio"]["low"], one["ratio"]["high"]
        text = (page.number(one["ratio"]["median"]) +
                (f" ({page.number(low)} to {page.number(high)})" if low is not None else "") +
                "†" * one["processor_time"])
        row = one["machine"], one["cores"], one["rung"], one["next"]
        cells.setdefault(row, {})[one["part"]] = text
    return {"head": ["each rung over the next", "cores", "run", "compute", "output"], "rows": [
        {"style": "", "cells": [f"{rung} / {other}", cores, *[of.get(part, "-") for part in PARTS]]}
        for (_, cores, rung, other), of in cells.items()]}


def draw(figures, studies):
    """Output and computing of each rung, a panel for each number of cores and one for each model;
    below them the ratios from rung to rung."""
    import pandas

    from . import page, parts
    from .plots import BARS
    p = figures.points[figures.points.curve.str.startswith(RUNG)]
    rungs = list(dict.fromkeys(p.curve))
    panels = []
    for machine, mode, cores in dict.fromkeys(zip(p.machine, p["mode"], p.cores)):
        rows = p[(p.machine == machine) & (p["mode"] == mode) & (p.cores == cores)]
        seconds = {part: figures.fair(rows[rows.part == part]).set_index("curve").reindex(rungs)
                   for part in ("output", parts.COMPUTE)}
        first = next(rows.itertuples())
        title = (f"{first.nodes:.0f} {'node' if first.nodes == 1 else 'nodes'}, "
                 f"{page.cores_text(first)} {figures.unit}")
        title += f", {machine}" if p.machine.nunique() > 1 else ""
        panels.append((title, "seconds" + ("; † computing: processor time"
                                           if machine in figures.in_processor_time else ""),
                       seconds, [one for one in figures.rungs if (
                           one["machine"], one["mode"], one["cores"]) == (machine, mode, cores)]))
    for model in (study.model for study in studies if panels and study.model):
        found = pandas.DataFrame.from_dict(
            {rung: model["rungs"].get(rung.removeprefix(RUNG).split()[0], {}) for rung in rungs},
            orient="index")
        seconds = {part: pandas.DataFrame(dict.fromkeys(("median", "min", "max"), found[part]))
                   for part in ("output", parts.COMPUTE)}
        panels.append(
            (f"{model['ranks']:,} ranks, modelled", f"seconds of {model['years']:g} years", seconds,
             [{"rung": one.removeprefix(RUNG), "part": part,
               "ratio": {"median": found[part][one] / found[part][other], "low": None}}
              for one, other in zip(rungs, rungs[1:]) for part in seconds]))
    if not panels:
        return
    figure, grid = figures.panels(len(panels), 2, width=3.7, height=3.2, sharey="row", sharex=False)
    for axes, (title, label, seconds, _) in zip(grid[0], panels):
        for shift, (part, found) in zip((-0.2, 0.2), seconds.items()):
            colour, hatch = BARS[part]
            median, least, most = (found[name].fillna(0.0).to_numpy()
                                   for name in ("median", "min", "max"))
            places = [y + shift for y in range(len(rungs))]
            axes.barh(places, median, 0.38, color=colour, hatch=hatch, edgecolor="0.15", lw=0.5,
                      label=PARTS[part][0])
            axes.hlines(places, least, most, color="black", lw=1.5)
            for x, y, value in zip(most, places, median):
                axes.annotate(page.number(value), (x, y), (3, 0), textcoords="offset points",
                              va="center", fontsize=7)
        axes.set_xlim(0, 1.18 * max(found["max"].max() for found in seconds.values()))
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(label, fontsize=9)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    grid[0][0].set_yticks(range(len(rungs)), [rung.removeprefix(RUNG) for rung in rungs])
    grid[0][0].invert_yaxis()
    for axes, (*_, found) in zip(grid[1], panels):
        for shift, (part, (name, colour, marker)) in zip((-0.22, 0, 0.22), PARTS.items()):
            rows = [one for one in found if one["part"] == part and one["ratio"]["median"] > 0]
            places = [[rung.removeprefix(RUNG) for rung in rungs].index(one["rung"]) + 0.5 + shift
                      for one in rows]
            if rows:
                axes.plot([one["ratio"]["median"] for one in rows], places, color=colour, ls="",
                          marker=marker, ms=5, label=f"{name}: times as long")
            for y, one in zip(places, rows):
                if one["ratio"]["low"] is not None:
                    axes.hlines(y, one["ratio"]["low"], one["ratio"]["high"], color=colour, lw=2)
        axes.axvline(1, color="0.3", lw=1)
        figures.numbers_axis(axes, "x")
        axes.set_xlabel("time of a rung over that of the next", fontsize=9)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    names = [rung.removeprefix(RUNG) for rung in rungs]
    grid[1][0].set_yticks([n + 0.5 for n in range(len(rungs) - 1)],
                          [f"{one.split()[0]} to {other}" for one, other in zip(names, names[1:])])
    grid[1][0].set_ylim(len(rungs) - 1, 0)
    caption = ("The same problem, rung by rung from PISM's methods to those of the default: output "
               "and computing, median and range (where cores are shared, computing in processor "
               "time of the rank that has most). Below, how many times as long each rung takes as "
               "the next one, with the bootstrap interval of 95 %.")
    if any(study.model for study in studies):
        caption += (" Modelled: PISM's SSA by its counts on 64 real ranks, and two-phase writes "
                    "for netcdf4, so that output of the upper rungs is a lower bound.")
    handles = [sum(both, [])
               for both in zip(*(axes.get_legend_handles_labels() for axes in grid[:, 0]))]
    figures.save(figure, "ladder.png", caption, handles)


def ssa_by_count(step):
    """Seconds of the SSA of a step by PISM's solver, on the modelled ranks and machine of `step`:
    its iterations, messages, reductions and work of a cell are those of 64 real ranks (row
    `pism_counts`). An estimate: with more ranks iterations grow, and small patches stay in
    cache."""
    values = rows.measured()["rows"]["pism_counts"]["values"]
    if WORK not in values:
        sys.exit("ladder: error: perf/results/measured.yaml: row pism_counts: expected the figure "
                 f"'{WORK}', found none (perf/study reproduce pism_counts --record)")

    def counted(what):
        return sum(values[f"64 ranks, {part}: {what}, nunatak"][0]
                   for part in ("SSA, linear solves", "SSA"))

    ranks, machine = step["output"][0]["ranks"], step["machine"]
    # of a rank; -refine cuts finer grids alike
    cells = step["grid"]["Mx"] * step["grid"]["My"] / step["records"][-1]["ranks"]
    scatter, tree = (machine["L_s"] + 9 * machine["o_s"],
                     math.ceil(math.log2(ranks)) * (machine["L_s"] + 2 * machine["o_s"]))
    narrower = math.sqrt(cells / (381**2 / 64))
    work = (1e-9 * values[WORK][0] * cells *
            values["64 ranks, nunatak, linear iterations of a step"][0])
    return (counted("messages") / 8 * scatter +
            1000 * counted("kB") * narrower * machine["G_s_per_byte"] +
            counted("reductions") * tree + work)


def model(program, options):
    """Of each rung the modelled seconds of compute and output between two records; the fields of
    all rungs are the same bits."""
    rungs, fields = {}, set()
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "step.json"

        def run(*words):
            subprocess.run([program, *options, *words, "-report", report], check=True,
                           stdout=subprocess.DEVNULL)
            return json.loads(report.read_text(encoding="utf-8"))

        for words, methods in MODELLED.items():
            step = run(*words.split(), "-output", ",".join(dict.fromkeys(methods.values())))
            if step["steps"] < 2:
                sys.exit("ladder: error: option -steps: expected 2 or more, of which the last is "
                         f"that of a record, found {step['steps']}")
            # all but the last step, of which a record is made
            without = run(*words.split(), "-steps", str(step["steps"] - 1))
            last = {one["part"]: one["loggp_s"] - before["loggp_s"]
                    for one, before in zip(step["records"], without["records"])}
            fields.add(step["fields"])
            found = {record["method"]: record for record in step["output"]}
            for rung, method in methods.items():
                record = found[method]
                compute, whole = record["compute_s"], 86400 * record["years"] / record["sypd"]
                more = (record["steps"] * (ssa_by_count(step) - last["stress balance: SSA"])
                        if rung < OWN_SSA else 0.0)
                rungs[str(rung)] = {"output": whole - compute, "compute": compute + more}
    if len(fields) != 1:
        sys.exit(f"ladder: error: expected the same fields on all rungs, found {', '.join(fields)}")
    return {"ranks": record["ranks"], "years": record["years"], "rungs": rungs}


def main():
    parser = argparse.ArgumentParser(prog="ladder", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program",
                        help="nunatak-step; its options follow, with one number of -virtual_ranks")
    parser.add_argument("--json", required=True, metavar="FILE", help="the result")
    arguments, options = parser.parse_known_args()
    found = model(str(pathlib.Path(arguments.program).resolve()), options)
    pathlib.Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for rung, seconds in found["rungs"].items():
        print(f"rung {rung}: compute {seconds['compute']:.4g} s, output {seconds['output']:.4g} s")


if __name__ == "__main__":
    main()
