"""Runs with output servers: the files of a run without, errors that come back, and an end in every
case."""
import json
import math
import os
import pathlib
import shlex
import sys
import time

from conftest import assert_same_bits, refused, run_program
from patience import again_if_busy

MARINE = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia", "-dt_max",
          "0.5")
FILES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "1",
         "-spatial_vars", "thk,mask",
         "-io_commit_every", "1", "-snapshot_file", "s.nc", "-snapshot_every", "2", "-o", "end.nc")
WRITTEN = ("series.nc", "maps.nc", "s_00002.000.nc", "end.nc")


def test_the_files_of_a_run_with_servers_are_those_of_a_run_without(nunatak, tmp_path):
    runs = {"sync": (2, ()), "async:1": (3, ("-io_pool", "1MiB")),
            "async:2": (3, ("-io_order", "yxz")),
            "pnetcdf": (2, ("-io_transport", "async:1", "-io_format", "pnetcdf"))}
    for name, (ranks, options) in runs.items():
        (tmp_path / name).mkdir()
        transport = () if name == "sync" or "-io_transport" in options else ("-io_transport", name)
        run = nunatak(*MARINE, "-run_years", 3, "-io_format", "direct", *FILES, *transport,
                      *options, ranks=ranks, cwd=tmp_path / name, status=0)
        for written in WRITTEN:
            assert_same_bits(tmp_path / "sync" / written, tmp_path / name / written)
            if written in ("s_00002.000.nc", "end.nc"):
                assert f"wrote {written}\n" in run.out
        run_program("nunatak-verify", tmp_path / name, status=0, timeout=60)


def test_what_cannot_be_is_refused_before_anything_is_written(nunatak, tmp_path):
    (tmp_path / "options.yaml").write_text("io_transport: async:1\n")
    for options, message in (
            (("-options_file", "options.yaml"), "on the command line), found none"),
            (("-io_transport", "async:1", "-no_such_option"), "unknown option -no_such_option")):
        refused(nunatak(*MARINE, "-run_years", 1, "-o", "end.nc", *options, ranks=2, timeout=60),
                message)
        assert not list(tmp_path.glob("*.nc*"))


def test_a_server_whose_disk_is_full_ends_the_run_with_its_error(nunatak, tmp_path):
    """From the 30th write of a rank on all of its writes fail: of nunatak's files, not of those
    that MPI may have."""
    full = {"LD_PRELOAD": os.environ["NUNATAK_FAULTS"],
            "NUNATAK_FAULT": f"-1 write 30 full {tmp_path} {tmp_path}/struck"}
    begin = time.time()
    run = nunatak(*MARINE, "-run_years", "50", *FILES, "-io_transport", "async:1", "-io_format",
                  "direct", ranks=3, environment=full, timeout=60)
    refused(run, "No space left on device")
    error, = [line for line in run.err.splitlines() if "error:" in line]
    assert any(f"file '{name}'" in error for name in (*WRITTEN, "manifest.jsonl")), error
    assert time.time() - begin < 30
    run_program("nunatak-verify", tmp_path, status=0, timeout=60)


def test_a_server_whose_disk_hangs_is_named_by_one_message(tmp_path):
    """Three ranks have a disk, and the fourth has one that writes a byte a second. (All by one
    program of mpiexec: that of Open MPI 5.0.7 crashes where there are two, `mpiexec -n 1 hostname :
    -n 1 hostname`.)"""
    words = (*MARINE, "-run_years", "3", "-snapshot_file", "s.nc", "-snapshot_every", "1", "-o",
             "end.nc", "-io_format", "direct", "-io_transport", "async:2")
    named = "s_00001.000.nc': output server (rank 3) has been in phase '"

    def run(folder, limit, patience, *slow):
        folder.mkdir()
        of_last = (f'test "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" != 3 || export '
                   f'{shlex.join(slow)}; exec "$@"')
        return run_program("nunatak", *words, "-io_patience", math.ceil(patience), ranks=4,
                           inside=("sh", "-c", of_last, "sh"), cwd=folder, timeout=limit)

    def attempt(n):
        folder, begin = tmp_path / f"{n:.2f}", time.time()
        done = run(folder, 60 * n, 4 * n, f"LD_PRELOAD={os.environ['NUNATAK_SLOW_DISK']}",
                   f"NUNATAK_DISK=1 {folder} {folder}.disk")
        assert done.status != 0
        assert time.time() - begin < 30 * n
        errors = [line for line in done.err.splitlines() if "error:" in line]
        assert len(errors) == 1 and named in errors[0] and "(-io_patience)" in errors[0], done.err
        assert not list(folder.glob("*.nc"))
    again_if_busy(attempt, lambda: run(tmp_path / "healthy", 300, 300), 0.7)


def test_the_report_says_what_servers_did(nunatak, tmp_path):
    """And the time of output, which the budget is held against, is that which the model sees and
    the last wait."""
    begin = time.time()
    run = nunatak(*MARINE, "-run_years", 2, *FILES, "-io_transport", "async:1", "-io_format",
                  "direct", "-io_budget", "0.01%", "-report", "r.json", ranks=3)
    longest = time.time() - begin
    assert run.status == 0, run.text
    report = json.loads((tmp_path / "r.json").read_text())
    output, (group,) = report["output"], report["output"]["servers"]
    assert group["servers"] == 1
    assert 0 < group["idle_fraction"] <= 1
    assert 0 < group["close_to_committed_s"] < longest
    assert 1e6 < group["peak_bytes"] < 4e9
    assert group["written_bytes"] > 1000 and group["written_operations"] > 0
    assert 0 < sum(group["phases"].values()) < longest
    assert group["messages"] > 0 and group["message_bytes"] > 0
    assert 0 < output["drain_seconds"] < longest
    assert report["timers"]["output: drain"]["max"] >= output["drain_seconds"]
    seen = sum(timer["mean"]
               for name, timer in report["timers"].items() if name.startswith("output: "))
    assert abs(output["seconds"] - seen) < 1e-9 and "warning: output took" in run.out
    assert {"open", "define", "post", "wait", "close", "stall"} <= set(output["phases"])


MEBIBYTE = 1 << 20
PEAK_OF_RANK = pathlib.Path(__file__).parents[3] / "perf" / "peak_of_rank.py"


def peaks_on_a_slow_disk(folder, ranks, way, pool, *options):
    """Of each rank of nunatak-io, which writes 39 MB in two records to a disk of 20 MB/s; and what
    it has measured."""
    run_program("nunatak-io", "-workload", "pism:G5km", "-scale", "0.13", "-records", "2",
                "-repeat", "1", "-methods", way, "-io_pool", pool, "-verify", "no", "-o", folder,
                "-report", folder / "written.json", *options, ranks=ranks, status=0,
                inside=(sys.executable, PEAK_OF_RANK, folder / "peak", "env",
                        f"LD_PRELOAD={os.environ['NUNATAK_SLOW_DISK']}",
                        f"NUNATAK_DISK=20e6 {folder}/nunatak-io.files/method {folder / 'disk'}"))
    peaks = {rank: MEBIBYTE * json.loads((folder / f"peak.{rank}.json").read_text())["peak_MiB"]
             for rank in range(ranks)}
    return peaks, json.loads((folder / "written.json").read_text())["methods"][0]


def test_memory_is_bounded_where_the_disk_is_slow(tmp_path):
    """Eleven rings are handed over to a disk of 20 MB/s: the client stalls, and holds its ring; the
    server holds what it may, not what comes."""
    servers = ("-io_transport", "async:1", "-io_buffer", "4MiB")
    alone, _ = peaks_on_a_slow_disk(tmp_path, 1, "null/transport=sync", "3MiB")
    _, null = peaks_on_a_slow_disk(tmp_path, 2, "null", "3MiB", *servers)
    peaks, written = peaks_on_a_slow_disk(tmp_path, 2, "direct", "3MiB", *servers)
    assert written["payload_bytes"] > 11 * 3 * MEBIBYTE
    # it waited for room
    assert written["visible_seconds"]["median"] > (written["payload_bytes"] - 16 * MEBIBYTE) / 20e6
    assert peaks[0] - alone[0] < (3 + 8) * MEBIBYTE, (peaks, alone)
    more = written["servers"][0]["peak_bytes"] - null["servers"][0]["peak_bytes"]
    # the largest variable has more than -io_buffer: 8 MB
    assert more < (2 * 8 + 32) * MEBIBYTE, more
