#!/usr/bin/env python3
"""Small inputs for PISM and nunatak from maps of letters (docs/pism.md):

    scripts/pism_maps.py in.nc '["c"*13]*3 + ["."*13]*14 + ["~"*13]*6' ['["1"*13]*23']

A map is a list of rows, as a Python expression: c continent, . shelf over shallow bed, _ over deep
bed, ~ shallow ocean, blank deep ocean; the first row of the map is the first of the file. The
second one has the basins, a digit for each cell (default: all 1). Cells are 100 km wide.
"""
import argparse

from course.project_python import require

require("netCDF4", "scripts/setup.sh makes a Python that has it")
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402


def make(path, rows, basins=None, dx=100e3):
    m = np.array([list(r) for r in rows])
    b = np.array([[float(c) for c in r] for r in basins]) if basins else np.ones(m.shape)
    thk = np.where(m == "c", 1000.0, np.where(np.isin(m, list("._")), 200.0, 0.0))
    topg = np.where(m == "c", 100.0, np.where(np.isin(m, list("~.")), -500.0, -3000.0))
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as f:
        for n, k in zip("yx", m.shape):
            f.createDimension(n, k)
            v = f.createVariable(n, "f8", (n,))
            v.units, v.standard_name, v[:] = "m", f"projection_{n}_coordinate", dx * np.arange(k)
        for n, u, a in (("thk", "m", thk), ("topg", "m", topg), ("basins", "1", b),
                        ("theta_ocean", "kelvin", np.where(b % 2, 273.5, 272.5)),
                        ("salinity_ocean", "g/kg", np.full(m.shape, 34.5))):
            v = f.createVariable(n, "f8", ("y", "x"))
            v.units, v[:] = u, a


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="NetCDF file to write")
    parser.add_argument("maps", nargs="+", metavar="MAP", help="the map, and perhaps the basins")
    arguments = parser.parse_args()
    make(arguments.file,
         *[eval(expression, {"__builtins__": {}}) for expression in arguments.maps[:2]])


if __name__ == "__main__":
    main()
