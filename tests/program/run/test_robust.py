"""The stress balance under hard inputs: every solve converges to the stated residual, or says why
not and leaves its state."""
import json

import netCDF4
import numpy as np
import pytest
from conftest import variables, write_maps

N = 41                     # points of the small domains
J, I = np.indices((N, N))
YEAR = 31556926.0
QUIET = ("-rheology", "isothermal", "-energy", "off", "-ocean", "none", "-grid_Mz", "3",
         "-climatic_mass_balance", "0",
         "-verbose", "false", "-report", "r.json", "-o", "o.nc", "-ssa_failed_file", "failed.nc")


def diamond(j, i, radius):
    return abs(J - j) + abs(I - i) <= radius


def write(path, thk, topg, tauc=None, hardav=None):
    """A state on a grid of 5 km."""
    axis = 5e3 * np.arange(N)
    maps = {"thk": (thk, "m"), "topg": (topg, "m"), "tauc": (tauc, "Pa"), "hardav": (hardav, "")}
    write_maps(path, axis, axis, {name: map for name, map in maps.items() if map[0] is not None},
               format="NETCDF3_CLASSIC")


def rough(seed=7):
    return 300.0 + 200.0 * np.random.default_rng(seed).random((N, N))


def zoo():
    """Grounded blocks in deep water, and at them, or free, what shelves do: the last value is the
    number of cells nothing holds."""
    thk, topg, height = np.zeros((N, N)), np.full((N, N), -3000.0), rough()

    def block(j, i, rows, columns):
        thk[j:j + rows, i:i + columns], topg[j:j + rows, i:i + columns] = 900.0, -300.0

    def float_on(where):
        thk[where] = height[where]

    block(1, 1, 6, 6)
    float_on((J == 3) & (I >= 7) & (I < 20))                     # a tongue of width one along x
    # the same along the diagonal, from a corner
    float_on((J - 6 == I - 6) & (J >= 7) & (J < 14))
    # a single cell, at the edge of the domain
    float_on((J == 0) & (I == 3))
    block(20, 1, 6, 6)
    # an iceberg that touches grounded ice at a corner
    float_on((J >= 26) & (J < 33) & (I >= 7) & (I < 14))
    block(1, 24, 5, 5)
    float_on((I - 28 == J - 5) & (J >= 6) & (J < 9))
    float_on(diamond(13, 32, 4) | ((J == 9) & (I == 32)))        # hangs on a diagonal of cells
    float_on(diamond(24, 31, 5))
    topg[26, 31] = -100.0                                        # held by one grounded cell
    before = np.count_nonzero(thk)
    float_on(diamond(35, 33, 3))                                 # icebergs
    float_on((J == 37) & (I == 3))
    float_on((J == 38) & (I == 4))
    return thk, topg, int(np.count_nonzero(thk) - before)


def solves(folder, tolerance=1e-6):
    """The history of the report; every solve has reached its residual."""
    history = json.loads((folder / "r.json").read_text())["ssa"]["history"]
    assert history
    for solve in history:
        assert solve["final_residual"] <= tolerance * solve["load"], solve
        assert solve["reason"].startswith("CONVERGED") or solve["unknown_cells"] == 0, solve
    return history


def velocity(path):
    values = variables(path)
    return YEAR * np.stack([values["u_ssa"][0], values["v_ssa"][0]])


def test_zoo_on_several_ranks(nunatak, tmp_path):
    thk, topg, loose = zoo()
    write(tmp_path / "zoo.nc", thk, topg)
    first, steps = None, None
    for ranks in (1, 2, 4):
        nunatak("-i", "zoo.nc", *QUIET, ranks=ranks, status=0)
        solve, = solves(tmp_path)
        assert solve["excluded_cells"] == loose
        assert solve["unknown_cells"] == np.count_nonzero(thk) - loose
        uv = velocity(tmp_path / "o.nc")
        if first is None:
            first, steps = uv, solve["steps"]
        assert 100.0 < np.abs(uv).max() < 1e5
        assert solve["steps"] == steps and np.array_equal(uv, first)


@pytest.mark.parametrize("thk, topg, loose",
                         [(np.zeros((N, N)), -3000.0, 0), (np.zeros((N, N)), 100.0, 0),
                          (np.full((N, N), 400.0), -3000.0, N * N),
                          (np.where(diamond(20, 20, 8), 400.0, 0.0), -3000.0, 145)],
                         ids=["ocean", "land", "all floats", "iceberg"])
def test_nothing_to_solve(nunatak, tmp_path, thk, topg, loose):
    write(tmp_path / "n.nc", thk, np.full((N, N), topg))
    nunatak("-i", "n.nc", *QUIET, ranks=3, status=0)
    solve, = solves(tmp_path)
    assert (solve["unknown_cells"], solve["excluded_cells"], solve["steps"]) == (0, loose, 0)
    assert np.all(velocity(tmp_path / "o.nc") == 0.0)


def contrasts():
    random = np.random.default_rng(3)
    chess = (J + I) % 2 == 0
    island, land = diamond(20, 20, 14), np.full((N, N), 200.0)
    shelf = np.where(diamond(20, 20, 8), -200.0, -3000.0)
    return {
        "hardness": (np.where(island, 800.0, 0.0), shelf, {"hardav": np.where(chess, 1e6, 1e10)}),
        "no drag in parts": (np.where(island, 1500.0, 0.0), land,
                             {"tauc": np.where(I > 20, 0.0, 5e4)}),
        "drag in one cell": (np.where(island, 1500.0, 0.0), land,
                             {"tauc": np.where((I == 20) & (J == 20), 5e4, 0.0)}),
        "drag of 1 or 1e9": (np.where(island, 1500.0, 0.0), land,
                             {"tauc": np.where(random.random((N, N)) < 0.3, 1e9, 1.0)}),
        "thin beside thick": (np.where(island, np.where(chess, 0.02, 4000.0), 0.0), land, {}),
        "up to the edges": (np.where(I < 14, 1500.0, 400.0), np.where(I < 14, -200.0, -3000.0), {}),
        "nunataks": (np.where((I % 4 == 0) & (J % 5 == 0), 5.0, 1000.0),
                     np.where((I % 4 == 0) & (J % 5 == 0), 3000.0, 200.0) + 5.0 * I, {}),
        "noise": (np.where(random.random((N, N)) < 0.5, 2000.0 * random.random((N, N)), 0.0),
                  -1500.0 + 2500.0 * random.random((N, N)), {})}


@pytest.mark.parametrize("name", contrasts())
def test_contrasts(nunatak, tmp_path, name):
    thk, topg, more = contrasts()[name]
    write(tmp_path / "c.nc", thk, topg, **more)
    nunatak("-i", "c.nc", *QUIET, ranks=2, status=0)
    solve, = solves(tmp_path)
    assert 0 < solve["steps"] <= 25, solve
    assert np.isfinite(velocity(tmp_path / "o.nc")).all()


@pytest.mark.parametrize("options, most", [
    (("-sliding_q", "0"), 40), (("-sliding_q", "0", "-seed", "5"), 40),
    (("-sliding_q", "1", "-ssa_e", "100"), 15),
    (("-sliding_q", "0.25", "-ssa_e", "0.01"), 20), (("-till_overburden_fraction", "1e-4"), 15),
    (("-sliding_u_threshold", "1e-3", "-till_phi_min", "0.1"), 15)],
                         ids=lambda x: " ".join(x) if isinstance(x, tuple) else None)
def test_legal_extremes(nunatak, tmp_path, options, most):
    """Plastic till once took more than 50 steps, nearly all of them damped, or failed after 100."""
    nunatak("-init", "marine", "-grid_dx", "64km", "-grid_Mz", "5", "-run_steps", "2", "-verbose",
            "false", "-report", "r.json", *options, status=0)
    assert all(solve["steps"] <= most for solve in solves(tmp_path)), [s["steps"]
                                                                       for s in solves(tmp_path)]


@pytest.mark.parametrize(
    "name, options", [("antarctica_32km.nc", ()), ("greenland_16km.nc", ("-sliding_q", "0.25"))])
def test_real_ice_sheets(nunatak, shared, tmp_path, name, options):
    nunatak("-i", shared / "data" / name, "-grid_Mz", "5", "-run_steps", "2", "-verbose", "false",
            "-report", "r.json", *options, ranks=2, status=0)
    history = solves(tmp_path)
    assert (len(history) == 3 and
            all(0 < s["steps"] <= 15 and s["linear_iterations"] <= 100 for s in history)), history


def test_total_melt_of_antarctica(nunatak, shared, tmp_path):
    """With PICO's defaults, at the start."""
    nunatak("-i", shared / "data" / "antarctica_32km.nc", "-stress", "sia", "-grid_Mz", "3",
            "-run_steps", "0", "-verbose", "false", "-report", "r.json", status=0)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["ocean"]["total_melt_Gt_per_year"] == pytest.approx(1975.38, rel=1e-5)


@pytest.mark.parametrize("transport", ["sync", "async:1"])
def test_failing_solve_leaves_its_state(nunatak, tmp_path, transport):
    """The second solve fails: the maps of the first are in their file, the state is in another, and
    -i goes on from it."""
    marine = ("-grid_dx", "64km", "-grid_Mz", "5", "-report", "r.json")
    assert nunatak("-init", "marine", *marine, "-run_years", "1", "-o", "start.nc").status == 0
    run = nunatak("-i", "start.nc", *marine[2:], "-run_steps", "3", "-ssa_max_steps", "1",
                  "-ssa_failed_file", "failed.nc", "-spatial_file", "maps.nc", "-spatial_vars",
                  "thk", "-timeseries_file", "series.nc", "-io_commit_every", "1",
                  "-io_transport", transport, ranks=3, timeout=60)
    assert run.status == 2, run.text
    assert (run.text.count("nunatak: error:") == 1 and
            "DIVERGED_MAX_IT after 1 steps" in run.text), run.text
    assert "PETSC ERROR" not in run.text
    with netCDF4.Dataset(tmp_path / "failed.nc") as failed, netCDF4.Dataset(
        tmp_path / "start.nc") as start:
        residual = np.hypot(failed["ssa_residual_x"][0], failed["ssa_residual_y"][0])
        assert residual.max() > 0.0
        assert not np.array_equal(failed["thk"][:], start["thk"][:])
        assert failed.model_time_seconds > start.model_time_seconds
    with netCDF4.Dataset(tmp_path / "maps.nc") as maps, netCDF4.Dataset(
        tmp_path / "start.nc") as start:
        np.testing.assert_array_equal(maps["thk"][0], start["thk"][0])
    with netCDF4.Dataset(tmp_path / "series.nc") as series:
        assert len(series["time"]) == 1 and series["ice_volume"][0] > 0.0
    nunatak("-i", "failed.nc", *marine[2:], "-run_steps", "1", ranks=2, status=0)
    solves(tmp_path)
