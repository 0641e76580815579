"""A restarted run continues its series: what a run wrote in parts has the bits of the run that was
not interrupted."""
import os
import signal
import subprocess
import time

import netCDF4
import pytest
from conftest import (assert_same_bits, attributes, bits, refused, run_program, start_nunatak,
                      wait_for_steps)

START = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia")
SERIES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "0.5",
          "-spatial_vars", "thk,mask,velsurf_mag,pico_basal_melt_rate")
GO_ON = ("-i", "part.nc", "-stress", "sia")


def times(path):
    with netCDF4.Dataset(path) as data:
        return list(data["time"][:])


@pytest.mark.parametrize("io_format, servers",
                         [("pnetcdf", 0), ("serial", 0), ("direct", 0), ("direct", 1)])
@pytest.mark.parametrize("ranks", [1, 3])
def test_parts_are_the_whole(nunatak, tmp_path, ranks, io_format, servers):
    """Three years at once; and one and a half, half a year too many that is dropped, and the rest:
    all files, bit for bit."""
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    form = ("-io_format", io_format, "-io_commit_every", "1", "-io_transport",
            f"async:{servers}" if servers else "sync")

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
        whole, parts = attributes(tmp_path / "whole" / name), attributes(tmp_path / "parts" / name)
        if name == "end.nc":  # of a run from another file
            assert whole[""].pop("title") != parts[""].pop("title")
        assert whole == parts
    run_program("nunatak-verify", cwd=tmp_path / "parts", status=0)
    assert times(tmp_path / "parts" / "maps.nc") == pytest.approx([182.5 * n for n in range(7)])
    with netCDF4.Dataset(tmp_path / "parts" / "maps.nc") as data:
        lines = data.history.splitlines()
        assert (len(data.history) % 4096 == 0 and len(lines) == 3 and
                "-run_until 1.5" in lines[0] and "-run_until 3" in lines[2])


@pytest.fixture
def part(nunatak, tmp_path):
    """A run of half a year with its series."""
    nunatak(*START, "-run_until", "0.5", "-o", "part.nc", *SERIES, status=0)
    return tmp_path


def test_the_map_of_a_late_start(nunatak, island, tmp_path):
    # the quotient is rounded
    island(lambda data: data.setncattr("model_time_seconds", 100000004 * (0.1 * 31556926)))
    nunatak("-i", "island.nc", "-stress", "sia", "-ocean", "none", "-spatial_file", "maps.nc",
            "-spatial_every", "0.1", status=0)
    assert len(times(tmp_path / "maps.nc")) == 1


def test_a_run_that_starts_anew_replaces(nunatak, part):
    nunatak(*START, "-run_years", "0.5", *SERIES, status=0)
    assert times(part / "maps.nc") == [0, 182.5]
    nunatak(*GO_ON, "-run_until", "1", *SERIES, "-overwrite", status=0)
    assert times(part / "maps.nc") == [182.5, 365]


def test_what_cannot_be_continued_is_refused(nunatak, part):
    go_on = (*GO_ON, "-run_years", "0.5")
    before = {name: (part / name).read_bytes() for name in ("maps.nc", "series.nc")}
    refused(nunatak(*go_on, "-grid_dx", "192km", *SERIES, ranks=2), "-spatial_file", "maps.nc",
            "-overwrite")
    refused(nunatak(*go_on, *SERIES[:-1], "thk,mask", ranks=2), "maps.nc", "'velsurf_mag'",
            "-overwrite")
    refused(nunatak(*go_on, *SERIES[:-1], "thk,usurf", ranks=2), "maps.nc", "no variable 'usurf'",
            "-overwrite")
    refused(nunatak(*go_on, *SERIES, "-io_order", "zyx", "-spatial_vars", "thk,temp"), "maps.nc",
            "no variable 'z'", "-overwrite")
    assert {name: (part / name).read_bytes() for name in before} == before

    (part / "series.nc").write_text("no NetCDF\n" * 100)
    refused(nunatak(*go_on, *SERIES, ranks=2), "-timeseries_file", "series.nc", "-overwrite")
    (part / "series.nc").unlink()
    nunatak(*go_on, *SERIES, status=0)  # a series that is not there begins
    assert min(times(part / "series.nc")) > 182.5 and times(part / "maps.nc") == [0, 182.5, 365]


def test_a_series_with_a_gap_is_refused(nunatak, part):
    """One that ends before the restart, and one that begins after it."""
    nunatak(*GO_ON, "-run_years", "0.5", "-o", "year1.nc", status=0)
    refused(nunatak("-i", "year1.nc", "-stress", "sia", "-run_years", "0.5", "-timeseries_file",
                    "series.nc"), "it ends in year 0.5", "-overwrite")
    nunatak("-i", "year1.nc", "-stress", "sia", "-run_years", "0.5", "-timeseries_file", "late.nc",
            status=0)
    refused(nunatak(*GO_ON, "-run_years", "0.5", "-timeseries_file", "late.nc"),
            "it begins in year 1.5", "-overwrite")


def kill_at(process, path):
    """As soon as there is a file of that name."""
    for _ in range(600):
        time.sleep(0.05)
        if path.exists():
            break
    process.kill()
    process.communicate()


KILLED = (*START, "-dt_max", "0.1", *SERIES, "-snapshot_file", "snap.nc", "-snapshot_every", "0.5",
          "-verbose", "no")


@pytest.mark.parametrize("io_format, every", [("direct", 1000), ("direct", 0), ("pnetcdf", 10),
                                              ("netcdf4", 10), ("serial", 10), ("hybrid", 10)])
def test_a_run_that_is_killed_goes_on_from_its_snapshot(nunatak, tmp_path, io_format, every):
    """Series are committed or, where the format cannot do that, saved before each snapshot."""
    run = (*KILLED, "-io_format", io_format, "-io_commit_every", every)
    nunatak(*run, "-run_until", "2", "-o", "end.nc", status=0)
    whole = {name: bits(tmp_path / name) for name in ("series.nc", "maps.nc")}
    for path in (*tmp_path.glob("*.nc"), tmp_path / "manifest.jsonl"):
        path.unlink()
    kill_at(start_nunatak(tmp_path, *run, "-run_until", "10000"), tmp_path / "snap_00001.000.nc")
    go_on = ("-i", "snap_00001.000.nc", *run[2:], "-run_until", "2", "-verbose", "yes")
    text = nunatak(*go_on, status=0).out
    assert ("of a run that was killed are recovered" in text) == (every != 1000)
    assert {name: bits(tmp_path / name) for name in whole} == whole
    run_program("nunatak-verify", cwd=tmp_path, status=0)


@pytest.mark.parametrize("words, why", [
    (("-io_layout", "file-per-aggregator", "-io_format", "serial"), "they are in subfiles"),
    (("-io_checksum", "none", "-io_format", "pnetcdf"), "they have no sums")])
def test_a_series_that_a_kill_would_take_is_named(nunatak, tmp_path, words, why):
    run = nunatak(*KILLED, *words, "-run_until", "0.5", "-verbose", "yes", ranks=2, status=0)
    assert ("maps.nc: if this run is killed, no run can continue it with these "
            f"records: {why}" in run.out)
    assert "if this run is killed" not in nunatak(*KILLED, "-run_until", "0.5", "-verbose", "yes",
                                                  status=0).out


def test_a_series_of_another_run_is_refused(nunatak, tmp_path):
    """Same grid, same name, as many records: the last one that would be kept is not that of the
    state."""
    run = ("-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia", *SERIES)
    first = ("-init", "marine", *run, "-run_until", "1")
    nunatak(*first, "-seed", "1", "-o", "a.nc", status=0)
    mine = (tmp_path / "series.nc").read_bytes()
    nunatak(*first, "-seed", "2", "-o", "b.nc", status=0)
    refused(nunatak("-i", "a.nc", *run, "-run_until", "2", ranks=2), "-spatial_file", "maps.nc",
            "its record of year 1 is not the one", "it is another run's", "-overwrite")
    assert mine != (tmp_path / "series.nc").read_bytes()
    # on other ranks
    nunatak("-i", "b.nc", *run, "-run_until", "2", "-o", "c.nc", ranks=3, status=0)
    # another branch takes the series
    nunatak("-i", "b.nc", *run, "-run_until", "1.5", "-dt_max", "0.1", "-o", "d.nc", status=0)
    refused(nunatak("-i", "c.nc", *run, "-run_until", "3"),
            "5 records up to year 2, as the state says, found 4: records are missing")
    nunatak("-i", "d.nc", *run, "-run_until", "2", status=0)
    nunatak("-i", "c.nc", *run, "-run_until", "3", "-overwrite", status=0)


def test_a_record_that_a_later_run_has_added_at_its_start_is_made_again(nunatak, tmp_path):
    run = ("-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia", "-spatial_file", "maps.nc")
    nunatak("-init", "marine", *run, "-spatial_every", "0.4", "-run_until", "1", "-o", "a.nc",
            status=0)
    for _ in range(2):
        text = nunatak("-i", "a.nc", *run, "-spatial_every", "0.5", "-run_until", "1.5",
                       status=0).out
        assert times(tmp_path / "maps.nc") == pytest.approx([0, 146, 292, 365, 547.5])
    assert "maps.nc: 3 records are kept, 2 later ones are computed again" in text


def test_a_series_with_a_hole_is_refused(nunatak, part):
    """Its end is right, and no manifest says what is missing."""
    nunatak(*GO_ON, *SERIES, "-run_until", "2", "-o", "year2.nc", status=0)
    subprocess.run(["ncks", "-O", "-h", "-d", "time,0", "-d", "time,4", "maps.nc", "maps.nc"],
                   cwd=part, check=True)
    (part / "manifest.jsonl").unlink()
    refused(nunatak("-i", "year2.nc", "-stress", "sia", *SERIES, "-run_years", "1"), "maps.nc",
            "expected 5 records up to year 2, as the state says, found 2: records are missing")


@pytest.mark.parametrize(
    "change, what", [("ncks -O -h maps.nc maps.nc", "replaced"), ("mv copy.nc maps.nc", "replaced"),
                     ("rm maps.nc", "removed"),
                     ("dd if=end.nc of=maps.nc conv=notrunc", "another program has written to it"),
                     ("rm maps.nc.lock", "its lock")])
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_series_that_is_replaced_under_a_run(nunatak, tmp_path, change, what, ranks):
    nunatak(*START, "-run_until", "0.5", "-spatial_file", "copy.nc", "-o", "end.nc", status=0)
    process = start_nunatak(tmp_path, *START, "-dt_max", "0.5", "-run_until", "1000000",
                            "-spatial_file", "maps.nc", "-spatial_vars", "thk",
                            "-io_commit_every", "1", "-verbose", "no", ranks=ranks)
    while not (tmp_path / "maps.nc").exists() or (tmp_path / "maps.nc").stat().st_size < 500000:
        time.sleep(0.02)
    subprocess.run(change.split(), cwd=tmp_path, check=True)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 2 and err.count("nunatak: error: file 'maps.nc'") == 1, err
    # between the look and the record
    assert what in err or "another program has written to it" in err, err


def test_subfiles_are_not_continued(nunatak, tmp_path):
    pieces = ("-io_layout", "file-per-aggregator", "-io_format", "serial")
    nunatak(*START, "-run_until", "0.5", "-o", "part.nc", ranks=2, status=0)
    nunatak(*GO_ON, "-run_years", "0.5", *SERIES, *pieces, ranks=2, status=0)
    assert (tmp_path / "maps.nc.0000").exists()
    refused(nunatak(*GO_ON, "-run_years", "0.5", *SERIES, *pieces, ranks=2), "maps.nc",
            "-overwrite")


def test_two_runs_of_one_name(nunatak, tmp_path):
    """A series is its run's from begin to end, a result while it is written."""
    first = start_nunatak(tmp_path, *START, "-run_until", "100000", "-timeseries_file", "s.nc",
                          "-o", "end.nc")
    wait_for_steps(first)
    refused(nunatak(*START, "-run_years", "0.5", "-timeseries_file", "s.nc", ranks=2), "s.nc",
            "another program writes it")
    nunatak(*START, "-run_years", "0.5", "-o", "end.nc", status=0)
    of_second = (tmp_path / "end.nc").read_bytes()
    first.send_signal(signal.SIGUSR1)
    first.communicate(timeout=60)
    assert first.returncode == 85 and (tmp_path / "end.nc").read_bytes() != of_second
    run_program("nunatak-verify", cwd=tmp_path, status=0)
