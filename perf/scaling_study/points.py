"""From a study to its points (one per mode, number of nodes and combination of what varies) and their command lines."""
import itertools
import math
import re

from .study_file import StudyError

GRID_STEP = 4  # grids of weak scaling have 4 k + 1 points: a multigrid on the grid's own points halves its spacing twice


def weak_points(cells):
    """Points along one side of the square grid of about `cells` cells. The continent of -init marine has one extent, whatever they are."""
    return max(1, round((math.sqrt(cells) - 1) / GRID_STEP)) * GRID_STEP + 1


def combinations(study):
    """Every combination of what varies, as {name: label}."""
    names = list(study["vary"])
    return [dict(zip(names, labels)) for labels in itertools.product(*(study["vary"][name] for name in names))]


def point(study, mode, count_of, count, vary):
    series = study[mode]
    options = {**study["options"], **series["options"]}
    size = {"ranks_per_node": study["ranks_per_node"], "threads": study["threads"]}
    for name, label in vary.items():
        value = study["vary"][name][label]
        if name in size:
            size[name] = int(value)
        else:
            options.update(value if isinstance(value, dict) else {name: value})
    ranks = count * size["ranks_per_node"] if count_of == "nodes" else count
    cells = None
    if mode == "weak":
        side = weak_points(series["cells_per_rank"] * ranks)
        options.update(grid_Mx=str(side), grid_My=str(side))
        cells = side * side
    label = ",".join(f"{name}={value}" for name, value in vary.items())
    name = re.sub(r"[^A-Za-z0-9=,._+-]", "_", "-".join([mode, str(count), *([label] if label else [])]))
    return {"point": name, "mode": mode, "vary": vary, "nodes": math.ceil(ranks / size["ranks_per_node"]), "ranks": ranks,
            "ranks_per_node": min(ranks, size["ranks_per_node"]), "threads": size["threads"], "cells": cells, "options": options}


def points_of(study):
    found = []
    for mode in ("strong", "weak"):
        if mode in study:
            count_of = "nodes" if "nodes" in study[mode] else "ranks"
            found += [point(study, mode, count_of, count, vary) for count in study[mode][count_of] for vary in combinations(study)]
    names = [one["point"] for one in found]
    for name in names:
        if names.count(name) > 1:
            raise StudyError(f"two points of the study are called '{name}': expected values of 'vary' that differ in letters and digits")
    return found


def runs_of(study):
    """All runs in their order: repetition 0 of all points, then repetition 1, so that a slow hour meets every point alike."""
    points = points_of(study)
    return [{**one, "repetition": n} for n in range(study["repetitions"]) for one in points]
