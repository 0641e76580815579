"""Defects found by attack: each of these runs once went wrong without a word, hung, or said the wrong thing."""
import json

import netCDF4
import numpy as np
import pytest
from conftest import refused

SIA = ("-stress", "sia", "-grid_Mz", "5")
QUICK = ("-run_years", "0", "-stress", "sia")


@pytest.mark.parametrize("name, text", [("bad.opts", "grid_Mx 21\n-init dome\n"), ("bad.yaml", "init: dome\n  grid_Mx: [21\n")],
                         ids=["PETSc format", "YAML"])
def test_malformed_options_file(nunatak, tmp_path, name, text):
    """PETSc fails on rank 0 only: the others must not wait for it."""
    (tmp_path / name).write_text(text)
    run = nunatak("-options_file", name, ranks=2, timeout=20)
    assert run.status != 0
    assert name in run.text, run.text


def test_restart_keeps_the_physics(nunatak, tmp_path):
    """-i of a file written by nunatak continues that run: also one whose stress balance and rheology were chosen by -init."""
    dome = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5")
    for arguments in ((*dome, "-run_steps", "4", "-o", "four.nc"), (*dome, "-run_steps", "2", "-o", "two.nc"),
                      ("-i", "two.nc", "-run_steps", "2", "-o", "two_and_two.nc")):
        nunatak(*arguments, status=0)
    with netCDF4.Dataset(tmp_path / "four.nc") as a, netCDF4.Dataset(tmp_path / "two_and_two.nc") as b:
        np.testing.assert_array_equal(a["thk"][:], b["thk"][:])


def test_variable_that_the_run_does_not_compute(nunatak, tmp_path):
    """Found out before the first step; nothing is left behind."""
    run = nunatak("-init", "dome", "-grid_Mx", "11", *SIA, "-run_steps", "1", "-spatial_file", "s.nc", "-spatial_vars",
                  "thk,pico_basal_melt_rate")
    refused(run, "-spatial_vars", "pico_basal_melt_rate")
    assert not any(tmp_path.iterdir())


def test_failed_run_leaves_no_empty_report(nunatak, island, tmp_path):
    island()
    run = nunatak("-i", "island.nc", *SIA, "-run_steps", "2", "-climatic_mass_balance", "1e7", "-report", "r.json")
    assert run.status != 0
    assert not (tmp_path / "r.json").exists() or json.loads((tmp_path / "r.json").read_text())


def test_options_without_effect_are_told(nunatak, island):
    island()
    run = nunatak("-i", "island.nc", "-grid_Mz", "3", *QUICK, "-seed", "2", "-o", "first.nc")
    assert run.status == 0 and "option -seed has no effect" in run.out, run.text
    run = nunatak("-i", "first.nc", *QUICK, "-grid_z_spacing", "equal")
    assert run.status == 0 and "option -grid_z_spacing has no effect: first.nc has levels" in run.out, run.text
    run = nunatak("-i", "first.nc", *QUICK, "-grid_z_spacing", "equal", "-grid_Mz", "4")
    assert run.status == 0 and "no effect" not in run.out, run.text


@pytest.mark.parametrize("units, factor", [("kg m-2 year-1", 910.0), ("m/year", 1.0), ("mm day-1", 1000.0 / 365.2422)])
def test_a_mass_balance_of_ice_in_any_unit_of_speed(nunatak, island, tmp_path, units, factor):
    """m/year once could not be converted to kg m-2 s-1; only what began with 'm ' was taken for metres of ice."""
    def change(data):
        v = data.createVariable("climatic_mass_balance", "f8", ("y", "x"))
        v[:] = 0.25 * factor
        v.units = units
    island(change)
    assert nunatak("-i", "island.nc", "-grid_Mz", "3", *QUICK, "-o", "out.nc", ranks=2).status == 0
    with netCDF4.Dataset(tmp_path / "out.nc") as data:
        np.testing.assert_allclose(data["climatic_mass_balance"][:], 0.25 * 910.0 / 31556926.0, rtol=1e-6)
