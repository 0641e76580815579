#!/usr/bin/env python3
"""Ice behind a grounded cliff: its speed by PISM's two methods and by nunatak, on finer and finer
grids.

    perf/compare_cliffs.py --pism DIR --nunatak EXE --json cliffs.json

A round sheet of 200 km on a bed 300 m below the sea ends in a cliff 300 m above it. Each SSA starts
from rest and is solved until the velocity does not change any more. Printed: mean speed (m/a) of
the ice 16 to 32 km behind the cliff, and the largest of all.
"""
import argparse
import os
import shlex
import sys
import tempfile

import compare_pism
import numpy as np

RADIUS, HALF = 200e3, 240e3  # m: of the ice, of the side of the square
FINITE_DIFFERENCES = ["-ssafd_picard_rtol", "1e-8", "-ssafd_ksp_rtol", "1e-4"]


def sheet(dx):
    """Its fields, and the distances from its middle."""
    axis = np.arange(-HALF, HALF + dx / 2, dx)
    r = np.hypot(*np.meshgrid(axis, axis))
    surface = 300.0 + 1200.0 * np.sqrt(np.clip(1.0 - (r / RADIUS) ** 2, 0.0, None))
    constants = {"topg": -300.0, "basins": 1.0, "theta_ocean": 271.5, "salinity_ocean": 34.6}
    return {"x": axis, "y": axis, "thk": np.where(r < RADIUS, surface + 300.0, 0.0),
            **{name: np.full(r.shape, value) for name, value in constants.items()}}, r


class Cliff(compare_pism.Antarctica):
    def __init__(self, a, folder, dx):
        self.a, self.folder = a, folder
        fields, self.r = sheet(dx)
        self.prepare(fields)

    def speeds(self, velocity):
        speed = np.abs(velocity)
        behind = (self.r >= RADIUS - 32e3) & (self.r < RADIUS - 16e3)
        return {"behind the cliff": float(speed[behind].mean()), "largest": float(speed.max())}

    def compare(self):
        load = self.nunatak(1, 1, ["-ssa_tolerance", "1e-10"])["load_norm"]
        return {"nunatak": self.speeds(self.velocity()),
                "PISM, finite elements": self.speeds(
                    self.first_velocity([*compare_pism.FINITE_ELEMENTS, repr(1e-9 * load)])),
                "PISM, finite differences": self.speeds(self.first_velocity(FINITE_DIFFERENCES))}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    compare_pism.add_programs(parser)
    parser.add_argument("--km", type=float, nargs="+", default=[16, 8, 4],
                        help="cells (default 16 8 4)")
    a = parser.parse_args()
    if not all(0.5 <= km <= 16 for km in a.km):
        compare_pism.fail("--km: expected cells of 0.5 to 16 km, as the ring that is looked at is "
                          f"16 km wide, found {' '.join(map(str, a.km))}")
    a.ours = ""
    compare_pism.find_programs(a)
    result = {"command": shlex.join(["perf/compare_cliffs.py",
                                     *map(os.path.basename, sys.argv[1:])]), "km": {}}
    with tempfile.TemporaryDirectory() as folder:
        try:
            for km in a.km:
                found = result["km"][f"{km:g}"] = Cliff(a, folder, 1000 * km).compare()
                for who, speeds in found.items():
                    compare_pism.say(f"{km:4g} km  {who:26s}" + "".join(
                        f"  {what} {value:8.1f} m/a" for what, value in speeds.items()))
        except compare_pism.RunFailed as error:
            compare_pism.fail(str(error))
    compare_pism.give(result, a.json)


if __name__ == "__main__":
    main()
