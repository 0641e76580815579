#!/usr/bin/env python3
"""Pictures of the course (docs/course):

    scripts/draw_course.py loggp COUNTS.json PICTURE.png     modelled time against ranks, from nunatak-distance -report
    scripts/draw_course.py labels PICTURE.png                the mask of lab 3 on several cuts, labelled with a mistake
    scripts/draw_course.py roofline KERNELS.json PICTURE.png cells per second of the kernels below the roof of the memory, from bench_kernels
"""

import argparse
import itertools
import json
import os
import pathlib
import sys

try:
    import matplotlib
except ImportError as error:
    python = pathlib.Path(__file__).resolve().parents[1] / "build/deps/python/bin/python"
    if python.exists() and pathlib.Path(sys.prefix) != python.parents[1]:
        os.execv(python, [str(python), *sys.argv])
    sys.exit(f"draw_course.py: {error}: python3 -m venv env && env/bin/pip install matplotlib, then env/bin/python scripts/draw_course.py ...")

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

MASK = ["1000001", "1011101", "1110111"]
CUTS = [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (1, 3), (7, 3)]
# Okabe and Ito: told apart by colour-blind people
SAFE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
COLOURS = ["#4477aa", "#ee6677", "#ccbb44"]


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"draw_course.py: {path}: expected JSON, found: {error}")


def draw_loggp(counts, picture):
    runs = read(counts)["runs"]
    figure, axes = plt.subplots(figsize=(6, 4))
    for marker, colour, solver in zip("osD^v", SAFE, dict.fromkeys(run["solver"] for run in runs)):
        mine = [run for run in runs if run["solver"] == solver]
        axes.loglog([run["ranks"] for run in mine], [1e6 * run["loggp_s"] for run in mine], marker=marker, color=colour, label=solver)
    axes.loglog([run["ranks"] for run in mine], [1e6 * mine[0]["loggp_work_s"] * mine[0]["ranks"] / run["ranks"] for run in mine], "k:",
                label=f"work of {mine[0]['solver']}, shared ideally")
    axes.set_xticks([run["ranks"] for run in mine], [str(run["ranks"]) for run in mine])
    axes.minorticks_off()
    axes.set(xlabel="ranks (virtual)", ylabel="modelled time, µs", title=f"{runs[0]['mask']}, {runs[0]['Mx']} x {runs[0]['My']} cells")
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
        count = len(set(found.values()))
        axes.set_title(f"{cut[0]} x {cut[1]}: {count} component{'s' * (count > 1)}", fontsize=10)
    all_axes.flat[-1].text(0, 0.5, "black: boundaries of the patches\ncolour: the component\nrow 0 at the top", va="center", transform=all_axes.flat[-1].transAxes)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    print([len(set(components(*cut).values())) for cut in CUTS])


def draw_roofline(measured, picture):
    """A kernel that moves b bytes per cell can do at most bandwidth / b cells per second: the work is a cell, not an operation."""
    report = read(measured)
    bandwidth = report["triad"]["GB_per_s_max"]
    cells = report["grid"]["Mx"] * report["grid"]["My"]
    figure, axes = plt.subplots(figsize=(7.5, 5))
    for n, (name, kernel) in enumerate(sorted(report["kernels"].items(), key=lambda item: -item[1]["bytes_per_cell"])):
        x, y = 1 / kernel["bytes_per_cell"], cells / (1e3 * kernel["min_ms"])
        axes.loglog(x, y, linestyle="none", marker="osD^vP"[n % 6], color=SAFE[n // 6], markersize=7, markeredgecolor="black",
                    markeredgewidth=0.5, label=f"{n + 1} {name}: {100 * y / (1e3 * bandwidth * x):.0f} %")
        left = n % 2  # kernels of one width lie above each other, and come one after the other
        axes.annotate(str(n + 1), (x, y), textcoords="offset points", xytext=(-5, 5) if left else (5, -5), ha="right" if left else "left", va="center",
                      fontsize=8, bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})
    ends = [1 / 1500, 1 / 6]
    axes.loglog(ends, [1e3 * bandwidth * x for x in ends], "k-", label=f"roof: triad, {bandwidth:.1f} GB/s")
    for share in (0.5, 0.1):
        axes.loglog(ends, [share * 1e3 * bandwidth * x for x in ends], "k:", linewidth=0.8)
        axes.text(1.05 * ends[1], share * 1e3 * bandwidth * ends[1], f"{100 * share:.0f} %", fontsize=8, va="center")
    axes.set_xlim(right=1.5 * ends[1])
    axes.set(xlabel="cells per byte that must move (1 / counted bytes per cell)", ylabel="million cells per second, fastest repetition",
             title=f"{report['grid']['Mx']} x {report['grid']['My']} x {report['grid']['Mz']} points, {report['ranks']['size']} rank(s), "
                   f"{report['ranks']['execution_space']}; shares of the roof")
    axes.title.set_fontsize(10)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
    figure.savefig(picture, dpi=110, bbox_inches="tight")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pictures = parser.add_subparsers(dest="which", required=True, metavar="loggp|labels|roofline")
    for name, draw, source in (("loggp", draw_loggp, "COUNTS.json"), ("labels", draw_labels, None), ("roofline", draw_roofline, "KERNELS.json")):
        one = pictures.add_parser(name)
        files = [source, "PICTURE.png"] if source else ["PICTURE.png"]
        for file in files:
            one.add_argument(file)
        one.set_defaults(draw=draw, files=files)
    arguments = vars(parser.parse_args())
    arguments["draw"](*[arguments[file] for file in arguments["files"]])


if __name__ == "__main__":
    main()
