#!/usr/bin/env python3
"""Pictures of the course (docs/course):

    scripts/draw_course.py loggp COUNTS.json PICTURE.png     modelled time against ranks, from nunatak-distance -json
    scripts/draw_course.py labels PICTURE.png                the mask of lab 3 on several cuts, labelled with a mistake
"""

import itertools
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

MASK = ["1000001", "1011101", "1110111"]
CUTS = [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (1, 3), (7, 3)]
COLOURS = ["#4477aa", "#ee6677", "#ccbb44"]


def draw_loggp(counts, picture):
    runs = json.load(open(counts))["runs"]
    figure, axes = plt.subplots(figsize=(6, 4))
    for marker, solver in zip("osD^v", dict.fromkeys(run["solver"] for run in runs)):
        mine = [run for run in runs if run["solver"] == solver]
        axes.loglog([run["ranks"] for run in mine], [1e6 * run["loggp_s"] for run in mine], marker=marker, label=solver)
    axes.loglog([run["ranks"] for run in mine], [1e6 * mine[0]["loggp_work_s"] * mine[0]["ranks"] / run["ranks"] for run in mine], "k:",
                label=f"work of {mine[0]['solver']}, shared ideally")
    axes.set(xlabel="ranks", ylabel="modelled time, µs", title=f"{runs[0]['mask']}, {runs[0]['Mx']} x {runs[0]['My']} cells")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def first_of(length, parts):
    """Where each part begins, and the end: as Decomposition cuts, the first parts one longer."""
    starts = [0]
    for n in range(parts):
        starts.append(starts[-1] + length // parts + (n < length % parts))
    return starts


def components(px, py):
    """{cell: number of its component}, if a run joins only the first run below it within a patch."""
    xs, ys, up = first_of(7, px), first_of(3, py), {}

    def root(cell):
        while up[cell] != cell:
            cell = up[cell]
        return cell

    def join(a, b):
        up[max(root(a), root(b))] = min(root(a), root(b))

    cells = {(j, i) for j in range(3) for i in range(7) if MASK[j][i] == "1"}
    up.update((cell, cell) for cell in cells)
    patch = {(j, i): (sum(j >= y for y in ys), sum(i >= x for x in xs)) for j in range(3) for i in range(7)}
    run = {}  # cell: first cell of its run in its patch
    for j, i in sorted(cells):
        left = (j, i - 1)
        run[j, i] = run[left] if left in cells and patch[left] == patch[j, i] else (j, i)
        join((j, i), run[j, i])
    joined = set()
    for j, i in sorted(cells):
        below, left = (j - 1, i), (j, i - 1)
        if below in cells and (patch[below] != patch[j, i] or run[j, i] not in joined):  # the mistake: the first of a run only
            join(below, (j, i))
            if patch[below] == patch[j, i]:
                joined.add(run[j, i])
        if left in cells and patch[left] != patch[j, i]:
            join(left, (j, i))
    numbers = {cell: n for n, cell in enumerate(sorted({root(cell) for cell in cells}))}
    return {cell: numbers[root(cell)] for cell in cells}


def draw_labels(picture):
    figure, all_axes = plt.subplots(2, 4, figsize=(9, 2.9))
    for axes, cut in itertools.zip_longest(all_axes.flat, CUTS):
        axes.axis("off")
        if cut is None:
            continue
        found = components(*cut)
        for j, i in itertools.product(range(3), range(7)):
            axes.add_patch(plt.Rectangle((i, -j), 1, -1, facecolor=COLOURS[found[j, i]] if (j, i) in found else "white", edgecolor="#bbbbbb", lw=0.6))
        for x in first_of(7, cut[0]):
            axes.plot([x, x], [0, -3], "k", lw=1.6)
        for y in first_of(3, cut[1]):
            axes.plot([0, 7], [-y, -y], "k", lw=1.6)
        axes.set(xlim=(-0.1, 7.1), ylim=(-3.1, 0.1), aspect="equal")
        axes.set_title(f"{cut[0]} x {cut[1]}: {len(set(found.values()))}", fontsize=10)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    print([len(set(components(*cut).values())) for cut in CUTS])


if __name__ == "__main__":
    {"loggp": draw_loggp, "labels": draw_labels}[sys.argv[1]](*sys.argv[2:])
