"""The whole program against an exact solution and against its own books: Halfar's dome, and mass
budgets of hybrid runs.

Prints tables like those of tests/verification (scripts/verify.sh). The kernels by themselves, with
orders of convergence: tests/verification/test_sia.cpp and test_transport.cpp.
"""
import json
import math

import numpy as np
import pytest
from conftest import assert_same_bits, variables

YEAR = 31556926.0


def halfar(years, r):
    """Thickness (m) of test B of Bueler et al. (2005), `years` after t0, at the radius r (m)."""
    rho_g, softness, H0, R0 = 910.0 * 9.81, 3.1689e-24, 3600.0, 750e3
    t0 = 1 / 18 / (2 * softness * rho_g**3 / 5) * (7 / 4) ** 3 * R0**4 / H0**7
    s = 1 + years * YEAR / t0
    return H0 * s ** (-1 / 9) * np.maximum(1 - (s ** (-1 / 18) * r / R0) ** (4 / 3), 0.0) ** (3 / 7)


def test_halfar(nunatak, tmp_path):
    """25000 years of pure shearing at 40 km: mean error and volume of
    tests/verification/test_sia.cpp, equal bits on three ranks."""
    for ranks in (1, 3):
        nunatak("-init", "dome", "-grid_dx", "40km", "-grid_Mz", "5", "-run_years", "25000",
                "-dt_max", "60", "-stress", "sia",
                "-energy", "off", "-ocean", "none", "-o", f"r{ranks}.nc", ranks=ranks, status=0)
    assert_same_bits(tmp_path / "r1.nc", tmp_path / "r3.nc")
    thk = variables(tmp_path / "r1.nc")["thk"][0]
    x = np.linspace(-1200e3, 1200e3, 61)
    exact = halfar(25000.0, np.hypot(*np.meshgrid(x, x)))
    assert np.abs(thk - exact).mean() <= 4.97
    assert abs(100 * abs(thk.sum() / exact.sum() - 1) - 0.04795) <= 5.1e-6  # published: 0.04795 %


@pytest.mark.parametrize("case", ["marine", "Antarctica, 32 km", "Greenland, 16 km"])
def test_the_volume_is_accounted_for(nunatak, tmp_path, request, capsys, case):
    """Hybrid steps with calving, melt and surface balance: what the volume gains is what the terms
    say, to 1e-13."""
    if case == "marine":
        start = ["-init", "marine", "-grid_dx", "64km"]
    else:
        shared = request.getfixturevalue("shared")
        start = ["-i", shared / "data" / ("antarctica_32km.nc" if "Antarctica" in case
                                          else "greenland_16km.nc")]
    steps = 20 if case == "marine" else 8
    for name, length in (("start", ["-run_years", "0", "-stress", "sia"]),
                         ("end", ["-run_steps", steps])):
        nunatak(*start, "-grid_Mz", "11", *length, "-o", f"{name}.nc", "-report", f"{name}.json",
                ranks=2, timeout=300, status=0)
    report = json.loads((tmp_path / "end.json").read_text())
    # km3 per metre of ice
    budget, cell = report["mass_budget"], report["grid"]["dx"] * report["grid"]["dy"] / 1e9
    assert report["steps"] == steps and report["ssa"]["solves"] == steps + 1
    thickness = {name: variables(tmp_path / f"{name}.nc")["thk"][0] for name in ("start", "end")}
    volume = {name: math.fsum(thk.ravel()) * cell for name, thk in thickness.items()}
    gained = (budget["surface_km3"] - budget["basal_melt_km3"] - budget["calved_km3"] +
              budget["edge_km3"] + budget["clipped_km3"])
    closure = abs(volume["end"] - volume["start"] - gained) / volume["end"]
    with capsys.disabled():
        print(f"\n### Mass budget, {case}: {steps} hybrid steps\n\n| volume, km3 | not accounted "
              "for, of the volume | bound |\n|---:|---:|---:|")
        print(f"| {volume['end']:.9g} | {closure:.1e} | 1e-13 |")
    assert closure <= 1e-13  # from the fields in the files
    assert abs(budget["closure"]) <= 1e-13  # what the program says
    assert thickness["end"].min() >= 0.0
    for term in ("surface_km3", "basal_melt_km3", "calved_km3"):
        assert abs(budget[term]) > 1e-5 * volume["end"], term
