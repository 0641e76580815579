#!/usr/bin/env python3
"""The same masks by nunatak and by others: labels by connected-components-3d (cc3d), distances in
metres by scikit-fmm.

    perf/compare_peers.py labels --input continent.nc --json labels.json
    perf/compare_peers.py fmm --input result.nc --json eikonal.json

labels: full, checkerboard and percolation on --size^2 cells; grounded, floating and ocean of the
ice sheet --input (thk, topg), each point made --refine x --refine points of the same values. All
give an array of labels, 1, 2, ... in raster order, 4-connected; the arrays must be equal.
nunatak-labels keeps its work space from one labelling to the next, as the model does; its first
one, which gets it, is in the last column.
fmm (kernels/distance/eikonal.hpp and skfmm, first order): a point, a disc and a wall with a gap on
an open square of --size^2 cells; a random mask of which one cell in five is outside; the ice
shelves of --input, a result of nunatak, with seeds at the grounding line. Both solve the same
discrete equations: they must reach the same cells, and differ by rounding (--tolerance of the
largest distance) and the unit of nunatak's whole numbers, the longest side / 2^28. 4 x 4 virtual
ranks must give the same bits.

Times are wall time, in alternation, the fastest of --repeat after a first one that does not count;
one core each: measure on a quiet machine. The others are not needed to build or test nunatak: pip
install connected-components-3d scikit-fmm.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np

RHO_ICE, RHO_SEA = 910.0, 1028.0


def fail(message):
    sys.exit(f"compare_peers.py: {message}")


def read(path, *names):
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        return [np.squeeze(data[name][:]) for name in names]


def run(command, folder, values, *options):
    """The runs that a tool of nunatak reports for a mask."""
    with netCDF4.Dataset(folder / "mask.nc", "w") as data:
        for name, n in zip("yx", values.shape):
            data.createDimension(name, n)
        data.createVariable("values", "i4", ("y", "x"))[:] = values
    words = [*command, "-i", folder / "mask.nc", "-variable", "values", "-report",
             folder / "report.json", *options]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        fail(f"{command[0]} failed with status {done.returncode}: {done.stderr.strip()}")
    return json.loads((folder / "report.json").read_text())["runs"]


def timed(function, *arguments):
    begin = time.perf_counter()
    answer = function(*arguments)
    return answer, time.perf_counter() - begin


def fastest(a, ours, others):
    """{who: seconds}, in alternation; ours() gives its own."""
    times = {"nunatak": [], **{who: [] for who in others}}
    for _ in range(a.repeat):
        times["nunatak"].append(ours())
        for who, function in others.items():
            times[who].append(timed(function)[1])
    return {who: min(values) for who, values in times.items()}


# --- labels


def masks_of_labels(a):
    n = a.size
    yield "full", np.ones((n, n), np.uint8)
    yield "checkerboard", (np.indices((n, n)).sum(axis=0) % 2).astype(np.uint8)
    random = np.random.default_rng(1).random((n, n), np.float32)
    for p in (0.4, 0.593, 0.8):
        yield f"percolation {p}", (random < p).astype(np.uint8)
    if not a.input:
        return
    thk, topg, x = read(a.input, "thk", "topg", "x")
    grounded = (thk > 0) & (thk * RHO_ICE >= -topg * RHO_SEA)
    kinds = {"grounded": grounded, "floating": (thk > 0) & ~grounded,
             "ocean": (thk <= 0) & (topg < 0)}
    for refine in a.refine:
        for name, mask in kinds.items():
            fine = np.repeat(np.repeat(mask, refine, axis=0), refine, axis=1)
            yield (f"{name} {abs(x[1] - x[0]) / 1000 / refine:g} km",
                   np.ascontiguousarray(fine, np.uint8))


def compare_labels(a, folder):
    try:
        import cc3d
    except ImportError:
        fail("expected the Python package connected-components-3d (pip install "
             "connected-components-3d), found none")

    def label(mask):
        return cc3d.connected_components(mask, connectivity=4, out_dtype=np.uint32)

    command = [a.program, "-domain", "1"]
    print(f"{'ns per cell':18s}{'Mx':>6s}{'comps':>10s}{'nunatak':>9s}{'cc3d':>9s}{'ratio':>9s}  "
          "first call")
    for name, mask in masks_of_labels(a):
        first = run(command, folder, mask, "-repeat", 1, "-o", folder / "labels.nc")[0]["wall_s"]
        ours, = read(folder / "labels.nc", "label")
        differ = np.count_nonzero(ours != label(mask))  # also the warm-up
        if differ:
            fail(f"{name}: labels of nunatak and cc3d differ in {differ} cells")
        best = fastest(a,
                       lambda mask=mask: run(command, folder, mask, "-repeat", 2)[0]["wall_min_s"],
                       {"cc3d": lambda mask=mask: label(mask)})
        ns = {who: 1e9 * seconds / mask.size for who, seconds in best.items()}
        row = {"mask": name, "Mx": mask.shape[1], "My": mask.shape[0],
               "components": int(ours.max()), "ns_per_cell": ns,
               "first_call": 1e9 * first / mask.size}
        times = "".join(f"{t:9.2f}" for t in ns.values())
        print(f"{name:18s}{row['Mx']:6d}{row['components']:10d}{times}"
              f"{ns['cc3d'] / ns['nunatak']:9.2f}{row['first_call']:12.2f}", flush=True)
        yield row


# --- distances in metres


def masks_of_distances(a):
    """Name, start (1 seed, 0 domain, -1 outside), dx, dy."""
    j, i = np.mgrid[0:a.size, 0:a.size]
    middle = a.size // 2
    point = np.where((j == middle) & (i == middle), 1, 0)
    yield "point", point, 1.0, 1.0
    yield "point, dx = 3 dy", point, 3.0, 1.0
    yield "disc", np.where(np.hypot(j - middle, i - middle) <= a.size / 5, 1, 0), 1.0, 1.0
    wall = np.where((i == middle) & (np.abs(j - a.size // 3) > 1), -1, 0)
    wall[0, 0] = 1
    yield "wall with a gap", wall, 1.0, 1.0
    random = np.where(np.random.default_rng(1).random((a.size, a.size)) < 0.2, -1, 0)
    random[middle, middle] = 1
    yield "random", random, 1.0, 1.0
    if a.input:
        distance, x, y = read(a.input, "pico_distance_gl", "x", "y")
        yield ("ice shelves", np.sign(np.where(distance > 1, 0, distance)).astype(int),
               float(abs(x[1] - x[0])), float(abs(y[1] - y[0])))


def by_skfmm(skfmm, start, dx, dy):
    """NaN where there is no distance; cells where its field is 0 are the front, and are kept."""
    field = np.ma.MaskedArray(np.where(start == 1, 0.0, 1.0), mask=start < 0)
    return np.ma.filled(np.ma.asarray(skfmm.distance(field, dx=[dy, dx], order=1), dtype=float),
                        np.nan)


def compare_distances(a, folder):
    try:
        import skfmm
    except ImportError:
        fail("expected the Python package scikit-fmm (pip install scikit-fmm), found none")
    print(f"{'':18}{'domain':>10}{'visits':>8}{'nunatak':>10}{'skfmm':>10}{'ratio':>7}"
          f"{'difference':>12}   (ms, m)")
    for what, start, dx, dy in masks_of_distances(a):
        # paths of eight sides fit into 32 bits
        unit = max(start.shape[1] * dx, start.shape[0] * dy) / 2**28
        command = [a.program, "-seeds", "given", "-solvers", "fmm", "-grid_dx", f"{dx:.17g}",
                   "-grid_dy", f"{dy:.17g}", "-fmm_unit", f"{unit:.17g}"]
        visits = run(command, folder, start, "-virtual_ranks", "1,4x4", "-compare", "-o",
                     folder / "d.nc")[0]["work_max"]
        units, = read(folder / "d.nc", "distance")
        ours, theirs = (np.where(units > 0, (units - 1.0) * unit, np.nan),
                        by_skfmm(skfmm, start, dx, dy))
        if (np.isnan(ours) != np.isnan(theirs)).any():
            fail(f"{what}: expected both to reach the same cells, found "
                 f"{(np.isnan(ours) != np.isnan(theirs)).sum()} others")
        difference, largest = np.nanmax(np.abs(ours - theirs)), np.nanmax(ours)
        if not difference <= a.tolerance * largest + unit:
            fail(f"{what}: expected differences below {a.tolerance:g} of {largest:g} m, found "
                 f"{difference:g} m")

        def by_nunatak(command=command, start=start):
            return run(command, folder, start, "-repeat", 2)[0]["wall_min_s"]
        best = fastest(a, by_nunatak, {
            "skfmm": lambda start=start, dx=dx, dy=dy: by_skfmm(skfmm, start, dx, dy)})
        row = {"mask": what, "cells": start.size, "domain": int((start >= 0).sum()),
               "visits_per_cell": visits / int((start >= 0).sum()),
               "nunatak_ms": 1e3 * best["nunatak"], "skfmm_ms": 1e3 * best["skfmm"],
               "ratio": best["skfmm"] / best["nunatak"],
               "largest_m": float(largest), "difference_m": float(difference)}
        print(f"{what:18}{row['domain']:10}{row['visits_per_cell']:8.2f}{row['nunatak_ms']:10.1f}"
              f"{row['skfmm_ms']:10.1f}{row['ratio']:7.1f}{difference:12.1e}", flush=True)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=("labels", "fmm"))
    parser.add_argument("--program",
                        help="default: nunatak-labels or nunatak-distance in build/release/miniapp")
    parser.add_argument("--input", metavar="FILE", help="labels: an ice sheet with thk and topg; "
                        "fmm: a result with pico_distance_gl")
    parser.add_argument("--refine", type=int, nargs="+", default=[4, 8, 16, 32],
                        help="labels: points made of a point (default 4 8 16 32)")
    parser.add_argument("--size", type=int, help="cells along a side of the other masks (default: "
                        "labels 4096, fmm 1001)")
    parser.add_argument("--repeat", type=int, default=5,
                        help="runs of each that count (default %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1e-10,
                        help="fmm: relative difference allowed (default %(default)g)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the table")
    a = parser.parse_args()
    labels = a.subject == "labels"
    a.size = a.size or (4096 if labels else 1001)
    a.program = a.program or f"build/release/miniapp/nunatak-{'labels' if labels else 'distance'}"
    if not os.access(a.program, os.X_OK):
        fail(f"--program: '{a.program}' cannot be executed")
    with tempfile.TemporaryDirectory() as folder:
        rows = list((compare_labels if labels else compare_distances)(a, pathlib.Path(folder)))
    if a.json:
        a.json.write_text(json.dumps({"runs": a.repeat, "masks": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
