#!/usr/bin/env python3
"""Write a finer copy of an ice sheet, for studies of PICO at resolutions that no file here has.

    inputs/antarctica.py BedMachineAntarctica-v3.nc -o antarctica_32km.nc     # --help: where the data are
    perf/upsample.py antarctica_32km.nc 1km antarctica_1km.nc

thk and topg are interpolated (bilinear: smooth coasts and no detail that the source does not have), basins, theta_ocean and
salinity_ocean taken from the nearest point. mask follows by flotation (2 grounded ice, 3 floating ice, 4 ice-free ocean, 0 land):
what nunatak-distance and nunatak-labels read. Thickness below 10 m, which interpolation makes in front of the ice, is no ice.
"""
import argparse
import os
import re
import sys

import netCDF4
import numpy as np

RHO_ICE, RHO_SEA = 910.0, 1028.0


def metres(text):
    match = re.fullmatch(r"([0-9.]+)(km|m)", text)
    if not match:
        sys.exit(f"upsample.py: expected a length such as 1km or 500m, found '{text}'")
    return float(match[1]) * (1000.0 if match[2] == "km" else 1.0)


def weights(coarse, fine):
    """Matrix of linear interpolation, and the nearest points."""
    position = np.clip((fine - coarse[0]) / (coarse[1] - coarse[0]), 0, coarse.size - 1)
    left = np.minimum(position.astype(int), coarse.size - 2)
    matrix = np.zeros((fine.size, coarse.size), np.float32)
    rows = np.arange(fine.size)
    matrix[rows, left], matrix[rows, left + 1] = 1 - (position - left), position - left
    return matrix, np.rint(position).astype(int)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input")
    parser.add_argument("spacing")
    parser.add_argument("output")
    arguments = parser.parse_args()
    spacing = metres(arguments.spacing)
    if not os.path.isfile(arguments.input):
        sys.exit(f"upsample.py: {arguments.input}: expected a file, found none")
    if os.path.exists(arguments.output) and os.path.samefile(arguments.input, arguments.output):
        sys.exit(f"upsample.py: {arguments.output}: expected another file than the input, found the same one")
    with netCDF4.Dataset(arguments.input) as source:
        source.set_auto_mask(False)
        for name in ("x", "y", "thk", "topg"):
            if name not in source.variables:
                sys.exit(f"upsample.py: {arguments.input}: variable '{name}' is missing")
        x, y = source["x"][:].astype(float), source["y"][:].astype(float)
        for axis in (source["x"], source["y"]):
            if getattr(axis, "units", "m") != "m":
                sys.exit(f"upsample.py: {arguments.input}: {axis.name}: expected units m, found {axis.units}")
        fine_x = np.arange(x[0], x[-1] + 1e-6 * spacing, spacing)
        fine_y = np.arange(y[0], y[-1] + 1e-6 * spacing, spacing)
        (Wx, near_x), (Wy, near_y) = weights(x, fine_x), weights(y, fine_y)
        with netCDF4.Dataset(arguments.output, "w") as target:
            for name, values in (("y", fine_y), ("x", fine_x)):
                target.createDimension(name, values.size)
                axis = target.createVariable(name, "f8", (name,))
                axis.units, axis.standard_name = "m", f"projection_{name}_coordinate"
                axis[:] = values

            def write(name, values, **attributes):
                variable = target.createVariable(name, values.dtype, ("y", "x"), zlib=True, complevel=1)
                variable.setncatts(attributes)
                variable[:] = values

            thk = Wy @ source["thk"][:].reshape(y.size, x.size).astype(np.float32) @ Wx.T
            topg = Wy @ source["topg"][:].reshape(y.size, x.size).astype(np.float32) @ Wx.T
            thk[thk < 10.0] = 0.0
            grounded = thk * RHO_ICE >= -topg * RHO_SEA
            mask = np.where(thk > 0, np.where(grounded, 2, 3), np.where(topg < 0, 4, 0)).astype(np.int8)
            write("thk", thk, units="m", standard_name="land_ice_thickness")
            write("topg", topg, units="m", standard_name="bedrock_altitude")
            write("mask", mask, flag_values=np.array([0, 2, 3, 4], np.int8),
                  flag_meanings="ice_free_land grounded_ice floating_ice ice_free_ocean")
            for name in ("basins", "theta_ocean", "salinity_ocean"):
                if name in source.variables:
                    attributes = {a: source[name].getncattr(a) for a in ("units", "long_name") if a in source[name].ncattrs()}
                    write(name, source[name][:].reshape(y.size, x.size)[np.ix_(near_y, near_x)], **attributes)
    print(f"{arguments.output}: {fine_x.size} x {fine_y.size} points, {np.count_nonzero(mask == 3)} of floating ice")


if __name__ == "__main__":
    main()
