#!/usr/bin/env python3
"""Run nunatak at several rank counts and tell how its parts scale.

    perf/scaling.py --ranks 1 2 --repeat 3 -- -init marine -grid_dx 32km -run_steps 2

What follows -- is given to nunatak. Runs are interleaved (1 2 1 2 ...), so that a slow hour of the machine meets every rank
count alike; one more run comes first and is dropped. The time of a part is that of its slowest rank, the median of the
repetitions. The numbers of steps and of ice shelf cells must be the same in all runs.

Runs with more ranks than cores are not for times: they share cores, and only show that the program runs. They are marked.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile

import launcher

TOTAL = "total"
# Okabe & Ito (2008): colours that differ for all common kinds of colour vision
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442"]
MARKERS = "os^Dv<>"


def fail(message):
    sys.exit(f"scaling.py: {message}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2], help="rank counts (default 1 2)")
    parser.add_argument("--repeat", type=int, default=3, help="runs per rank count that are kept (default 3)")
    parser.add_argument("--program", default="build/release/miniapp/nunatak", help="the program (default %(default)s)")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="words before the rank count (default '%(default)s')")
    parser.add_argument("--json", metavar="FILE", help="write times and speed-ups there")
    parser.add_argument("--plot", metavar="FILE", help="draw time against ranks there (.png, .pdf)")
    parser.add_argument("--least-share", type=float, default=0.01, help="draw parts of at least this share (default 0.01)")
    parser.add_argument("options", nargs="*", help="options of nunatak, after --")
    arguments = parser.parse_args()
    if min(arguments.ranks) < 1 or len(set(arguments.ranks)) < len(arguments.ranks):
        fail(f"--ranks: expected different numbers of 1 or more, found {arguments.ranks}")
    if arguments.repeat < 1:
        fail(f"--repeat: expected 1 or more, found {arguments.repeat}")
    if "-report" in arguments.options:
        fail("-report: expected no -report among the options of nunatak, this script needs its own")
    if not os.access(arguments.program, os.X_OK) or os.path.isdir(arguments.program):
        fail(f"--program: '{arguments.program}' cannot be executed")
    arguments.ranks.sort()
    return arguments


def run(arguments, ranks, folder):
    """One run: its report."""
    path = os.path.join(folder, "report.json")
    command = shlex.split(arguments.mpiexec) + [str(ranks), arguments.program, *arguments.options, "-verbose", "false"]
    try:
        done = subprocess.run(command + ["-report", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except OSError as error:
        fail(f"--mpiexec: cannot run '{command[0]}': {error.strerror}")
    if done.returncode != 0:
        fail(f"run on {ranks} ranks failed with status {done.returncode}: {shlex.join(command)}\n{done.stdout.strip()}")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def same_work(report):
    """What must not depend on the number of ranks."""
    return {"grid": report["grid"], "steps": report["steps"], "shelf_cells": report["ocean"].get("shelf_cells")}


def measure(arguments):
    """reports[ranks]: the kept runs."""
    reports = {ranks: [] for ranks in arguments.ranks}
    with tempfile.TemporaryDirectory() as folder:
        work = same_work(run(arguments, arguments.ranks[-1], folder))  # warm-up
        for n in range(arguments.repeat):
            for ranks in arguments.ranks:
                report = run(arguments, ranks, folder)
                if same_work(report) != work:
                    fail(f"runs differ: expected {work}, found {same_work(report)} on {ranks} ranks")
                reports[ranks].append(report)
                print(f"run {n + 1} of {arguments.repeat}, {ranks} rank(s): {report['wall_seconds']:.3f} s", file=sys.stderr)
    return reports


def summarise(arguments, reports):
    """One entry per part: for each rank count median, min and max of the repetitions, and the speed-up of the medians."""
    parts = {}
    base = arguments.ranks[0]
    for name in [*reports[base][0]["timers"], TOTAL]:
        seconds = {}
        for ranks in arguments.ranks:
            values = [r["wall_seconds"] if name == TOTAL else r["timers"][name]["max"] for r in reports[ranks]]
            seconds[ranks] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
        for ranks in arguments.ranks:
            median = seconds[ranks]["median"]
            seconds[ranks]["speed_up"] = seconds[base]["median"] / median if median > 0.0 else None
        parts[name] = seconds
    cores = len(os.sched_getaffinity(0))
    first = reports[base][0]
    return {
        "options": arguments.options,
        "grid": first["grid"],
        "steps": first["steps"],
        "versions": first["versions"],
        "started": first["started"],
        "repetitions": arguments.repeat,
        "cores": cores,
        "ranks": arguments.ranks,
        "more_ranks_than_cores": [ranks for ranks in arguments.ranks if ranks > cores],
        "ssa_linear_iterations": {ranks: reports[ranks][0]["ssa"].get("linear_iterations") for ranks in arguments.ranks},
        "seconds": parts,
    }


def print_table(result):
    ranks = result["ranks"]
    head = [f"{r}{' (*)' if r in result['more_ranks_than_cores'] else ''}" for r in ranks]
    print(f"{'seconds (median), ranks:':34s}" + "".join(f"{h:>11s}" for h in head) + "   speed-up" + f" over {ranks[0]}")
    for name, seconds in result["seconds"].items():
        times = "".join(f"{seconds[r]['median']:11.4f}" for r in ranks)
        speed_ups = [seconds[r]["speed_up"] for r in ranks[1:]]
        print(f"{name:34s}{times}   " + "  ".join("-" if s is None else f"{s:.2f}" for s in speed_ups))
    if result["more_ranks_than_cores"]:
        print(f"(*) more ranks than the {result['cores']} cores: not for times")


def plot(result, path, least_share):
    import matplotlib  # only if a plot is wanted

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    ranks, seconds = result["ranks"], result["seconds"]
    base = ranks[0]
    total = seconds[TOTAL][base]["median"]
    shown = [name for name in seconds if name not in (TOTAL, "init: read or generate")]
    shown = [name for name in shown if seconds[name][base]["median"] >= least_share * total]
    shown.sort(key=lambda name: -seconds[name][base]["median"])
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    for n, name in enumerate([TOTAL, *shown[: len(COLOURS)]]):
        values = [seconds[name][r] for r in ranks]
        medians = [v["median"] for v in values]
        spread = [[v["median"] - v["min"] for v in values], [v["max"] - v["median"] for v in values]]
        colour, marker = ("black", "*") if n == 0 else (COLOURS[n - 1], MARKERS[n - 1])
        axes.errorbar(ranks, medians, yerr=spread, color=colour, marker=marker, capsize=3, lw=1.5, label=name)
        axes.plot(ranks, [medians[0] * base / r for r in ranks], color=colour, ls=":", lw=1, zorder=0)
    axes.plot([], [], color="0.3", ls=":", lw=1, label="ideal, of each part")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ranks, [f"{r}*" if r in result["more_ranks_than_cores"] else str(r) for r in ranks])
    axes.minorticks_off()
    note = "\n* more ranks than cores: not for times" if result["more_ranks_than_cores"] else ""
    axes.set_xlabel("MPI ranks" + note)
    axes.set_ylabel("time of the slowest rank (s)")
    grid = result["grid"]
    axes.set_title(
        f"nunatak, {grid['Mx']} x {grid['My']} x {grid['Mz']} points, {result['steps']} step(s); "
        f"median, min and max of {result['repetitions']} runs",
        fontsize=10,
    )
    axes.grid(True, which="major", color="0.9")
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[1:] + handles[:1], labels[1:] + labels[:1], loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    figure.savefig(path, dpi=160)


def main():
    arguments = read_arguments()
    cores = len(os.sched_getaffinity(0))
    if arguments.ranks[-1] > cores:
        print(f"scaling.py: more ranks ({arguments.ranks[-1]}) than cores ({cores}): not for times", file=sys.stderr)
    result = summarise(arguments, measure(arguments))
    print_table(result)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")
    if arguments.plot:
        plot(result, arguments.plot, arguments.least_share)


if __name__ == "__main__":
    main()
