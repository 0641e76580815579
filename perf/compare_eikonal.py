#!/usr/bin/env python3
"""Compare distances in metres (kernels/distance/eikonal.hpp, by bench_eikonal) with scikit-fmm, first order, on the same masks.

    pip install scikit-fmm
    perf/compare_eikonal.py --size 1001 --input result.nc --json eikonal.json

Masks: a point, a disc and a wall with a gap on an open square; a random mask of which one cell in five is outside; with --input
the ice shelves of a result of nunatak, with seeds at the grounding line. One more run on 4 x 4 virtual ranks must give the same bits.

Both solve the same discrete equations: the largest difference is rounding (residual: how well each satisfies them). The script
stops if it is more than --tolerance of the largest distance, or if they do not reach the same cells. Times are processor time of the solve only, in turns, medians;
the first solve of each is dropped.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np


def fail(message):
    sys.exit(f"compare_eikonal.py: {message}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/perf/bench_eikonal", help="bench_eikonal (default %(default)s)")
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
        import netCDF4
        with netCDF4.Dataset(file) as data:
            distance = data["pico_distance_gl"][0].filled()
            dx, dy = (float(abs(data[name][1] - data[name][0])) for name in ("x", "y"))
        yield "ice shelves", np.sign(np.where(distance > 1, 0, distance)).astype(int), dx, dy


def ours(program, folder, start, dx, dy, ranks="1"):
    """Distances (NaN where there is none) and the program's report."""
    start.astype(np.int8).tofile(folder / "mask")
    rows, columns = start.shape
    command = [program, folder / "mask", columns, rows, dx, dy, ranks, ranks, folder / "distance"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        fail(done.stderr.strip())
    distance = np.fromfile(folder / "distance").reshape(start.shape)
    return np.where(np.isinf(distance), np.nan, distance), json.loads(done.stdout)


def theirs(skfmm, start, dx, dy):
    """The same by scikit-fmm: cells where its field is 0 are the front, and are kept."""
    field = np.ma.MaskedArray(np.where(start == 1, 0.0, 1.0), mask=start < 0)
    begin = time.process_time()
    distance = skfmm.distance(field, dx=[dy, dx], order=1)
    seconds = time.process_time() - begin
    return np.ma.filled(np.ma.asarray(distance, dtype=float), np.nan), seconds


def residual(distance, start, dx, dy):
    """Largest error of [max(u - a, 0) / dx]^2 + [max(u - b, 0) / dy]^2 = 1; a, b: smaller neighbour along x, along y."""
    u = np.pad(np.where(np.isnan(distance), np.inf, distance).astype(np.longdouble), 1, constant_values=np.inf)
    a, b, u = np.minimum(u[1:-1, :-2], u[1:-1, 2:]), np.minimum(u[:-2, 1:-1], u[2:, 1:-1]), u[1:-1, 1:-1]
    reached = (start == 0) & np.isfinite(u)
    a, b, u = a[reached], b[reached], u[reached]
    return float(np.abs((np.maximum(u - a, 0) / dx) ** 2 + (np.maximum(u - b, 0) / dy) ** 2 - 1).max())


def main():
    args = read_arguments()
    try:
        import skfmm
    except ImportError:
        fail("expected the Python package scikit-fmm (pip install scikit-fmm), found none")
    table = []
    print(f"{'':18}{'domain':>10}{'visits':>8}{'nunatak':>10}{'skfmm':>10}{'ratio':>7}{'difference':>12}"
          f"{'residuals':>18}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for what, start, dx, dy in masks(args.size, args.input):
            a, report = ours(args.program, folder, start, dx, dy)
            cut, _ = ours(args.program, folder, start, dx, dy, "4")
            if a.tobytes() != cut.tobytes():
                fail(f"{what}: expected the same bits on 1 and on 4 x 4 ranks, found others")
            b, _ = theirs(skfmm, start, dx, dy)
            if (np.isnan(a) != np.isnan(b)).any():
                fail(f"{what}: expected both to reach the same cells, found {(np.isnan(a) != np.isnan(b)).sum()} others")
            difference, largest = np.nanmax(np.abs(a - b)), np.nanmax(a)
            if not difference <= args.tolerance * largest:
                fail(f"{what}: expected differences below {args.tolerance:g} of {largest:g} m, found {difference:g} m")
            times = [(ours(args.program, folder, start, dx, dy)[1]["seconds"], theirs(skfmm, start, dx, dy)[1])
                     for _ in range(args.repeat)]
            mine, peer = (statistics.median(column) for column in zip(*times))
            domain = int((start >= 0).sum())
            row = {"mask": what, "cells": start.size, "domain": domain, "visits_per_cell": report["visits"] / domain,
                   "nunatak_ms": 1e3 * mine, "skfmm_ms": 1e3 * peer, "ratio": peer / mine, "largest_m": float(largest),
                   "difference_m": float(difference), "nunatak_residual": residual(a, start, dx, dy),
                   "skfmm_residual": residual(b, start, dx, dy)}
            table.append(row)
            print(f"{what:18}{domain:10}{row['visits_per_cell']:8.2f}{row['nunatak_ms']:10.1f}{row['skfmm_ms']:10.1f}"
                  f"{row['ratio']:7.1f}{difference:12.1e}{row['nunatak_residual']:9.1e}{row['skfmm_residual']:9.1e}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
