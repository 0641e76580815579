#!/usr/bin/env python3
"""Draws the two pictures of docs/glossary.md: an ice sheet cut along a flow line, and a grid cut into patches.

    scripts/draw_glossary.py docs/img        writes glossary_ice.png and glossary_grid.png
"""
import argparse
import pathlib

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

ICE, SEA, ROCK = "#dcebf7", "#8fbbd9", "#b9a58c"


def draw_ice(path):
    x = np.linspace(0, 100, 1001)
    bed = -0.25 - 0.012 * x + 0.12 * np.sin(x / 6) - 0.4 / (1 + np.exp((70 - x) / 4))
    line, front = 55.0, 82.0
    upper = np.where(x < line, 0.15 + 1.9 * np.sqrt(np.maximum(1 - x / line, 0)), 0.15 - 0.06 * (x - line) / (front - line))
    draft = 0.885 / 0.115 * upper  # a floating shelf: nearly nine tenths lie below the sea
    lower = np.where(x < line, bed, np.maximum(bed, -0.75 * draft * np.interp(x, [line, front], [1, 0.75])))
    i = np.searchsorted(x, line)
    lower = np.where((x >= line) & (x < line + 4), np.minimum(np.interp(x, [line, line + 4], [bed[i], lower[i + 40]]), 0), lower)
    icy = x <= front

    fig, ax = plt.subplots(figsize=(10.5, 4.6), layout="constrained")
    ax.fill_between(x, np.maximum(bed, -3), 0, where=x >= line, color=SEA, lw=0)
    ax.fill_between(x[icy], lower[icy], upper[icy], color=ICE, ec="#33566f", lw=1.2)
    ax.fill_between(x, -3, bed, color=ROCK, lw=0)
    ax.plot([front, 100], [0, 0], color="#33566f", lw=1)
    boxes = np.linspace(line, front, 4)
    for n in range(3):
        if n:
            k = np.searchsorted(x, boxes[n])
            ax.plot([boxes[n]] * 2, [bed[k], lower[k]], color="white", lw=1.4, ls="--")
        middle = (boxes[n] + boxes[n + 1]) / 2
        k = np.searchsorted(x, middle)
        ax.text(middle + (1.5 if n == 0 else 0), (lower[k] + bed[k]) / 2 - 0.02, f"box {n + 1}", ha="center",
                va="center", color="#0b2b40", fontsize=9)
    def note(text, at, to):
        ax.annotate(text, at, to, ha="center", fontsize=10, arrowprops=dict(arrowstyle="-", lw=0.8))
    k = np.searchsorted(x, line)
    note("grounding line", (line, bed[k]), (45, -1.75))
    note("calving front", (front, 0.0), (85, 0.75))
    note("ice shelf: floats", (68, 0.02), (66, 0.95))
    note("continental shelf", (88, bed[880]), (90, -2.55))
    ax.text(13, 0.45, "grounded ice: rests on the bed", ha="center", fontsize=10)
    ax.text(92, -0.55, "open ocean", ha="center", fontsize=10, color="#0b2b40")
    ax.text(15, -1.6, "bed (topg)", ha="center", fontsize=10)
    ax.annotate("", (28, 1.6), (28, bed[280]), arrowprops=dict(arrowstyle="<->", lw=1))
    ax.text(28.8, 0.9, "thickness (thk)", fontsize=9)
    ax.annotate("", (40, 1.18), (27, 1.62), arrowprops=dict(arrowstyle="->", color="#33566f", lw=1.5))
    ax.text(35, 1.55, "flow", fontsize=9, color="#33566f")
    for a, b in (((85, -0.95), (78, -1.25)), ((75, -1.22), (63, -1.05)), ((64, -0.92), (81, -0.6))):
        ax.annotate("", b, a, arrowprops=dict(arrowstyle="->", color="#0b2b40", lw=1.2, connectionstyle="arc3,rad=-0.06"))
    ax.text(99, 0.06, "sea level", ha="right", fontsize=9)
    ax.set(xlim=(0, 100), ylim=(-2.8, 2.3), title="An ice sheet along a flow line (heights not to scale)")
    ax.axis("off")
    fig.savefig(path, dpi=110)


def draw_grid(path):
    fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.7), layout="constrained")
    # left: 12 x 8 cells on 2 x 2 ranks; rank 0 is at the bottom, as in kernels/grid/patch.hpp
    colors = ["#f3dcc0", "#d5e8d0", "#d6ddf0", "#efd3dc"]
    for j in range(8):
        for i in range(12):
            left.add_patch(plt.Rectangle((i, j), 1, 1, fc=colors[(j >= 4) * 2 + (i >= 6)], ec="white", lw=1))
    component = {(2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (7, 3), (7, 4), (8, 4), (8, 5)}
    for i, j in component:
        left.add_patch(plt.Rectangle((i + 0.12, j + 0.12), 0.76, 0.76, fc="#33566f"))
    left.plot([6, 6], [0, 8], color="black", lw=2.5)
    left.plot([0, 12], [4, 4], color="black", lw=2.5)
    for rank, at in enumerate([(0.2, 0.2), (10.3, 0.2), (0.2, 7.3), (10.3, 7.3)]):
        left.text(*at, f"rank {rank}", fontsize=9)
    left.annotate("seam", (6, 7), (3.2, 6), arrowprops=dict(arrowstyle="-"))
    left.annotate("seam", (2, 4), (3.2, 6), alpha=0, arrowprops=dict(arrowstyle="-"))
    left.set_title("A component of one mask (dark): three fragments,\nin the patches of ranks 0, 1 and 3; seams are black")
    left.set(xlim=(-0.3, 12.3), ylim=(-0.3, 8.3), aspect="equal")
    # right: one patch with its ghosts
    for j in range(-1, 5):
        for i in range(-1, 7):
            owned = 0 <= i < 6 and 0 <= j < 4
            source = colors[0] if owned else colors[1] if i == 6 and j < 4 and j >= 0 else colors[2] if j == 4 and 0 <= i < 6 \
                else colors[3] if i == 6 and j == 4 else "#eeeeee"
            right.add_patch(plt.Rectangle((i, j), 1, 1, fc=source, ec="white", lw=1, alpha=1 if owned else 0.75,
                                          hatch=None if owned else "//"))
    right.plot([6, 6], [-1, 5], color="black", lw=2.5)
    right.plot([-1, 7], [4, 4], color="black", lw=2.5)
    right.plot([0, 0, 7], [5, 0, 0], color="#888888", lw=1.2, ls=":")
    right.text(3, 2, "owned cells of rank 0\nview indices j = 1..ym, i = 1..xm", ha="center", va="center", fontsize=10)
    right.text(7.15, 2, "ghosts: copies of\ncells of rank 1", va="center", fontsize=9)
    right.text(3, 5.2, "ghosts: copies of cells of rank 2", ha="center", fontsize=9)
    right.text(7.15, 4.5, "of rank 3", va="center", fontsize=9)
    right.text(3, -1.5, "ghosts beyond the edge of the grid: the nearest owned cell", ha="center", fontsize=9)
    right.set_title("The patch of rank 0 with its ghosts (hatched)")
    right.set(xlim=(-1.3, 10.2), ylim=(-1.8, 5.8), aspect="equal")
    for ax in (left, right):
        ax.axis("off")
    fig.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default="docs/img", help="where to (default %(default)s)")
    folder = parser.parse_args().folder
    draw_ice(folder / "glossary_ice.png")
    draw_grid(folder / "glossary_grid.png")
