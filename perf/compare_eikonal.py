#!/usr/bin/env python3
"""Compare distances in metres (kernels/distance/eikonal.hpp, by nunatak-distance) with scikit-fmm, first order, on the same masks.

    pip install scikit-fmm
    perf/compare_eikonal.py --size 1001 --input result.nc --json eikonal.json

Masks: a point, a disc and a wall with a gap on an open square; a random mask of which one cell in five is outside; with --input
the ice shelves of a result of nunatak, with seeds at the grounding line. One more run on 4 x 4 virtual ranks must give the same bits.

Both solve the same discrete equations: the largest difference is rounding. nunatak-distance answers in whole numbers; they are taken
in units of the grid's longest side / 2^28 (-fmm_unit). The script stops if answers differ by more than that unit and --tolerance of
the largest distance, or if the two do not reach the same cells. Times are wall time of the solve, in turns, medians; the first solve
of each is dropped: measure on a quiet machine.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np


def fail(message):
    sys.exit(f"compare_eikonal.py: {message}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/miniapp/nunatak-distance", help="nunatak-distance (default %(default)s)")
    parser.add_argument("--size", type=int, default=1001, help="cells along a side of the generated masks (default %(default)s)")
    parser.add_argument("--input", metavar="FILE", help="a result of nunatak with pico_distance_gl")
    parser.add_argument("--repeat", type=int, default=5, help="solves of each that count (default %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-10, help="relative difference allowed (default %(default)g)")
    parser.add_argument("--json", metavar="FILE", help="write the table")
    return parser.parse_args()


def masks(size, file):
    """Name, start (1 seed, 0 domain, -1 outside), dx, dy."""
    j, i = np.mgrid[0:size, 0:size]
    middle = size // 2
    point = np.where((j == middle) & (i == middle), 1, 0)
    yield "point", point, 1.0, 1.0
    yield "point, dx = 3 dy", point, 3.0, 1.0
    yield "disc", np.where(np.hypot(j - middle, i - middle) <= size / 5, 1, 0), 1.0, 1.0
    wall = np.where((i == middle) & (np.abs(j - size // 3) > 1), -1, 0)
    wall[0, 0] = 1
    yield "wall with a gap", wall, 1.0, 1.0
    random = np.where(np.random.default_rng(1).random((size, size)) < 0.2, -1, 0)
    random[middle, middle] = 1
    yield "random", random, 1.0, 1.0
    if file:
        with netCDF4.Dataset(file) as data:
            distance = data["pico_distance_gl"][0].filled()
            dx, dy = (float(abs(data[name][1] - data[name][0])) for name in ("x", "y"))
        yield "ice shelves", np.sign(np.where(distance > 1, 0, distance)).astype(int), dx, dy


def ours(program, folder, start, dx, dy, *options):
    """Distances in m (NaN where there is none) and the runs that the program reports. One unit is the error of their rounding."""
    with open(folder / "start.pgm", "wb") as file:
        file.write(b"P5 %d %d 255\n" % start.shape[::-1] + start.astype(np.uint8).tobytes())  # outside: 255
    command = [program, "-i", folder / "start.pgm", "-seeds", "given", "-solvers", "fmm", "-grid_dx", f"{dx:.17g}", "-grid_dy", f"{dy:.17g}",
               "-fmm_unit", f"{unit_of(start, dx, dy):.17g}", "-report", folder / "r.json", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        fail(done.stderr.strip())
    runs = json.loads((folder / "r.json").read_text())["runs"]
    if "-o" not in options:
        return None, runs
    with netCDF4.Dataset(folder / "d.nc") as data:
        units = data["distance"][:].filled().astype(float)
    return np.where(units > 0, (units - 1) * unit_of(start, dx, dy), np.nan), runs


def unit_of(start, dx, dy):
    return max(start.shape[1] * dx, start.shape[0] * dy) / 2**28  # paths of eight sides fit into 32 bits


def theirs(skfmm, start, dx, dy):
    """The same by scikit-fmm: cells where its field is 0 are the front, and are kept."""
    field = np.ma.MaskedArray(np.where(start == 1, 0.0, 1.0), mask=start < 0)
    begin = time.perf_counter()
    distance = skfmm.distance(field, dx=[dy, dx], order=1)
    seconds = time.perf_counter() - begin
    return np.ma.filled(np.ma.asarray(distance, dtype=float), np.nan), seconds


def main():
    args = read_arguments()
    try:
        import skfmm
    except ImportError:
        fail("expected the Python package scikit-fmm (pip install scikit-fmm), found none")
    table = []
    print(f"{'':18}{'domain':>10}{'visits':>8}{'nunatak':>10}{'skfmm':>10}{'ratio':>7}{'difference':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, start, dx, dy in masks(args.size, args.input):
            a, runs = ours(args.program, folder, start, dx, dy, "-virtual_ranks", "1,4x4", "-compare", "-o", folder / "d.nc")
            b, _ = theirs(skfmm, start, dx, dy)
            if (np.isnan(a) != np.isnan(b)).any():
                fail(f"{what}: expected both to reach the same cells, found {(np.isnan(a) != np.isnan(b)).sum()} others")
            difference, largest = np.nanmax(np.abs(a - b)), np.nanmax(a)
            if not difference <= args.tolerance * largest + unit_of(start, dx, dy):
                fail(f"{what}: expected differences below {args.tolerance:g} of {largest:g} m, found {difference:g} m")
            times = [(ours(args.program, folder, start, dx, dy, "-repeat", "2")[1][0]["wall_min_s"], theirs(skfmm, start, dx, dy)[1])
                     for _ in range(args.repeat)]
            mine, peer = (statistics.median(column) for column in zip(*times))
            domain = int((start >= 0).sum())
            row = {"mask": what, "cells": start.size, "domain": domain, "visits_per_cell": runs[0]["work_max"] / domain,
                   "nunatak_ms": 1e3 * mine, "skfmm_ms": 1e3 * peer, "ratio": peer / mine, "largest_m": float(largest),
                   "difference_m": float(difference)}
            table.append(row)
            print(f"{what:18}{domain:10}{row['visits_per_cell']:8.2f}{row['nunatak_ms']:10.1f}{row['skfmm_ms']:10.1f}"
                  f"{row['ratio']:7.1f}{difference:12.1e}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
