"""A restarted run continues its series: what a run wrote in parts has the bits of the run that was not interrupted."""
import os
import time

import netCDF4
import pytest
from conftest import assert_same_bits, bits, refused, run_program, start_nunatak

START = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia")
SERIES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "0.5", "-spatial_vars",
          "thk,mask,velsurf_mag,pico_basal_melt_rate")
GO_ON = ("-i", "part.nc", "-stress", "sia")


def times(path):
    with netCDF4.Dataset(path) as data:
        return list(data["time"][:])


@pytest.mark.parametrize("io_format, servers", [("pnetcdf", 0), ("serial", 0), ("direct", 0), ("direct", 1)])
@pytest.mark.parametrize("ranks", [1, 3])
def test_parts_are_the_whole(nunatak, tmp_path, ranks, io_format, servers):
    """Three years at once; and one and a half, half a year too many that is dropped, and the rest: all files, bit for bit."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    form = ("-io_format", io_format, "-io_commit_every", "1", "-io_transport", f"async:{servers}" if servers else "sync")

    def run(folder, *options, n=ranks):
        return nunatak(*options, *SERIES, *form, ranks=n + servers, cwd=tmp_path / folder, status=0)
    run("whole", *START, "-run_until", "3", "-o", "end.nc")
    run("parts", *START, "-run_until", "1.5", "-o", "part.nc")
    run("parts", *GO_ON, "-run_until", "2", "-o", "too_far.nc")
    before = os.stat(tmp_path / "parts" / "maps.nc").st_ino
    text = run("parts", *GO_ON, "-run_until", "3", "-o", "end.nc", n=4 - ranks).out
    assert ("maps.nc: continued in place" in text) == (io_format == "direct")
    assert (os.stat(tmp_path / "parts" / "maps.nc").st_ino == before) == (io_format == "direct")
    assert "maps.nc: 4 records are kept, 1 later ones are computed again" in text
    for name in ("series.nc", "maps.nc", "end.nc"):
        assert_same_bits(tmp_path / "whole" / name, tmp_path / "parts" / name)
    run_program("nunatak-verify", cwd=tmp_path / "parts", status=0)
    assert times(tmp_path / "parts" / "maps.nc") == pytest.approx([182.5 * n for n in range(7)])
    with netCDF4.Dataset(tmp_path / "parts" / "maps.nc") as data:
        lines = data.history.splitlines()
        assert len(data.history) % 4096 == 0 and len(lines) == 3 and "-run_until 1.5" in lines[0] and "-run_until 3" in lines[2]


@pytest.fixture
def part(nunatak, tmp_path):
    """A run of half a year with its series."""
    nunatak(*START, "-run_until", "0.5", "-o", "part.nc", *SERIES, status=0)
    return tmp_path


def test_the_map_of_a_late_start(nunatak, island, tmp_path):
    island(lambda data: data.setncattr("model_time_seconds", 100000004 * (0.1 * 31556926)))  # the quotient is rounded
    nunatak("-i", "island.nc", "-stress", "sia", "-ocean", "none", "-spatial_file", "maps.nc", "-spatial_every", "0.1", status=0)
    assert len(times(tmp_path / "maps.nc")) == 1


def test_a_run_that_starts_anew_replaces(nunatak, part):
    nunatak(*START, "-run_years", "0.5", *SERIES, status=0)
    assert times(part / "maps.nc") == [0, 182.5]
    nunatak(*GO_ON, "-run_until", "1", *SERIES, "-overwrite", status=0)
    assert times(part / "maps.nc") == [182.5, 365]


def test_what_cannot_be_continued_is_refused(nunatak, part):
    go_on = (*GO_ON, "-run_years", "0.5")
    before = {name: (part / name).read_bytes() for name in ("maps.nc", "series.nc")}
    refused(nunatak(*go_on, "-grid_dx", "192km", *SERIES, ranks=2), "-spatial_file", "maps.nc", "-overwrite")
    refused(nunatak(*go_on, *SERIES[:-1], "thk,mask", ranks=2), "maps.nc", "'velsurf_mag'", "-overwrite")
    refused(nunatak(*go_on, *SERIES[:-1], "thk,usurf", ranks=2), "maps.nc", "no variable 'usurf'", "-overwrite")
    refused(nunatak(*go_on, *SERIES, "-io_order", "zyx", "-spatial_vars", "thk,temp"), "maps.nc", "no variable 'z'", "-overwrite")
    assert {name: (part / name).read_bytes() for name in before} == before

    (part / "series.nc").write_text("no NetCDF\n" * 100)
    refused(nunatak(*go_on, *SERIES, ranks=2), "-timeseries_file", "series.nc", "-overwrite")
    (part / "series.nc").unlink()
    nunatak(*go_on, *SERIES, status=0)  # a series that is not there begins
    assert min(times(part / "series.nc")) > 182.5 and times(part / "maps.nc") == [0, 182.5, 365]


def test_a_series_with_a_gap_is_refused(nunatak, part):
    """One that ends before the restart, and one that begins after it."""
    nunatak(*GO_ON, "-run_years", "0.5", "-o", "year1.nc", status=0)
    refused(nunatak("-i", "year1.nc", "-stress", "sia", "-run_years", "0.5", "-timeseries_file", "series.nc"), "it ends in year 0.5", "-overwrite")
    nunatak("-i", "year1.nc", "-stress", "sia", "-run_years", "0.5", "-timeseries_file", "late.nc", status=0)
    refused(nunatak(*GO_ON, "-run_years", "0.5", "-timeseries_file", "late.nc"), "it begins in year 1.5", "-overwrite")


@pytest.mark.parametrize("io_format", ["pnetcdf", "direct"])
def test_a_run_that_is_killed_goes_on_from_its_snapshot(nunatak, tmp_path, io_format):
    """Series of direct are committed before each snapshot, however seldom else. With other formats they are lost, and the restart
    says so."""
    run = (*START, "-dt_max", "0.1", *SERIES, "-snapshot_file", "snap.nc", "-snapshot_every", "0.5", "-io_commit_every", "1000",
           "-io_format", io_format)
    nunatak(*run, "-run_until", "2", "-o", "end.nc", status=0)
    whole = bits(tmp_path / "series.nc")
    for name in tmp_path.glob("*.nc"):
        name.unlink()
    process = start_nunatak(tmp_path, *run, "-run_until", "10000", "-verbose", "false")
    for _ in range(600):
        time.sleep(0.1)
        if (tmp_path / "snap_00001.000.nc").exists():
            break
    process.kill()
    process.communicate()
    go_on = ("-i", "snap_00001.000.nc", "-stress", "sia", "-dt_max", "0.1", *SERIES, "-run_until", "2")
    if io_format != "direct":
        refused(nunatak(*go_on), "maps.nc.tmp': the run that wrote them was killed before they were committed", "-overwrite")
        go_on += ("-overwrite",)
    nunatak(*go_on, status=0)
    if io_format == "direct":
        assert bits(tmp_path / "series.nc") == whole
    else:
        assert min(times(tmp_path / "series.nc")) > 365


def test_subfiles_are_not_continued(nunatak, tmp_path):
    pieces = ("-io_layout", "file-per-aggregator", "-io_format", "serial")
    nunatak(*START, "-run_until", "0.5", "-o", "part.nc", ranks=2, status=0)
    nunatak(*GO_ON, "-run_years", "0.5", *SERIES, *pieces, ranks=2, status=0)
    assert (tmp_path / "maps.nc.0000").exists()
    refused(nunatak(*GO_ON, "-run_years", "0.5", *SERIES, *pieces, ranks=2), "maps.nc", "-overwrite")
