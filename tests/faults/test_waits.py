"""Nothing waits without an end: calls on files that hang, files that are none, signals; and what is
slow is not ended.

Environment: as for tests/program, NUNATAK_FAULTS (faults.cpp) and NUNATAK_SLOW_DISK
(slow_disk.cpp).
"""
import fcntl
import os
import pathlib
import signal
import struct
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from conftest import (nunatak, ranks_of, run_program, slow_disk, start_nunatak,  # noqa: E402, F401
                      wait_for_file, wait_for_steps)

MARINE = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia", "-dt_max",
          "0.5")
LONGEST = 60  # s, of a run that is ended; on idle cores most take 5


def failed(run, *words):
    """Where mpiexec takes longer than the patience to end the ranks, several say so."""
    assert run.status != 0, run.text
    errors = [line for line in run.err.splitlines() if "error:" in line]
    assert errors and all(word in line for word in words for line in errors), run.text


def hanging(folder, call, k, rank=0):
    return {"LD_PRELOAD": os.environ["NUNATAK_FAULTS"],
            "NUNATAK_FAULT": f"{rank} {call} {k} hang {folder} {folder}.struck"}


@pytest.mark.parametrize("method", ["each", "serial", "parallel", "direct"])
def test_an_input_that_hangs_is_named(nunatak, tmp_path, method):
    source = tmp_path / "in"
    source.mkdir()
    nunatak(*MARINE, "-o", source / "x.nc", status=0)
    options = ("-i", source / "x.nc", "-i_verify", "no", "-io_read", method, "-run_steps", "1",
               "-o", "end.nc", "-io_patience", "2")
    for k in (1, 3, 9):
        run = nunatak(*options, ranks=2, environment=hanging(source, "read", k), timeout=LONGEST)
        if pathlib.Path(f"{source}.struck").exists():
            failed(run, "in/x.nc'", "-io_patience")
            pathlib.Path(f"{source}.struck").unlink()
        else:
            assert run.status == 0 and k > 1, run.text


def test_options_that_hang_are_named(nunatak, tmp_path):
    """With the patience of the command line, though not all of it has been read."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "o.opt").write_text("-init dome\n-grid_Mx 11\n-run_steps 1\n")
    run = nunatak("-options_file", folder / "o.opt", "-io_patience", "2", ranks=2,
                  environment=hanging(folder, "read", 1), timeout=LONGEST)
    failed(run, "in/o.opt'", "in phase 'read'", "-io_patience")


def test_a_library_that_aborts_is_named(tmp_path):
    """Here by a signal; PnetCDF and C++ do so where memory fails."""
    process = start_nunatak(tmp_path, *MARINE, "-run_steps", "1", "-o", "end.nc",
                            environment=hanging(tmp_path, "fsync", 1))
    wait_for_file(process, f"{tmp_path}.struck")
    os.kill(process.pid, signal.SIGABRT)
    assert ("error: rank 0: a library ends the run in phase 'fsync' of file "
            "'end.nc'" in process.communicate(timeout=LONGEST)[1])
    assert process.returncode == -signal.SIGABRT


@pytest.mark.parametrize("call", ["open", "unlink", "fsync", "rename"])
def test_no_call_of_the_output_is_unwatched(nunatak, tmp_path, call):
    """The name is taken, the manifest read and written, the lock removed, the report written."""
    struck = pathlib.Path(f"{tmp_path}/out.struck")
    for k in range(1, 40, 3):
        folder = tmp_path / f"out{k}"
        folder.mkdir()
        struck.unlink(missing_ok=True)
        environment = {**hanging(folder, call, k),
                       "NUNATAK_FAULT": f"0 {call} {k} hang {folder} {struck}"}
        words = (*MARINE, "-run_steps", "1", "-o", "end.nc", "-timeseries_file", "s.nc", "-report",
                 "r.json")
        run = nunatak(*words, "-io_patience", "1", ranks=2, cwd=folder, environment=environment,
                      timeout=LONGEST)
        if not struck.exists():  # there are fewer calls; a busy disk may take longer than 1 s
            assert k > 1 and (run.status == 0 or "without progress" in run.text), run.text
            nunatak(*words, "-overwrite", ranks=2, cwd=folder, status=0, timeout=LONGEST)
            return
        failed(run, "-io_patience")


def test_what_is_no_regular_file_is_refused_by_name(nunatak, tmp_path):
    for name, options, what in (
        ("end.nc.lock", MARINE, "': expected a regular file"), ("in.nc", ("-i", "in.nc"), ""),
        ("manifest.jsonl", MARINE, "': expected the manifest, a regular file"),
        ("r.json", (*MARINE, "-report", "r.json"), "")):
        (tmp_path / "manifest.jsonl").unlink(missing_ok=True)
        os.mkfifo(tmp_path / name)
        failed(nunatak(*options, "-o", "end.nc", ranks=2, timeout=LONGEST), name + what)
        if name == "manifest.jsonl":
            assert "regular file" in run_program("nunatak-verify", cwd=tmp_path, status=2,
                                                 timeout=LONGEST).text
        (tmp_path / name).unlink()
    (tmp_path / "manifest.jsonl").unlink(missing_ok=True)
    (tmp_path / "manifest.jsonl").symlink_to("/dev/zero")
    failed(nunatak(*MARINE, "-o", "end.nc", timeout=LONGEST), "manifest.jsonl")
    (tmp_path / "manifest.jsonl").unlink()
    for name in ("end.nc.tmp", "r.json.tmp"):  # what lies there is replaced
        os.mkfifo(tmp_path / name)
        nunatak(*MARINE, "-o", "end.nc", "-report", "r.json", status=0)


def test_a_manifest_that_another_process_locks_ends_the_run(nunatak, tmp_path):
    (tmp_path / "manifest.jsonl").write_text("")
    with open(tmp_path / "manifest.jsonl", "r+") as manifest:
        fcntl.fcntl(manifest, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
        failed(nunatak(*MARINE, "-o", "end.nc", "-io_patience", "2", ranks=2, timeout=LONGEST),
               "end.nc'", "-io_patience")


@pytest.mark.parametrize("options, ranks",
                         [((), 2), (("-io_format", "serial"), 2), (("-io_format", "pnetcdf"), 2),
                          (("-io_transport", "async:1"), 3)])
def test_a_slow_disk_is_not_one_that_hangs(nunatak, tmp_path, options, ranks):
    """Each write takes 0.4 s, and all of them longer than the patience."""
    begin = time.time()
    nunatak(*MARINE, "-grid_dx", "48km", "-o", "end.nc", "-io_patience", "2", *options, ranks=ranks,
            environment=slow_disk(tmp_path, 0.4), timeout=300, status=0)
    assert time.time() - begin > 2 and pathlib.Path(f"{tmp_path}.disk").exists()
    run_program("nunatak-verify", cwd=tmp_path, status=0)


def test_a_run_that_was_suspended_goes_on(tmp_path):
    """In the middle of a write, for longer than the patience."""
    process = start_nunatak(tmp_path, *MARINE, "-run_steps", "1", "-o", "end.nc", "-io_patience",
                            "2", environment=slow_disk(tmp_path, 0.4))
    wait_for_file(process, f"{tmp_path}.disk")
    process.send_signal(signal.SIGSTOP)
    time.sleep(5)
    process.send_signal(signal.SIGCONT)
    err = process.communicate(timeout=LONGEST)[1]
    assert process.returncode == 0, err


def test_what_a_thread_would_write_is_written_where_none_is_left(tmp_path):
    """All are refused: the watchdog's, a round's behind which the next one moves, a server's."""
    struck = tmp_path.with_name(tmp_path.name + ".struck")
    environment = {"LD_PRELOAD": os.environ["NUNATAK_FAULTS"],
                   "NUNATAK_FAULT": f"-1 thread 1 full {tmp_path} {struck}"}
    # read again and compared
    for method in (("direct/zslab:1/ranks_per_node=1/buffer=64KiB",),
                   ("direct", "-io_transport", "async:1")):
        run_program("nunatak-io", "-workload", "pism:G5km", "-scale", "0.08", "-variables", "8",
                    "-repeat", "1", "-methods", *method,
                    ranks=3, environment=environment, cwd=tmp_path, status=0)
        struck.unlink()  # it has happened


def test_a_snapshot_waits_for_the_series(tmp_path):
    """The server (rank 2) hangs when it commits the first record: no snapshot is there that the
    series lack."""
    process = start_nunatak(tmp_path, *MARINE, "-run_years", "3", "-timeseries_file", "series.nc",
                            "-io_commit_every", "1", "-snapshot_file", "s.nc", "-snapshot_every",
                            "1", "-io_transport", "async:1", "-io_patience", "3", ranks=3,
                            environment=hanging(tmp_path, "fsync", 1, rank=2))
    err = process.communicate(timeout=LONGEST)[1]
    assert process.returncode != 0 and "series.nc': output server (rank 2)" in err, err
    assert not list(tmp_path.glob("s_*.nc"))


def test_a_second_sigterm_ends_a_run_that_hangs(tmp_path):
    process = start_nunatak(tmp_path, *MARINE, "-run_steps", "1", "-o", "end.nc", ranks=2,
                            environment=hanging(tmp_path, "fsync", 1))
    wait_for_file(process, f"{tmp_path}.struck")
    rank = ranks_of(process)[0]
    os.kill(rank, signal.SIGTERM)
    time.sleep(3)
    assert process.poll() is None
    os.kill(rank, signal.SIGTERM)
    assert "a second SIGTERM ends the run" in process.communicate(timeout=LONGEST)[1]
    assert process.returncode != 0


@pytest.mark.parametrize("options, stopped, what", [
    ((), 1, "rank 0 was asked to end by a signal"),
    (("-timeseries_file", "s.nc", "-io_transport", "async:1"), 2, "s.nc': rank 0 has been")])
def test_a_run_in_which_nothing_advances_is_ended(tmp_path, options, stopped, what):
    process = start_nunatak(tmp_path, *MARINE, "-run_years", "100000", "-io_patience", "2", "-o",
                            "end.nc", *options, ranks=stopped + 1)
    wait_for_steps(process)
    ranks = ranks_of(process)
    os.kill(ranks[stopped], signal.SIGSTOP)
    if not options:
        os.kill(ranks[0], signal.SIGTERM)
    err = process.communicate(timeout=LONGEST)[1]
    assert process.returncode != 0 and what in err, err


@pytest.mark.parametrize("which", ["server", "mpiexec"])
def test_a_signal_to_any_process_saves_the_state(tmp_path, which):
    """mpiexec sends SIGTERM to its ranks after some seconds (odls_base_sigkill_timeout), and
    SIGKILL after as many more."""
    patience = 10
    process = start_nunatak(tmp_path, *MARINE, "-run_years", "100000", "-timeseries_file", "s.nc",
                            "-io_transport", "async:1", "-o", "end.nc",
                            ranks=4, environment={f"{mca}_odls_base_sigkill_timeout": str(patience)
                                                  for mca in ("OMPI_MCA", "PRTE_MCA")})
    wait_for_steps(process)
    begin = time.time()
    os.kill(process.pid if which == "mpiexec" else ranks_of(process)[3], signal.SIGTERM)
    while not (tmp_path / "end.nc").exists() and time.time() < begin + 2 * patience - 1:
        time.sleep(0.05)
    assert (tmp_path / "end.nc").exists() and time.time() < begin + 2 * patience - 1
    if which == "mpiexec":
        process.kill()
        process.communicate()
        return
    # ranks may stay until mpiexec kills them
    out, err = process.communicate(timeout=2 * patience + LONGEST)
    assert process.returncode == 85 and "(SIGTERM): -i end.nc continues" in err, err
    run_program("nunatak-verify", cwd=tmp_path, status=0)
