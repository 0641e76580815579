#!/usr/bin/env python3
"""The picture of the layouts: who writes which cells of a map, and which bytes of the file, from traces of real runs.

    perf/plot_layouts.py --build build/release -o docs/img/layouts.png

Six ranks on two virtual nodes write the ice thickness of 12 x 18 cells (libnunatak_trace.so says who writes which bytes).
"""
import argparse
import pathlib
import subprocess
import tempfile

import launcher
import numpy as np
from matplotlib.colors import ListedColormap
from plot_trace import read_trace
from scaling_study.plots import BLUE, GREEN, ORANGE, PURPLE, SKY, plt
from scipy.io import netcdf_file

LAYOUTS = ("native", "zslab", "zslab:1", "auto", "box:1", "box:2", "morton:1", "file-per-aggregator:2")
COLOURS = ListedColormap([BLUE, ORANGE, GREEN, PURPLE, SKY, "#F0E442"])  # by rank
GRID = ("-grid_My", "12", "-grid_Mx", "18", "-grid_py", "2", "-grid_px", "3", "-io_ranks_per_node", "3")

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default="build/release", type=pathlib.Path, help="folder with the programs")
parser.add_argument("--stripe", default="288B", help="-io_stripe of all runs (default 288B, two rows of the map)")
parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
arguments = parser.parse_args()
build = arguments.build.resolve()


def written(layout, folder):
    """[(cells of the file's part of the map: rows, columns, rank that wrote each)], writes that hit the map."""
    library = build / "perf/trace/libnunatak_trace.so"
    words = [*launcher.MPIEXEC.split(), "6", "env", f"LD_PRELOAD={library}", f"NUNATAK_TRACE={folder}/t.csv", build / "miniapp/nunatak", "-init", "dome",
             *GRID, "-run_years", "0", "-o", "map.nc", "-io_format", "direct", "-io_layout", layout, "-io_stripe", arguments.stripe]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    writes = [e for e in read_trace(folder / "t.csv") if e.operation == "write"]
    parts, count = [], 0
    for path in sorted(folder.glob("map.nc*")):
        with netcdf_file(path, mmap=True) as nc:
            first = {"x": 0, "y": 0}
            for axis in first:  # of a subfile: 1, cells of all, first, last
                first[axis] = getattr(nc.variables[axis], "domain_decomposition", [1, 0, 1])[2] - 1
            thk = nc.variables["thk"].data
            begin = thk.__array_interface__["data"][0] - nc._mm_buf.__array_interface__["data"][0]
            shape, size = thk.shape[1:], thk[0].nbytes
            del thk
        ranks = np.full(size // 8, -1)
        for e in writes:
            low, high = e.offset - begin, e.offset + e.bytes - begin
            if e.file == path.name + ".tmp" and high > 0 and low < size:
                count += 1
                ranks[max(low, 0) // 8:-(-min(high, size) // 8)] = e.rank
        parts.append((first["y"], first["x"], ranks.reshape(shape)))
    return parts, count


figure, all_axes = plt.subplots(4, 4, figsize=(11, 6.2), gridspec_kw={"height_ratios": [10, 2, 10, 2]}, layout="constrained")
for n, layout in enumerate(LAYOUTS):
    with tempfile.TemporaryDirectory() as folder:
        parts, count = written(layout, pathlib.Path(folder))
    axes, bar = all_axes[2 * (n // 4)][n % 4], all_axes[2 * (n // 4) + 1][n % 4]
    cells = np.full((12, 18), -1)
    for y, x, ranks in parts:
        cells[y:y + ranks.shape[0], x:x + ranks.shape[1]] = ranks
    assert (cells >= 0).all(), layout
    axes.pcolormesh(cells, cmap=COLOURS, vmin=0, vmax=5)
    for rank in np.unique(cells):
        y, x = np.argwhere(cells == rank).mean(axis=0) + 0.5
        axes.text(x, y, str(rank), ha="center", va="center", weight="bold",
                  bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": "none"})
    axes.vlines((6, 12), 0, 12, color="black", ls=":", lw=1)
    axes.hlines(6, 0, 18, color="black", ls=":", lw=1)
    axes.set(title=layout, xticks=[], yticks=[], xlabel="x", ylabel="y", aspect="equal")
    bar.imshow(np.concatenate([ranks.ravel() for _, _, ranks in parts])[None], cmap=COLOURS, vmin=0, vmax=5, aspect="auto", interpolation="none")
    for k in range(1, len(parts)):
        bar.axvline(k * cells.size / len(parts) - 0.5, color="white", lw=4)
    files = "file" if len(parts) == 1 else f"{len(parts)} files"
    bar.set(xticks=[], yticks=[], xlabel=f"{files}, first to last byte; {count} write{'s' * (count > 1)}")
figure.savefig(arguments.output, dpi=140)
