#!/usr/bin/env python3
"""Draw what nunatak-distance and nunatak-labels answer on six masks: the figure of docs/tools.md.

    perf/plot_masks.py docs/img/masks.png
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import matplotlib
import netCDF4
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap

# title, tool, its words, variable
PANELS = [("serpentine: steps from a corner", "distance", "-mask serpentine -seeds corner -grid_Mx 61", "distance"),
          ("spiral: steps from a corner", "distance", "-mask spiral -seeds corner -grid_Mx 61", "distance"),
          ("comb: steps from the left side", "distance", "-mask comb -grid_Mx 61", "distance"),
          ("percolation:0.62:3: steps from the left side", "distance", "-mask percolation:0.62:3 -grid_Mx 81", "distance"),
          ("shelves:2: steps from the grounding line", "distance", "-mask shelves:2 -grid_Mx 200", "distance_1"),
          ("percolation:0.593: cells of a component", "labels", "-mask percolation:0.593 -grid_Mx 120", "label")]


def answer(folder, tool, words, variable):
    """The mask and the answer; NaN outside of the domain and where no seed reaches."""
    file = pathlib.Path(folder) / "answer.nc"
    solver = ["-solvers", "bfs"] if tool == "distance" else []
    done = subprocess.run([f"{arguments.build}/nunatak-{tool}", *words.split(), *solver, "-o", file], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"plot_masks.py: nunatak-{tool} failed: {done.stderr.strip()}")
    with netCDF4.Dataset(file) as data:
        mask = data["mask" if "mask" in data.variables else "values"][:].filled()
        values = data[variable][:].filled().astype(float)
    if variable == "label":  # the area of each component
        values = np.bincount(values.astype(int).ravel())[values.astype(int)] * (values > 0.0)
    return mask, np.where(values > 0.0, values, np.nan)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("plot", metavar="FILE")
parser.add_argument("--build", default="build/release/miniapp", help="folder of the tools (default %(default)s)")
arguments = parser.parse_args()
figure, axes = plt.subplots(2, 3, figsize=(11, 7.6), layout="constrained")
with tempfile.TemporaryDirectory() as folder:
    for panel, (title, *run) in zip(axes.flat, PANELS):
        mask, values = answer(folder, *run)
        if title.startswith("shelves"):
            panel.imshow(mask == 2, cmap=ListedColormap(["white", "0.75"]), interpolation="nearest")  # grounded ice is grey
        image = panel.imshow(values, cmap="viridis", norm="log" if run[0] == "labels" else "linear", interpolation="nearest")
        figure.colorbar(image, ax=panel, shrink=0.72)
        panel.set_title(title, fontsize=9)
        panel.set_xticks([])
        panel.set_yticks([])
figure.savefig(arguments.plot, dpi=110)
