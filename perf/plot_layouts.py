#!/usr/bin/env python3
"""Who writes what, where: a map y x on six ranks in every layout, and where each writer's values lie in the file.

    build/perf/layout_map > layouts.json
    perf/plot_layouts.py layouts.json docs/img/layouts.png
"""
import argparse
import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.colors import ListedColormap  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

COLOURS = ListedColormap(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#F0E442"])  # Okabe and Ito


def writers(shape, ranks, boxes):
    """The rank that writes each cell."""
    owner = np.full(shape, -1)
    for rank, of_rank in zip(ranks, boxes):
        for j, i, rows, columns in of_rank:
            owner[j:j + rows, i:i + columns] = rank
    assert (owner >= 0).all()
    return owner


def runs(line):
    """First index, length and writer of each contiguous run of a file."""
    edges = np.flatnonzero(np.diff(line)) + 1
    starts = np.concatenate([[0], edges])
    return [(int(s), int(n), int(line[s])) for s, n in zip(starts, np.diff(np.append(starts, line.size)))]


def draw_map(axes, owner, data, boxes, title):
    axes.imshow(owner, cmap=COLOURS, vmin=0, vmax=5, origin="lower", extent=(0, data["Mx"], 0, data["My"]))
    for of_rank in boxes:
        for j, i, rows, columns in of_rank:
            axes.add_patch(Rectangle((i, j), columns, rows, fill=False, edgecolor="white", linewidth=0.8))
    for of_rank in data["native"]:
        for j, i, rows, columns in of_rank:
            axes.add_patch(Rectangle((i, j), columns, rows, fill=False, edgecolor="black", linewidth=1.0, linestyle=":"))
    for rank in np.unique(owner):
        cells = np.argwhere(owner == rank)
        middle = cells.mean(axis=0)
        if owner[tuple(np.rint(middle).astype(int))] != rank:
            middle = cells[np.argmin(((cells - middle) ** 2).sum(axis=1))]  # the cell nearest to it
        j, i = middle + 0.5
        axes.text(i, j, str(rank), ha="center", va="center", fontsize=12, weight="bold",
                  bbox={"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": "none"})
    axes.set_title(title, fontsize=11)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel("x", labelpad=1)
    axes.set_ylabel("y", labelpad=1)


def draw_file(axes, lines, whole, names):
    """One bar per file, of the length of its values."""
    for n, line in enumerate(lines):
        for start, length, writer in runs(line):
            axes.add_patch(Rectangle((start, n), length, 0.7, facecolor=COLOURS(writer), edgecolor="none"))
            if length > 0.07 * whole:
                axes.text(start + length / 2, n + 0.35, str(writer), ha="center", va="center", fontsize=9, weight="bold",
                          bbox={"boxstyle": "circle,pad=0.1", "facecolor": "white", "edgecolor": "none"})
        axes.add_patch(Rectangle((0, n), line.size, 0.7, fill=False, edgecolor="black", linewidth=0.6))
        axes.text(-0.015 * whole, n + 0.35, names[n], ha="right", va="center", fontsize=8)
    axes.set_xlim(0, whole)
    axes.set_ylim(6, 0)
    axes.axis("off")


def main(source, target):
    with open(source) as file:
        data = json.load(file)
    shape, whole = (data["My"], data["Mx"]), data["My"] * data["Mx"]
    panels = [{"name": "native", "ranks": list(range(len(data["native"]))), "boxes": data["native"], "messages": 0,
               "message_bytes": 0, "off_node_bytes": 0}] + data["layouts"]
    columns = 4
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(2 * rows, columns, figsize=(14, 3.7 * rows), height_ratios=[2.1, 1.2] * rows)
    for axes in grid.flat:
        axes.axis("off")
    for n, panel in enumerate(panels):
        top, bottom = grid[2 * (n // columns), n % columns], grid[2 * (n // columns) + 1, n % columns]
        top.axis("on")
        owner = writers(shape, panel["ranks"], panel["boxes"])
        draw_map(top, owner, data, panel["boxes"], panel["name"])
        if panel["name"].startswith("file-per"):
            lines = [np.concatenate([np.full(r * c, rank) for _, _, r, c in boxes])
                     for rank, boxes in zip(panel["ranks"], panel["boxes"])]
            names = [f".{k:04d}" for k in range(len(lines))]
        else:
            lines, names = [owner.ravel()], ["file"]
        draw_file(bottom, lines, whole, names)
        total = 8 * whole
        text = "no messages" if panel["messages"] == 0 else \
            f"{panel['messages']} messages, {100 * panel['message_bytes'] / total:.0f} % of the bytes,\n" \
            f"{100 * panel['off_node_bytes'] / total:.0f} % to the other node"
        bottom.text(whole / 2, len(lines) + 0.1, f"{text}; {sum(len(runs(line)) for line in lines)} runs in the file"
                    + ("s" if len(lines) > 1 else ""), ha="center", va="top", fontsize=9)
    if len(panels) < rows * columns:
        last = grid[-2, -1]
        last.text(0.0, 0.9, "number, colour: the rank that writes\nblack dots: the ranks' own patches\n"
                  "    3 4 5   (node 1)\n    0 1 2   (node 0)\nwhite: what a writer writes at once\n"
                  "below: the file from its first\nto its last byte, x fastest", ha="left", va="top", fontsize=10,
                  transform=last.transAxes)
    figure.subplots_adjust(left=0.03, right=0.99, top=0.96, bottom=0.0, hspace=0.14, wspace=0.2)
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layouts", metavar="LAYOUTS.json", help="what layout_map has printed")
    parser.add_argument("plot", metavar="PICTURE")
    arguments = parser.parse_args()
    main(arguments.layouts, arguments.plot)
