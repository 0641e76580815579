#!/usr/bin/env python3
"""Run a distance solver on the cases of a corpus; yours goes into SOLVERS. See
docs/tutorials/distance-solver.md.

    python3 harness.py scipy answers cases/*.nc
        writes answers/*.nc, variables `distance` and `label`
"""
import pathlib
import sys

import netCDF4
import numpy as np


def by_sweeps(mask):
    """NumPy alone: a pass over the grid for each level."""
    d = np.pad(mask, 1, constant_values=-1)
    inner, level = d[1:-1, 1:-1], 1
    while (d == level).any():
        near = ((d[:-2, 1:-1] == level) | (d[2:, 1:-1] == level) | (d[1:-1, :-2] == level) |
                (d[1:-1, 2:] == level))
        level += 1
        inner[near & (inner == 0)] = level
    return inner


def by_scipy(mask):
    """Shortest paths in the graph of the cells."""
    from scipy.sparse import coo_array, csgraph
    number = np.arange(mask.size).reshape(mask.shape)
    pairs = [(a[joined], b[joined]) for a, b, joined in (
        (number[:, 1:], number[:, :-1], (mask[:, 1:] >= 0) & (mask[:, :-1] >= 0)),
        (number[1:], number[:-1], (mask[1:] >= 0) & (mask[:-1] >= 0)))]
    a, b = (np.concatenate(ends) for ends in zip(*pairs))
    d, seeds = np.full(mask.size, np.inf), number[mask == 1]
    if seeds.size:
        graph = coo_array((np.ones(a.size), (a, b)), shape=(mask.size, mask.size)).tocsr()
        d = csgraph.dijkstra(graph, directed=False, indices=seeds, unweighted=True, min_only=True)
    d = np.where(np.isfinite(d), d + 1, 0).reshape(mask.shape)
    return np.where(mask < 0, -1, d)


def by_skfmm(mask):
    """Straight distances, |grad d| = 1: equal to steps on paths of one cell (-cases
    row,column,serpentine,spiral,int16_distance)."""
    import skfmm
    if not (mask == 1).any():
        return mask
    d = skfmm.distance(np.ma.MaskedArray(np.where(mask == 1, 0.0, 1.0), mask=mask < 0), order=1)
    return np.where(mask < 0, -1, np.ma.filled(d + 1, 0))


SOLVERS = {"sweeps": by_sweeps, "scipy": by_scipy, "skfmm": by_skfmm}

if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[3:]):
        with netCDF4.Dataset(path) as case, netCDF4.Dataset(pathlib.Path(sys.argv[2]) / path.name,
                                                            "w") as answer:
            mask = case["mask"][:].filled().astype(int)
            answer.createDimension("y", mask.shape[0]), answer.createDimension("x", mask.shape[1])
            answer.createVariable("distance", "f8", ("y", "x"))[:] = SOLVERS[sys.argv[1]](mask)
            if sys.argv[1] == "scipy":
                from scipy.ndimage import label
                answer.createVariable("label", "i4", ("y", "x"))[:] = label(mask >= 0)[0]
