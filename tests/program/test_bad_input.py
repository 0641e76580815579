"""Bad input and bad options: a message that names the culprit, a non-zero status, no hang, no file left under a final name."""
import os

import numpy as np
import pytest

QUICK = ("-run_years", "0", "-stress", "sia")


def refused(run, *words):
    """The run failed, said every word, said it once, and left no stack trace."""
    assert run.status != 0, run.text
    for word in words:
        assert word in run.text, f"expected {word!r} in:\n{run.text}"
    assert "PETSC ERROR" not in run.text, run.text
    assert run.text.count("nunatak: error:") == 1, run.text


OPTIONS = [
    (("-grid_Nx", "30"), ("unknown option -grid_Nx", "-grid_Mx")),
    (("-nonsense",), ("unknown option -nonsense",)),
    (("-run_years", "ten"), ("-run_years", "number", "'ten'")),
    (("-run_years", "-3"), ("-run_years", "at least 0", "-3")),
    (("-grid_Mx", "30.5"), ("-grid_Mx", "whole number", "30.5")),
    (("-grid_dx", "16parsnip"), ("-grid_dx", "parsnip")),
    (("-grid_dx", "16kg"), ("-grid_dx", "kg", "m")),
    (("-run_years",), ("-run_years", "found none")),
    (("-io_format", "hdf4"), ("-io_format", "pnetcdf", "hdf4")),
    (("-stress", "full"), ("-stress", "ssa+sia", "full")),
    (("-pico_boxes", "0"), ("-pico_boxes", "at least 1")),
    (("-pico_continental_shelf_depth", "800"), ("-pico_continental_shelf_depth", "at most 0")),
    (("-energy", "maybe"), ("-energy", "auto|on|off", "maybe")),
    (("result.nc",), ("result.nc", "belongs to no option")),
    (("-options_file", "missing.yaml"), ("-options_file", "missing.yaml")),
    (("-snapshot_file", "s"), ("-snapshot_every",)),
    (("-spatial_file", "s.nc", "-spatial_vars", "thk,speed"), ("speed", "unknown variable")),
    (("-i", "a.nc", "-init", "dome"), ("-i and -init",)),
]


@pytest.mark.parametrize("options, words", OPTIONS, ids=[" ".join(o[0]) for o in OPTIONS])
def test_bad_option(nunatak, options, words):
    refused(nunatak("-init", "dome", "-grid_Mx", "21", *QUICK, *options, ranks=2) if "-i" not in options else
            nunatak(*options, ranks=2), *words)


def test_unknown_solver_option(nunatak):
    refused(nunatak("-init", "stream", "-grid_My", "31", "-run_years", "0", "-ssa_ksp_typ", "cg", ranks=2), "-ssa_ksp_typ")


def test_missing_file(nunatak):
    refused(nunatak("-i", "nowhere.nc", ranks=2), "nowhere.nc")


def test_not_netcdf(nunatak, tmp_path):
    (tmp_path / "text.nc").write_text("this is not NetCDF\n" * 100)
    refused(nunatak("-i", "text.nc", ranks=2), "text.nc", "NetCDF")


@pytest.mark.parametrize("missing", ["thk", "topg", "x"])
def test_missing_variable(nunatak, island, missing):
    island(lambda d: d.renameVariable(missing, "other"))
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", f"'{missing}'", "missing")


def test_missing_dimension(nunatak, island):
    def change(data):
        data.renameVariable("thk", "old")
        v = data.createVariable("thk", "f8", ("x",))
        v.units = "m"
        v[:] = 1.0
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", "'thk'", "(y, x)", "(x)")


def test_transposed(nunatak, island):
    def change(data):
        data.renameVariable("thk", "old")
        v = data.createVariable("thk", "f8", ("x", "y"))
        v.units = "m"
        v[:] = 1.0
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "'thk'", "(y, x)", "(x, y)")


@pytest.mark.parametrize("units", ["kg", "bananas"])
def test_wrong_units(nunatak, island, units):
    island(lambda d: d["thk"].setncattr("units", units))
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", "'thk'", units)


@pytest.mark.parametrize("where", [(0, 0), (20, 20)], ids=["first rank", "last rank"])
def test_nan(nunatak, island, where):
    def change(data):
        data["topg"][where] = np.nan
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", "'topg'", "NaN", "1 points")


def test_negative_thickness(nunatak, island):
    def change(data):
        data["thk"][3, 4] = -1.0
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", "'thk'", "negative", "1 points")


def test_irregular_coordinate(nunatak, island):
    def change(data):
        data["x"][5] += 5e3
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", "'x'", "equally spaced")


@pytest.mark.parametrize("file_format", ["NETCDF3_CLASSIC", "NETCDF4"])
def test_truncated_file(nunatak, island, file_format):
    path = island(file_format=file_format)
    size = os.path.getsize(path)
    os.truncate(path, size - size // 3)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc")


def test_grid_too_small_for_the_ranks(nunatak):
    refused(nunatak("-init", "dome", *QUICK, "-grid_px", "3", ranks=4), "-grid_px", "product of 4 ranks", "3 x 1")
    refused(nunatak("-init", "dome", *QUICK, "-da_gird_x", "30"), "unknown option -da_gird_x", "DMDA")
    refused(nunatak("-init", "dome", "-grid_Mx", "3", "-grid_My", "3", *QUICK, "-grid_px", "4", "-grid_py", "1", ranks=4), "grid too small", "3 x 3")


@pytest.mark.parametrize("io_format", ["serial", "pnetcdf"])
@pytest.mark.parametrize("option", ["-o", "-timeseries_file", "-spatial_file", "-report"])
def test_unwritable_output(nunatak, tmp_path, io_format, option):
    run = nunatak("-init", "dome", "-grid_Mx", "21", *QUICK, "-io_format", io_format, option, "no/such/folder/out.nc", ranks=2)
    refused(run, "no/such/folder/out.nc")
    assert not any(tmp_path.iterdir())


def test_ice_thicker_than_the_column(nunatak):
    refused(nunatak("-init", "dome", "-grid_Mx", "21", *QUICK, "-grid_Lz", "1000", ranks=2), "-grid_Lz", "1000")


def test_help_lists_every_option_once(nunatak):
    run = nunatak("-help", ranks=2)
    assert run.status == 0
    names = [line.split()[0] for line in run.out.splitlines() if line.startswith("  -")]
    assert len(names) == len(set(names)) and len(names) > 40
    for name in ("-i", "-grid_dx", "-pico_gamma_T", "-io_format", "-report"):
        assert name in names
