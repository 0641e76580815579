"""Model time is counted: as many steps as a run has instants, at any year, and the same bits after
a cut. The property test of the clock is tests/miniapp/test_clock.cpp."""
import json
import subprocess

import netCDF4
import pytest
from conftest import assert_same_bits, refused
from numpy.testing import assert_allclose

YEAR = 31556926.0
DOME = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-dt_max", "10")


def steps(run):
    return sum(line.startswith("step ") for line in run.out.splitlines())


def set_year(path, year):
    with netCDF4.Dataset(path, "a") as data:
        data.model_time_seconds = year * YEAR
        data["time"][:] = year * 365.0


@pytest.mark.parametrize("words, expected", [
    (("-run_years", "1", "-spatial_every", "1 month"), 12),
    (("-run_years", "10", "-snapshot_every", "1 month"), 120),
    (("-run_years", "0.9", "-spatial_every", "0.3"), 3),
    (("-run_until", "6", "-spatial_every", "0.3", "-snapshot_every", "0.5"), 28)])
def test_as_many_steps_as_instants(nunatak, words, expected):
    """28: 20 and 12 instants, of which 4 are the same."""
    files = [word for option, name in (("-spatial_every", "-spatial_file"),
                                       ("-snapshot_every", "-snapshot_file")) if option in words
             for word in (name, "m.nc" if name == "-spatial_file" else "s.nc")]
    assert steps(nunatak(*DOME, *words, *files, status=0)) == expected


@pytest.mark.parametrize("year", [-125000, -8300.5, -21000, 9999990])
def test_a_start_at_any_year(nunatak, tmp_path, year):
    nunatak(*DOME, "-o", "start.nc", status=0)
    (tmp_path / "manifest.jsonl").unlink()
    set_year(tmp_path / "start.nc", year)
    run = nunatak("-i", "start.nc", "-dt_max", "10", "-run_until", year + 2, "-spatial_file",
                  "m.nc", "-spatial_every", "1 month", "-snapshot_file", "s",
                  "-snapshot_every", "1", "-o", "end.nc", timeout=60, status=0)
    assert steps(run) == 24
    with netCDF4.Dataset(tmp_path / "m.nc") as data:
        assert_allclose(data["time"][:] / 365, [year + month / 12 for month in range(25)],
                        atol=1e-6, rtol=0)
    snapshots = sorted(float(path.name[2:-3]) for path in tmp_path.glob("s_*.nc"))
    assert snapshots == ([year + 1, year + 2] if year == round(year) else [year + 0.5, year + 1.5])


@pytest.mark.parametrize("ranks", [1, 3])
def test_three_years_and_three_are_six(nunatak, tmp_path, ranks):
    """With an interval that no sum of doubles meets, and by the length or the end of the parts."""
    run = ("-grid_dx", "96km", "-grid_Mz", "5", "-dt_max", "0.2", "-timeseries_file", "series.nc",
           "-spatial_file", "maps.nc", "-spatial_every", "0.3",
           "-spatial_vars", "thk,temp,velsurf_mag", "-snapshot_file", "s", "-snapshot_every", "0.7")
    for name in ("whole", "lengths", "ends"):
        (tmp_path / name).mkdir()
    nunatak("-init", "marine", *run, "-run_years", "6", "-o", "end.nc", cwd=tmp_path / "whole",
            status=0)
    for name, first, second in (("lengths", ("-run_years", "3"), ("-run_years", "3")),
                                ("ends", ("-run_until", "2.1"), ("-run_until", "6"))):
        nunatak("-init", "marine", *run, *first, "-o", "part.nc", cwd=tmp_path / name, ranks=ranks,
                status=0)
        nunatak("-i", "part.nc", *run, *second, "-o", "end.nc", cwd=tmp_path / name, status=0)
        for path in (tmp_path / "whole").glob("*.nc"):
            assert_same_bits(path, tmp_path / name / path.name)


def test_snapshots_that_were_joined(nunatak, tmp_path):
    """The last record counts, for the time, too; attributes are those of the first file."""
    run = (*DOME[2:], "-dt_max", "1")
    nunatak(*DOME[:2], *run, "-run_until", "20", "-snapshot_file", "s", "-snapshot_every", "10",
            status=0)
    subprocess.run(["ncrcat", "-h", "s_00010.000.nc", "s_00020.000.nc", "joined.nc"], cwd=tmp_path,
                   check=True)
    joined = nunatak("-i", "joined.nc", *run[4:], "-run_until", "22", "-o", "a.nc", "-report",
                     "r.json", status=0)
    assert ("the run starts in year 20, that of the last record (attribute model_time_seconds: "
            "year 10)" in joined.out)
    assert json.loads((tmp_path / "r.json").read_text())["years"] == 2.0
    nunatak("-i", "s_00020.000.nc", *run[4:], "-run_until", "22", "-o", "b.nc", status=0)
    assert_same_bits(tmp_path / "a.nc", tmp_path / "b.nc")
    (tmp_path / "manifest.jsonl").unlink()
    with netCDF4.Dataset(tmp_path / "b.nc", "a") as data:
        data.model_time_seconds = 5 * YEAR
    refused(nunatak("-i", "b.nc", "-run_years", "1"), "b.nc: attribute 'model_time_seconds': "
            "expected the year 22 of variable 'time', found year 5")


def test_a_is_a_year(nunatak, tmp_path, island):
    """In UDUNITS it is the are; the log and many files of glaciologists have it for the year."""
    def balance(data):
        data.createVariable("climatic_mass_balance", "f8", ("y", "x")).units = "kg m-2 a-1"
        data["climatic_mass_balance"][:] = 100.0
    for words in (("-run_years", "2a"), ("-run_years", "2 year"), ("-run_years", "24 month")):
        assert "year     2.0000" in nunatak(*DOME, *words, status=0).out
    island(balance)
    nunatak("-i", "island.nc", "-stress", "sia", "-ocean", "none", "-run_steps", "1",
            "-sliding_u_threshold", "90 m a-1", "-o", "o.nc", "-report", "r.json", status=0)
    assert (json.loads((tmp_path / "r.json").read_text())["options"]["sliding_u_threshold"] ==
            pytest.approx(90, rel=1e-6))
    with netCDF4.Dataset(tmp_path / "o.nc") as data:
        assert data["climatic_mass_balance"][0, 0, 0] == pytest.approx(100 / YEAR, rel=1e-6)
    refused(nunatak(*DOME, "-run_years", "2 furlong"), "option -run_years",
            "'furlong' cannot be converted to 'year'")
