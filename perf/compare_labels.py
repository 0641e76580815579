#!/usr/bin/env python3
"""Label the same masks by nunatak, connected-components-3d (cc3d) and scipy.ndimage, in turns, and compare.

    perf/compare_labels.py --input antarctica_32km.nc --json labels.json

Masks: full, checkerboard and percolation on --size^2 cells; grounded, floating and ocean of the ice sheet --input (thk, topg), each
point made --refine x --refine points of the same values. All get the same bytes and give an array of labels of the whole grid,
1, 2, ... in raster order, 4-connected; the arrays must be equal, cell by cell. Times are wall time, nanoseconds per cell, the
fastest of --repeat; the programs run in turns, on one core each: measure on a quiet machine. nunatak-labels keeps its work space from
one labelling to the next, as the model does; its first one, which gets it, is in the last column.
cc3d and scipy are not needed to build or test nunatak: pip install connected-components-3d scipy.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

RHO_ICE, RHO_SEA = 910.0, 1028.0


def fail(message):
    sys.exit(f"compare_labels.py: {message}")


def peers():
    """Functions mask -> labels, of those that are installed."""
    found = {}
    try:
        import cc3d

        found["cc3d"] = lambda mask: cc3d.connected_components(mask, connectivity=4, out_dtype=np.uint32)
    except ImportError:
        print("compare_labels.py: no cc3d (pip install connected-components-3d): left out", file=sys.stderr)
    try:
        import scipy.ndimage

        found["scipy"] = lambda mask: scipy.ndimage.label(mask)[0]
    except ImportError:
        print("compare_labels.py: no scipy: left out", file=sys.stderr)
    return found


def masks(arguments):
    """(name, mask) one after another."""
    n = arguments.size
    yield "full", np.ones((n, n), np.uint8)
    yield "checkerboard", (np.indices((n, n)).sum(axis=0) % 2).astype(np.uint8)
    random = np.random.default_rng(1).random((n, n), np.float32)
    for p in (0.4, 0.593, 0.8):
        yield f"percolation {p}", (random < p).astype(np.uint8)
    if not arguments.input:
        return
    import netCDF4

    with netCDF4.Dataset(arguments.input) as data:
        data.set_auto_mask(False)
        thk, topg, x = np.squeeze(data["thk"][:]), np.squeeze(data["topg"][:]), data["x"][:]
    grounded = (thk > 0) & (thk * RHO_ICE >= -topg * RHO_SEA)
    kinds = {"grounded": grounded, "floating": (thk > 0) & ~grounded, "ocean": (thk <= 0) & (topg < 0)}
    for refine in arguments.refine:
        for name, mask in kinds.items():
            fine = np.repeat(np.repeat(mask, refine, axis=0), refine, axis=1)
            yield f"{name} {abs(x[1] - x[0]) / 1000 / refine:g} km", np.ascontiguousarray(fine, np.uint8)


def nunatak(arguments, mask, folder, repeat, save=False):
    """Seconds of the fastest of `repeat` labellings after a first one (repeat=1: of the first one), and the labels if `save`."""
    picture, answer, report = (os.path.join(folder, name) for name in ("mask.pgm", "labels.nc", "report.json"))
    with open(picture, "wb") as file:
        file.write(b"P5 %d %d 1\n" % mask.shape[::-1] + mask.tobytes())
    command = [arguments.program, "-i", picture, "-domain", "1", "-repeat", str(repeat), "-report", report]
    done = subprocess.run(command + (["-o", answer] if save else []), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"nunatak-labels failed with status {done.returncode}: {done.stderr.strip()}")
    with open(report, encoding="utf-8") as file:
        run = json.load(file)["runs"][0]
    seconds = run["wall_s"] if repeat == 1 else run["wall_min_s"]
    if not save:
        return seconds, None
    import netCDF4

    with netCDF4.Dataset(answer) as data:
        return seconds, data["label"][:].filled()


def measure(arguments):
    found, rows = peers(), []
    with tempfile.TemporaryDirectory() as folder:
        for name, mask in masks(arguments):
            first, ours = nunatak(arguments, mask, folder, 1, save=True)
            for peer, label in found.items():  # also their warm-up
                differ = np.count_nonzero(ours != label(mask))
                if differ:
                    fail(f"{name}: labels of nunatak and {peer} differ in {differ} cells")
            times = {who: [] for who in ("nunatak", *found)}
            for _ in range(arguments.repeat):
                times["nunatak"].append(nunatak(arguments, mask, folder, 2)[0])
                for peer, label in found.items():
                    begin = time.perf_counter()
                    label(mask)
                    times[peer].append(time.perf_counter() - begin)
            ns = {who: [1e9 * t / mask.size for t in values] for who, values in times.items()}
            rows.append({"mask": name, "Mx": mask.shape[1], "My": mask.shape[0], "components": int(ours.max()), "ns_per_cell": ns,
                         "best": {who: min(values) for who, values in ns.items()}, "first call": 1e9 * first / mask.size})
            print_row(rows[-1])
    return rows


def print_row(row):
    best = row["best"]
    ratios = "".join(f"{best[peer] / best['nunatak']:9.2f}" for peer in best if peer != "nunatak")
    times = "".join(f"{best[who]:9.2f}" for who in best)
    first = row["first call"]
    print(f"{row['mask']:18s}{row['Mx']:6d}{row['components']:10d}{times}   {ratios}{first:12.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/miniapp/nunatak-labels", help="default %(default)s")
    parser.add_argument("--input", metavar="FILE", help="ice sheet with thk and topg (NetCDF)")
    parser.add_argument("--refine", type=int, nargs="+", default=[4, 8, 16, 32], help="points made of a point (default 4 8 16 32)")
    parser.add_argument("--size", type=int, default=4096, help="of the other masks (default 4096)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each that count (default 5)")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    if not os.access(arguments.program, os.X_OK):
        fail(f"--program: '{arguments.program}' cannot be executed")
    who = "".join(f"{name:>9s}" for name in ("nunatak", *peers()))
    ratio = "".join(f"{name + '/us':>9s}" for name in peers())
    print(f"{'mask':18s}{'Mx':>6s}{'comps':>10s}{who}   {ratio}  first call   (ns per cell)")
    rows = measure(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"unit": "ns per cell, wall time", "runs": arguments.repeat, "masks": rows}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
