#!/usr/bin/env python3
"""The ice of tiny: its thickness as a map, and along the middle row next to the dome from which it
started.

    picture.py tiny.nc tiny.png        needs matplotlib and netCDF4
"""

import argparse

import matplotlib
import netCDF4
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="of tiny.cpp, tiny.py or tiny.f90")
    parser.add_argument("picture", help="PNG")
    arguments = parser.parse_args()
    with netCDF4.Dataset(arguments.file) as file:
        x, y, thk = file["x"][:] / 1e3, file["y"][:] / 1e3, file["thk"][:]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 1.3])
    ice = left.pcolormesh(x, y, np.ma.masked_less(thk, 1.0), cmap="viridis", vmin=0, vmax=3600)
    figure.colorbar(ice, label="thickness, m")
    left.set(xlabel="x, km", ylabel="y, km", aspect="equal")
    r = np.abs(np.linspace(x[0], x[-1], 1201))
    right.plot(np.linspace(x[0], x[-1], 1201),
               3600 * np.maximum(1 - (r / 750) ** (4 / 3), 0) ** (3 / 7), "k--", lw=0.9,
               label="start: Halfar's dome")
    right.plot(x, thk[len(y) // 2], "o-", color="#0072B2", ms=3, label="end")
    right.set(xlabel="x, km", ylabel="thickness at y = 0, m")
    right.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(arguments.picture, dpi=110)


if __name__ == "__main__":
    main()
