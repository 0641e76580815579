#!/usr/bin/env python3
"""Pictures of the course (docs/course):

    scripts/draw_course.py loggp COUNTS.json PICTURE.png
        modelled time against ranks, from nunatak-distance -report
    scripts/draw_course.py labels PICTURE.png
        the mask of lab 3 on several cuts, labelled with a mistake
    scripts/draw_course.py roofline SPEED.json PICTURE.png
        operations per second against operations per byte, from `check_speed roofline` of lab 12
    scripts/draw_course.py late PICTURE.png REPORT.json...
        bytes that late definitions move, from nunatak-io -report with some numbers of -variables
    scripts/draw_course.py scaling FOLDER PICTURE.png [SIGMA KAPPA]...
        speed-up of two parts in the synthetic reports of lab 9, and laws
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import sys

from course.project_python import require

require("matplotlib", "python3 -m venv ../env && ../env/bin/pip install matplotlib, then "
        "../env/bin/python scripts/draw_course.py ...")
import matplotlib  # noqa: E402

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
        axes.loglog([run["ranks"] for run in mine], [1e6 * run["loggp_s"] for run in mine],
                    marker=marker, color=colour, label=solver)
    axes.loglog([run["ranks"] for run in mine],
                [1e6 * mine[0]["loggp_work_s"] * mine[0]["ranks"] / run["ranks"] for run in mine],
                "k:", label=f"work of {mine[0]['solver']}, shared ideally")
    axes.set_xticks([run["ranks"] for run in mine], [str(run["ranks"]) for run in mine])
    axes.minorticks_off()
    axes.set(xlabel="ranks (virtual)", ylabel="modelled time, µs",
             title=f"{runs[0]['mask']}, {runs[0]['Mx']} x {runs[0]['My']} cells")
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
    """{cell: number of its component}, if a run joins only the first run below it within a
    patch."""
    xs, ys, up = first_of(7, px), first_of(3, py), {}

    def root(cell):
        while up[cell] != cell:
            cell = up[cell]
        return cell

    def join(a, b):
        up[max(root(a), root(b))] = min(root(a), root(b))

    cells = {(j, i) for j in range(3) for i in range(7) if MASK[j][i] == "1"}
    up.update((cell, cell) for cell in cells)
    patch = {(j, i): (sum(j >= y for y in ys), sum(i >= x for x in xs)) for j in range(3)
             for i in range(7)}
    run = {}  # cell: first cell of its run in its patch
    for j, i in sorted(cells):
        left = (j, i - 1)
        run[j, i] = run[left] if left in cells and patch[left] == patch[j, i] else (j, i)
        join((j, i), run[j, i])
    joined = set()
    for j, i in sorted(cells):
        below, left = (j - 1, i), (j, i - 1)
        # the mistake: the first of a run only
        if below in cells and (patch[below] != patch[j, i] or run[j, i] not in joined):
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
            axes.add_patch(plt.Rectangle((i, -j), 1, -1, facecolor=COLOURS[found[j, i]] if (
                j, i) in found else "white", edgecolor="#bbbbbb", lw=0.6))
        for x in first_of(7, cut[0]):
            axes.plot([x, x], [0, -3], "k", lw=1.6)
        for y in first_of(3, cut[1]):
            axes.plot([0, 7], [-y, -y], "k", lw=1.6)
        axes.set(xlim=(-0.1, 7.1), ylim=(-3.1, 0.1), aspect="equal")
        count = len(set(found.values()))
        axes.set_title(f"{cut[0]} x {cut[1]}: {count} component{'s' * (count > 1)}", fontsize=10)
    all_axes.flat[-1].text(0, 0.5, "black: boundaries of the patches\ncolour: the component\nrow 0 "
                           "at the top", va="center", transform=all_axes.flat[-1].transAxes)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    print([len(set(components(*cut).values())) for cut in CUTS])


BYTES, OPERATIONS = 24, 34  # of a cell in fast_fluxes: H, q_x, q_y; + - * counted in its lines


def draw_roofline(measured, picture):
    report = read(measured)
    bandwidth, peak = report["GB_per_s"], report["Gflop_per_s"]
    figure, axes = plt.subplots(figsize=(6, 4))
    intensity = OPERATIONS / BYTES
    ends = [min(0.05, intensity / 4), max(16 * intensity, 4 * peak / bandwidth)]
    axes.loglog([ends[0], peak / bandwidth, ends[1]], [ends[0] * bandwidth, peak, peak], "k-")
    axes.text(ends[0], 1.1 * peak, f"roofs: triad, {bandwidth:.1f} GB/s; multiply and add, "
              f"{peak:.1f} Gflop/s", fontsize=8)
    for marker, colour, (name, kernel) in zip("os", SAFE, report["kernels"].items()):
        reached = OPERATIONS / kernel["ns_per_cell"]
        bound = min(peak, intensity * bandwidth)
        axes.loglog(intensity, reached, marker, color=colour, label=f"{name}: {reached:.2g} "
                    f"Gflop/s, {100 * reached / bound:.0f} % of the roof")
    slowest = OPERATIONS / max(kernel["ns_per_cell"] for kernel in report["kernels"].values())
    axes.set(xlabel="operations per byte that must move", ylim=(slowest / 8, 2 * peak),
             ylabel="Gflop/s, fastest repetition",
             title="Roofline of one core: the fluxes of lab 12")
    axes.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def draw_late(picture, *reports):
    """For each method its bytes moved over payload, as bars next to each other, in groups by the
    number of variables."""
    found = {}
    for path in reports:
        report = read(path)
        for method in report["methods"]:
            library = {"serial": "NetCDF-C", "pnetcdf": "PnetCDF"}[method["options"]["format"]]
            room = method["options"]["header"]
            room = "no room" if room == "0B" else f"{room} of room"
            name = f"{library}, {room} in the header"
            variables = report["workload"]["text"].rsplit("; ", 1)[1].split()[0]
            found.setdefault(name, {})[variables] = method["moved_bytes"] / method["payload_bytes"]
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for n, (name, moved) in enumerate(found.items()):
        bars = axes.bar([k + 0.2 * (n - 1.5) for k in range(len(moved))], list(moved.values()),
                        0.18, color=SAFE[n], label=name)
        axes.bar_label(bars, [f"{value:.2g}" for value in moved.values()], fontsize=7)
    axes.set_xticks(range(len(moved)), list(moved))
    axes.set(xlabel="variables in the file, each defined after the values of the one before",
             ylabel="bytes moved / payload")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8)
    figure.savefig(picture, dpi=110)


def draw_scaling(folder, picture, *laws):
    """Speed-up in the strong runs, and n/(1 + sigma (n - 1) + kappa n (n - 1)) for each two numbers
    of `laws`."""
    folder = pathlib.Path(folder)
    try:
        runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    except OSError as error:
        sys.exit(f"draw_course.py: {folder}: expected the folder of a study with runs.jsonl, "
                 f"found: {error}")
    figure, axes = plt.subplots(figsize=(6, 4))
    for marker, colour, part in zip("os", SAFE, ("mass transport", "stress balance: SSA")):
        times = {}
        for run in runs:
            if run["mode"] == "strong":
                times.setdefault(run["ranks"],
                                 []).append(read(folder / run["report"])["timers"][part]["max"])
        t = {ranks: statistics.median(times[ranks]) for ranks in sorted(times)}
        axes.loglog(list(t), [t[1] / seconds for seconds in t.values()], marker, color=colour,
                    label=part)
    ticks = [2**k for k in range(9)]
    more = [2 ** (k / 16) for k in range(8 * 16 + 1)]
    for colour, sigma, kappa in zip(SAFE, laws[::2], laws[1::2]):
        axes.loglog(more, [n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in more], "-",
                    color=colour, lw=1, label=f"sigma {sigma:g}, kappa {kappa:g}")
    axes.loglog(more, more, "k:", label="ideal")
    axes.set_xticks(ticks, ticks)
    axes.set_yticks(ticks[:7], ticks[:7])
    axes.minorticks_off()
    axes.set(xlabel="ranks", ylabel="speed-up T(1)/T(n)", ylim=(0.8, 100),
             title="Strong scaling of the synthetic reports")
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    pictures = parser.add_subparsers(dest="which", required=True,
                                     metavar="loggp|labels|roofline|late|scaling")
    for name, draw, source in (("loggp", draw_loggp, "COUNTS.json"), ("labels", draw_labels, None),
                               ("roofline", draw_roofline, "SPEED.json"),
                               ("late", draw_late, None), ("scaling", draw_scaling, "FOLDER")):
        one = pictures.add_parser(name)
        files = [source, "PICTURE.png"] if source else ["PICTURE.png"]
        for file in files:
            one.add_argument(file)
        if name == "scaling":
            one.add_argument("more", nargs="*", type=float, metavar="SIGMA KAPPA",
                             help="of a curve that is drawn")
        if name == "late":
            one.add_argument("more", nargs="+", metavar="REPORT.json")
        one.set_defaults(draw=draw, files=files)
    arguments = vars(parser.parse_args())
    arguments["draw"](*[arguments[file] for file in arguments["files"]], *arguments.get("more", []))


if __name__ == "__main__":
    main()
