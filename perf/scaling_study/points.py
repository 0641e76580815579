"""From a study to its points (one per mode, number of nodes and combination of what varies) and
their command lines."""
import itertools
import math
import re

from .study_file import StudyError

# grids of weak scaling have 4 k + 1 points, so that multigrid on the grid's own points halves twice
GRID_STEP = 4


def weak_points(cells):
    """Points along one side of the square grid of about `cells` cells. The continent of -init
    marine has one extent, whatever they are."""
    return max(1, round((math.sqrt(cells) - 1) / GRID_STEP)) * GRID_STEP + 1


def of_output(name, labels):
    """Does this key of `vary` change nothing but how output is written?"""
    return all(option.startswith("io_") for value in labels.values()
               for option in (value if isinstance(value, dict) else [name]))


def combinations(study):
    """Every combination of what varies, as {name: label}; with `null_output`, each of what is not
    of the output without any, too."""
    vary = dict(study["vary"])
    found = [dict(zip(vary, labels)) for labels in itertools.product(*vary.values())]
    if study["null_output"]:
        outputs = [name for name, labels in vary.items() if of_output(name, labels)]
        others = {name: labels for name, labels in vary.items() if name not in outputs}
        nulls = [{**dict(zip(others, labels)), (outputs or ["io_format"])[0]: "null"}
                 for labels in itertools.product(*others.values())]
        found += [null for null in nulls if null not in found]
    return found


def servers(options):
    """Ranks that only write."""
    match = re.fullmatch(r"async:(\d{1,9})", options.get("io_transport") or "")
    return int(match[1]) if match else 0


def smaller_than_named(study):
    """Sentences: the sizes of papers that the study does not run whole."""
    sentences, scale = [], study["options"].get("scale", "1")
    if study["program"] == "nunatak-io" and scale != "1" and "scale" not in study["vary"]:
        names = ", ".join(
            study["vary"].get("workload", [study["options"].get("workload", "pism:G5km")]))
        sentences.append(f"{names}: not the size of that name: horizontal lengths times {scale} "
                         "(-scale 1: whole)")
    if study["smaller"]:
        sentences.append(f"not the size of the paper: {study['smaller']} (--full: whole)")
    return sentences


def point(study, mode, count_of, count, vary):
    series = study[mode]
    options = {**study["options"], **series["options"]}
    size = {"ranks_per_node": study["ranks_per_node"], "threads": study["threads"]}
    for name, label in vary.items():
        value = study["vary"].get(name, {}).get(label)
        if value is None:
            continue  # the label of `null_output`
        if name in size:
            size[name] = int(value)
        else:
            options.update(value if isinstance(value, dict) else {name: value})
    # of `null_output`: no server, no layout
    if any(label not in study["vary"].get(name, ()) for name, label in vary.items()):
        options = ({name: value for name, value in options.items() if not name.startswith("io_")} |
                   {"io_format": "null"})
    ranks = count * size["ranks_per_node"] if count_of == "nodes" else count
    cells = None
    if mode == "weak":
        side = weak_points(series["cells_per_rank"] * ranks)
        options.update(grid_Mx=str(side), grid_My=str(side))
        cells = side * side
    label = ",".join(f"{name}={value}" for name, value in vary.items())
    name = re.sub(r"[^A-Za-z0-9=,._+-]", "_",
                  "-".join([mode, str(count), *([label] if label else [])]))
    return {"point": name, "mode": mode, "vary": vary,
            "nodes": math.ceil(ranks / size["ranks_per_node"]), "ranks": ranks,
            "ranks_per_node": min(ranks, size["ranks_per_node"]), "threads": size["threads"],
            "cells": cells, "options": options}


def points_of(study):
    """All points, without those whose servers of output would leave no rank to compute."""
    found = []
    for mode in ("strong", "weak"):
        if mode in study:
            count_of = "nodes" if "nodes" in study[mode] else "ranks"
            found += [point(study, mode, count_of, count, vary) for count in study[mode][count_of]
                      for vary in combinations(study)]
    found = [one for one in found if servers(one["options"]) < one["ranks"]]
    if not found:
        raise StudyError(
            "expected a point with more ranks than servers (-io_transport), found none")
    names = [one["point"] for one in found]
    for name in names:
        if names.count(name) > 1:
            raise StudyError(f"two points of the study are called '{name}': expected values of "
                             "'vary' that differ in letters and digits")
    return found


def runs_of(study):
    """All runs in their order: repetition 0 of all points, then repetition 1, so that a slow hour
    meets every point alike."""
    points = points_of(study)
    return [{**one, "repetition": n} for n in range(study["repetitions"]) for one in points]
