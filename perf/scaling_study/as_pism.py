"""Runs with -like pism send what PISM sends, but their loops over cells are nunatak's. What they
would take with PISM's: the time of each part, multiplied by the ratio of row `pism_like`, so that
computation, communication and output can be weighed as in PISM."""
from . import page, parts, rows
from .texts import number

ROW = "pism_like"
# part: its name in the figures of the row, and an option that -like has set, without which the part
# is none of PISM's
LIKE = {"stress balance: till, hardness": ("SSA", "ssa_solver"),
        "stress balance: SSA": ("SSA", "ssa_solver"), "stress balance: SIA": ("SIA", "halo"),
        "stress balance: 3-D velocity": ("SIA", "halo"), "energy": ("energy", "halo"),
        "mass transport": ("transport", "halo"), "ocean": ("PICO", "pico_batch")}


def ratios():
    """PISM's time over that of `-like pism2026` by part, mean of one and two ranks; empty if the
    row was not measured."""
    there = rows.measured()["rows"].get(ROW)
    return {name: sum(there["values"][f"{name}_{n}"][0] for n in (1, 2)) / 2
            for name, _ in LIKE.values()} if there else {}


def table(studies, points, unit):
    """A row for each part of computing of each curve that is like PISM, where most cores are; by
    processor time where cores are shared."""
    like = {(study.name, run["curve"]): run["report"]["set_by_like"] for study in studies
            for run in study.runs if run["report"].get("set_by_like")}
    of_part, shown = ratios(), []
    for curve in page.curves(points):
        options = like.get(tuple(curve[1:]), {})
        of_curve = page.select(points, curve)
        at = of_curve[(of_curve.cores == of_curve.cores.max()) & (of_curve.kind == "compute") &
                      (of_curve.fraction >= parts.SMALL)]
        if not of_part or not any(option in options for _, option in LIKE.values()) or not len(at):
            continue
        here = there = 0.0
        for row in at.itertuples():
            name, option = LIKE.get(row.part, (None, None))
            seconds, ratio = (row.median if row.comparable else row.processor,
                              of_part[name] if option in options else None)
            here, there = here + seconds, there + seconds * (ratio or 1.0)
            shown.append({"style": "", "cells": [row.part, page.cores_text(row), number(
                seconds), number(ratio) if ratio else "-", number(seconds * (ratio or 1.0))]})
        title = ", ".join(filter(None, [curve[0], page.name(points, *curve[1:])]))
        shown.append({"style": "sum", "cells": [f"{title}: all of these", page.cores_text(row),
                                                number(here), number(there / here), number(there)]})
    return {"head": ["parts of computing, at the most cores", unit, "here (s)",
                     "PISM's time over that of -like pism2026", "with PISM's loops (s)"],
            "rows": shown}
