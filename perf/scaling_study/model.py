"""The computation of a study on virtual ranks (key `model`): nunatak-step, the work of each rank
and LogGP's network.

It is made on this machine after the runs, which tell the grid and the steps, and stands in
`virtual_ranks.json` of the results. The report continues the measured lines of computing with it.
Work is counted (visits of cells, each with the cost of its loop), and measured, in this process,
whose caches all patches share: with many patches a rank of its own lies between the two.
"""
import json
import pathlib
import subprocess
import tempfile

from . import jobs, points, texts
from .study_file import StudyError

FILE = "virtual_ranks.json"
METHOD = ["-output", "direct"]  # its record has the seconds of all steps and of the last solve


def ask(program, words, ranks):
    """[{ranks, cells, counted, measured}, ...] of one grid; seconds."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for work in ("counted", "measured"):
            report = pathlib.Path(folder) / "step.json"
            command = [program, *words, *METHOD, "-work", work, "-virtual_ranks",
                       ",".join(map(str, ranks))]
            done = subprocess.run([*command, "-report", report], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise StudyError("the key model: expected nunatak-step to run, found: "
                                 f"{texts.one_line(done.stderr)}")
            found = json.loads(report.read_text(encoding="utf-8"))
            seconds[work] = [record["compute_s"] for record in found["output"]]
    cells = found["grid"]["Mx"] * found["grid"]["My"]
    return [{"ranks": n, "cells": cells, "counted": counted, "measured": measured,
             "command": " ".join(command[1:])}
            for n, counted, measured in zip(ranks, *seconds.values())]


def make(study, program, results):
    """The points of both modes; a line for each command on the screen."""
    model, tool = study["model"], jobs.companion("nunatak-step", program)
    known = jobs.known_options(tool)
    found = {}
    for mode in ("strong", "weak"):
        if mode not in model or mode not in study:
            continue
        record = next(r for r in results.records if r["mode"] == mode)
        report = results.report_of(record)
        grid = report["grid"]
        width = grid["dx"] * (grid["Mx"] - 1)
        options = {name: value for name, value in {
            **study["options"], **study[mode]["options"]}.items() if name in known}
        options.update(grid_Mz=str(grid["Mz"]), steps=str(report["steps"]), **model["options"])
        groups = [(grid["dx"], model[mode])]
        if mode == "weak":
            sides = {ranks: points.weak_points(study["weak"]["cells_per_rank"] * ranks)
                     for ranks in model["weak"]}
            groups = [(width / (side - 1), [ranks]) for ranks, side in sides.items()]
        found[mode] = []
        for dx, ranks in groups:
            words = [word for name, value in {**options, "grid_dx": f"{dx:.10g}"}.items()
                     for word in ([f"-{name}"] if value is None else [f"-{name}", value])]
            found[mode] += ask(tool, words, ranks)
            times = [f"{p['ranks']} ranks {p['counted']:.3g} s ({p['measured']:.3g} s)"
                     for p in found[mode][-len(ranks):]]
            print(f"modelled  {mode}, {', '.join(times)}", flush=True)
    (results.folder / FILE).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def read(study):
    """What make() has written, into study.virtual; a sentence if it cannot be read."""
    path = study.folder / FILE
    try:
        found = texts.parsed(texts.text_of(path)) if path.exists() else {}
        study.virtual = {mode: sorted((p["ranks"], float(p["counted"]), float(p["measured"]))
                                      for p in found[mode]) for mode in found}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        study.complain(
            f"{FILE}: expected points of the key model, found none ({texts.one_line(error)})")
