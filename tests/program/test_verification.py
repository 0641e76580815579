"""The whole program against an exact solution and against its own books: Halfar's dome, and mass budgets of hybrid runs.

Prints tables like those of tests/verification (scripts/verify.sh). The kernels by themselves: tests/verification/test_sia.cpp and
test_transport.cpp.
"""
import json
import math

import netCDF4
import numpy as np
import pytest

YEAR = 31556926.0


def halfar(years, r):
    """Thickness (m) of test B of Bueler et al. (2005), `years` after t0, at the radius r (m)."""
    rho_g, softness, H0, R0 = 910.0 * 9.81, 3.1689e-24, 3600.0, 750e3
    t0 = 1 / 18 / (2 * softness * rho_g**3 / 5) * (7 / 4) ** 3 * R0**4 / H0**7
    s = 1 + years * YEAR / t0
    return H0 * s ** (-1 / 9) * np.maximum(1 - (s ** (-1 / 18) * r / R0) ** (4 / 3), 0.0) ** (3 / 7)


def read(path, name):
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        return data[name][0]


@pytest.fixture
def show(capsys):
    """show(title, columns, rows): print a Markdown table, also where pytest captures what tests print."""
    def table(title, columns, rows):
        with capsys.disabled():
            print(f"\n### {title}\n")
            for row in (columns, ["---:"] * len(columns), *rows):
                print("| " + " | ".join(str(cell) for cell in row) + " |")
    return table


def test_halfar_on_one_and_three_ranks(nunatak, tmp_path, show):
    """25000 years of pure shearing: mean error, volume, equal bits."""
    rows = []
    #                  dx (km), bound of the mean error (m), published volume error (%)
    for dx, bound, volume_error in ((80, 9.53, 0.00829), (60, 7.21, 0.04570), (40, 4.97, 0.04795)):
        for ranks in (1, 3):
            nunatak("-init", "dome", "-grid_dx", f"{dx}km", "-grid_Mz", "5", "-run_years", "25000", "-dt_max", "60", "-stress", "sia",
                    "-energy", "off", "-ocean", "none", "-o", f"r{ranks}.nc", ranks=ranks, status=0)
        thk = read(tmp_path / "r1.nc", "thk")
        for name in ("thk", "usurf", "uvel", "wvel", "mask"):
            np.testing.assert_array_equal(read(tmp_path / "r3.nc", name), read(tmp_path / "r1.nc", name), err_msg=name)
        points = 2400 // dx + 1
        assert thk.shape == (points, points)
        x = np.linspace(-1200e3, 1200e3, points)
        exact = halfar(25000.0, np.hypot(*np.meshgrid(x, x)))
        rows.append((points, dx, np.abs(thk - exact).mean(), bound))
        assert abs(100 * abs(thk.sum() / exact.sum() - 1) - volume_error) <= 5.1e-6
    orders = ["-"] + [f"{math.log(a[2] / b[2]) / math.log(a[1] / b[1]):.2f}" for a, b in zip(rows, rows[1:])]
    show("Test B (Halfar 1983) after 25000 years, by the program on 1 and 3 ranks",
         ["points", "spacing, km", "mean error of thickness, m", "bound", "order"],
         [[points, dx, f"{error:.4g}", f"{bound:.4g}", order] for (points, dx, error, bound), order in zip(rows, orders)])
    for _, _, error, bound in rows:
        assert error <= bound
    assert math.log(rows[0][2] / rows[-1][2]) / math.log(80 / 40) >= 0.9


@pytest.mark.parametrize("case", ["marine", "Antarctica, 32 km", "Greenland, 16 km"])
def test_the_volume_is_accounted_for(nunatak, tmp_path, request, show, case):
    """Hybrid steps with calving, melt and surface balance: what the volume gains is what the terms say, to 1e-13."""
    if case == "marine":
        start = ["-init", "marine", "-grid_dx", "64km"]
    else:
        shared = request.getfixturevalue("shared")
        start = ["-i", shared / "data" / ("antarctica_32km.nc" if "Antarctica" in case else "greenland_16km.nc")]
    steps = 20 if case == "marine" else 8
    for name, length in (("start", ["-run_years", "0", "-stress", "sia"]), ("end", ["-run_steps", steps])):
        nunatak(*start, "-grid_Mz", "11", *length, "-o", f"{name}.nc", "-report", f"{name}.json", ranks=2, timeout=300, status=0)
    report = json.loads((tmp_path / "end.json").read_text())
    budget, cell = report["mass_budget"], report["grid"]["dx"] * report["grid"]["dy"] / 1e9  # km3 per metre of ice
    assert report["steps"] == steps and report["ssa"]["solves"] == steps + 1
    thickness = {name: read(tmp_path / f"{name}.nc", "thk") for name in ("start", "end")}
    volume = {name: math.fsum(thk.ravel()) * cell for name, thk in thickness.items()}
    gained = budget["surface_km3"] - budget["basal_melt_km3"] - budget["calved_km3"] + budget["edge_km3"] + budget["clipped_km3"]
    closure = abs(volume["end"] - volume["start"] - gained) / volume["end"]
    show(f"Mass budget, {case}: {steps} hybrid steps",
         ["volume, km3", "surface", "basal melt", "calved", "clipped", "not accounted for, of the volume", "bound"],
         [[f"{volume['end']:.9g}"] + [f"{budget[term]:.6g}" for term in ("surface_km3", "basal_melt_km3", "calved_km3", "clipped_km3")]
          + [f"{closure:.1e}", "1e-13"]])
    assert closure <= 1e-13  # from the fields in the files
    assert abs(budget["closure"]) <= 1e-13  # what the program says
    assert thickness["end"].min() >= 0.0
    for term in ("surface_km3", "basal_melt_km3", "calved_km3"):
        assert abs(budget[term]) > 1e-5 * volume["end"], term
