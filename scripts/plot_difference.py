#!/usr/bin/env python3
"""Compare a speed of a nunatak file with that of a reference on the same grid: numbers, and a map
of the relative difference.

    nunatak -i reference.nc -stress ssa -sliding_q 0 -run_years 0 -o out.nc
    scripts/plot_difference.py out.nc reference.nc -o difference.png

Compared is velbase_mag with the speed of uvelbase, vvelbase (--reference-vars), where the reference
exceeds 10 m/a (--above). The map (PuOr) is colour-blind safe; black lines are grounding lines, grey
lines ice fronts.
"""
import argparse
import sys

# first: it looks for a Python with the other packages
from plot import FLOATING, GROUNDED, field, outlines, window_of

import matplotlib.colors as colors
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr


def read(path, names):
    """Variables of the last record as arrays, by name; x and y in km."""
    try:
        with xr.open_dataset(path, decode_times=False) as data:
            arrays = {name: field(data, name, -1) for name in names}
            missing = [name for name, values in arrays.items() if values is None]
            if missing:
                sys.exit(f"plot_difference.py: {path} has no variable {', '.join(missing)}")
            return ({name: values.values for name, values in arrays.items()},
                    data["x"].values / 1e3, data["y"].values / 1e3)
    except (OSError, ValueError) as error:
        sys.exit(f"plot_difference.py: cannot open {path}: {error}")


def describe(difference, where, label):
    size = np.abs(difference[where])
    if size.size > 0:
        print(f"{label:24s} {size.size:7d} cells   median {np.median(size):.4f}   90th percentile "
              f"{np.quantile(size, 0.9):.4f}   above 0.2: {np.mean(size > 0.2):.3f}   signed "
              f"median {np.median(difference[where]):+.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="result of nunatak with velbase_mag and mask")
    parser.add_argument("reference", help="file with the components of the reference velocity, "
                        "m/a, on the same grid")
    parser.add_argument("-o", "--output", default="difference.png", help="picture to write")
    parser.add_argument("--reference-vars", nargs=2, default=["uvelbase", "vvelbase"],
                        metavar=("U", "V"))
    parser.add_argument("--above", type=float, default=10.0,
                        help="compare where the reference exceeds this speed, m/a")
    args = parser.parse_args()

    ours, x, y = read(args.file, ["velbase_mag", "mask"])
    theirs, x_reference, y_reference = read(args.reference, args.reference_vars)
    if (x.shape != x_reference.shape or y.shape != y_reference.shape or
        not np.allclose(x, x_reference) or not np.allclose(y, y_reference)):
        sys.exit(f"plot_difference.py: expected the same grid in both files, found {len(x)} x "
                 f"{len(y)} points in {args.file} and {len(x_reference)} x {len(y_reference)} in "
                 f"{args.reference}")
    mask = ours["mask"]
    icy = (mask == GROUNDED) | (mask == FLOATING)
    reference = np.hypot(*(theirs[name] for name in args.reference_vars))
    compared = icy & (reference > args.above)
    difference = np.full(mask.shape, np.nan)
    difference[compared] = ours["velbase_mag"][compared] / reference[compared] - 1

    # cells whose surroundings, one cell wide, are of more than one kind: fronts, grounding lines,
    # cliffs
    padded = np.pad(mask, 1, mode="edge")
    shifts = [padded[1 + dj:1 + dj + mask.shape[0], 1 + di:1 + di + mask.shape[1]]
              for dj in (-1, 0, 1) for di in (-1, 0, 1)]
    margin = np.any([s != mask for s in shifts], axis=0)
    describe(difference, compared, "all")
    describe(difference, compared & (mask == GROUNDED), "grounded")
    describe(difference, compared & (mask == FLOATING), "floating")
    describe(difference, compared & margin, "next to another kind")
    describe(difference, compared & ~margin, "elsewhere")
    for low, high in ((10, 50), (50, 200), (200, 1000), (1000, np.inf)):
        describe(difference, compared & (reference > low) & (reference <= high),
                 f"{low} to {high:g} m/a")

    (west, east), (south, north) = window_of(x, y, icy)
    figure, axes = plt.subplots(
        figsize=(7.6, 5.6 * min(2.0, (north - south) / (east - west)) + 1.1), layout="constrained")
    axes.set_facecolor("0.93")
    still = np.where(icy, 1.0, np.nan)
    axes.pcolormesh(x, y, still, shading="nearest", rasterized=True,
                    cmap=colors.ListedColormap(["0.8"]))
    image = axes.pcolormesh(x, y, 100 * difference, shading="nearest", rasterized=True,
                            cmap="PuOr_r", norm=colors.Normalize(-50, 50))
    outlines(axes, x, y, mask)
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect("equal")
    axes.set_xlabel("x (km)")
    axes.set_ylabel("y (km)")
    axes.set_title(
        f"Sliding speed relative to the reference, where that exceeds {args.above:g} m/a\n"
        f"median of the size {100 * np.median(np.abs(difference[compared])):.1f} %; "
        "light grey: no ice, grey: slower ice", fontsize=10)
    figure.colorbar(image, ax=axes, pad=0.01, extend="both").set_label("speed / reference - 1 (%)")
    figure.savefig(args.output, dpi=110)
    print(args.output)


if __name__ == "__main__":
    main()
