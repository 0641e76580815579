"""The limit on the wall and the signals of a batch system: the run ends in order, with status 85,
and goes on bit for bit."""
import json
import os
import re
import signal
import subprocess
import time

import netCDF4
import pytest
from conftest import assert_same_bits, ranks_of, slow_disk, start_nunatak, wait_for_steps

MARINE = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-stress", "sia", "-dt_max",
          "0.2")
SERIES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "1",
          "-spatial_vars", "thk,mask")
ENDED_EARLY = 85


def year(path):
    with netCDF4.Dataset(path) as data:
        return data.model_time_seconds / 31556926.0


@pytest.mark.parametrize("ranks, later, how", [
    *[(ranks, later, how) for ranks, later in ((1, 2), (2, 4), (4, 1))
      for how in (signal.SIGTERM, signal.SIGUSR1)], (2, 1, signal.SIGUSR2), (1, 1, signal.SIGXCPU)])
def test_signal(nunatak, tmp_path, ranks, later, how):
    """The last rank alone gets the signal: all end, and the rest of the run has the bits of an
    uninterrupted run."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    process = start_nunatak(parts, *MARINE, "-run_until", "100000", *SERIES, "-o", "state.nc",
                            "-report", "r.json",
                            ranks=None if ranks == 1 else ranks, stderr=subprocess.STDOUT)
    lines = wait_for_steps(process, 3)
    os.kill(process.pid if ranks == 1 else ranks_of(process)[ranks - 1], how)
    text = lines + process.communicate(timeout=60)[0]
    assert process.returncode == ENDED_EARLY, text
    assert (text.count("nunatak: ended early") == 1 and
            f"({how.name}): -i state.nc continues" in text), text
    assert json.loads((parts / "r.json").read_text())["ended_early"] == how.name
    assert not list(parts.glob("*.tmp"))
    at = year(parts / "state.nc")
    assert 0.3 < at < 1000
    until = str(round(at + 1.5))
    nunatak(*MARINE, "-run_until", until, *SERIES, "-o", "end.nc", ranks=ranks, cwd=whole, status=0)
    nunatak("-i", "state.nc", "-stress", "sia", "-dt_max", "0.2", "-run_until", until, *SERIES,
            "-o", "end.nc", ranks=later, cwd=parts, status=0)
    for name in ("series.nc", "maps.nc", "end.nc"):
        assert_same_bits(whole / name, parts / name)


@pytest.mark.parametrize("signals", [(signal.SIGSTOP, signal.SIGCONT),
                                     (signal.SIGTSTP, signal.SIGCONT), (signal.SIGCONT,)],
                         ids=["STOP CONT", "TSTP CONT", "CONT"])
def test_a_run_that_is_continued_goes_on(tmp_path, signals):
    """mpiexec passes SIGCONT to its ranks, as it does after SIGTERM."""
    process = start_nunatak(tmp_path, *MARINE, "-run_until", "100000", "-o", "state.nc", "-report",
                            "r.json", ranks=2, stderr=subprocess.STDOUT)
    wait_for_steps(process)
    for one in signals:
        os.kill(process.pid, one)
        time.sleep(0.5)
    pipes = 3000  # steps: more than what lies in pipes
    wait_for_steps(process, pipes)
    assert process.poll() is None
    os.kill(ranks_of(process)[0], signal.SIGUSR1)
    assert "(SIGUSR1): -i state.nc continues" in process.communicate(timeout=60)[0]
    assert process.returncode == ENDED_EARLY


def test_a_run_whose_lines_nobody_reads_saves_its_state(tmp_path):
    """Its output lies in a full pipe."""
    process = start_nunatak(tmp_path, *MARINE, "-run_until", "100000", "-o", "state.nc",
                            stderr=subprocess.DEVNULL)
    sizes = []
    while len(sizes) < 3 or len(set(sizes[-3:])) > 1:  # of the lines written, while it waits
        assert process.poll() is None
        time.sleep(0.2)
        sizes.append(int(re.search(r"wchar: (\d+)", open(f"/proc/{process.pid}/io").read())[1]))
    process.terminate()
    assert process.wait(timeout=60) == ENDED_EARLY
    assert (tmp_path / "state.nc").exists()


def test_limit(nunatak, tmp_path):
    """In time, with a state; the rest of the run has the bits of an uninterrupted one."""
    (tmp_path / "whole").mkdir()
    begin = time.time()
    run = nunatak(*MARINE, "-run_until", "100000", "-run_wall", "4s", *SERIES, "-o", "state.nc",
                  ranks=2)
    assert time.time() - begin < 30
    assert run.status == ENDED_EARLY, run.text
    assert "(the limit -run_wall): -i state.nc continues" in run.err, run.text
    assert 0.2 <= year(tmp_path / "state.nc") < 100000
    until = str(round(year(tmp_path / "state.nc") + 1.5))
    nunatak("-i", "state.nc", "-stress", "sia", "-dt_max", "0.2", "-run_until", until, *SERIES,
            "-o", "end.nc", ranks=1, status=0)
    nunatak(*MARINE, "-run_until", until, *SERIES, "-o", "end.nc", ranks=2, cwd=tmp_path / "whole",
            status=0)
    for name in ("series.nc", "maps.nc", "end.nc"):
        assert_same_bits(tmp_path / "whole" / name, tmp_path / name)


def test_limit_leaves_time_for_a_snapshot_without_a_result(nunatak, tmp_path):
    run = nunatak(*MARINE, "-run_until", "100000", "-run_wall", "1s", "-snapshot_file", "s.nc",
                  "-snapshot_every", "50000",
                  "-timeseries_file", "ts.nc", "-io_commit_every", "1000000")
    assert run.status == ENDED_EARLY, run.text
    state, = tmp_path.glob("s_*.nc")
    assert f"-i {state.name} continues" in run.err


@pytest.mark.skipif("NUNATAK_SLOW_DISK" not in os.environ,
                    reason="a sanitizer's build preloads nothing")
def test_limit_leaves_time_for_a_state_that_a_server_writes(nunatak, tmp_path):
    """Each write of its disk takes 0.3 s: longer than what is kept of the limit anyway."""
    run = nunatak(*MARINE, "-run_until", "100000", "-run_wall", "20s", "-snapshot_file", "s.nc",
                  "-snapshot_every", "500", "-o", "state.nc", "-io_transport", "async:1", "-report",
                  "r.json", ranks=2, environment=slow_disk(tmp_path, 0.3), timeout=120)
    assert run.status == ENDED_EARLY, run.text
    assert (list(tmp_path.glob("s_*.nc")) and
            json.loads((tmp_path / "r.json").read_text())["wall_seconds"] < 20)


def test_signal_without_a_place_for_the_state(tmp_path):
    process = start_nunatak(tmp_path, *MARINE, "-run_until", "100000")
    wait_for_steps(process)
    process.terminate()
    assert "no file to continue from" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


def test_a_run_that_is_done_has_status_0(nunatak, tmp_path):
    """-run_until of a run that has come there already: its result is written again."""
    assert nunatak(*MARINE, "-run_until", "0.4", "-run_wall", "1h", "-o", "state.nc").status == 0
    nunatak("-i", "state.nc", "-stress", "sia", "-run_until", "0.4", "-run_wall", "1h", "-o",
            "state.nc", status=0)
    run = nunatak("-i", "state.nc", "-stress", "sia", "-run_until", "0.2", "-o", "state.nc")
    assert run.status == 2 and "-run_until" in run.err


@pytest.mark.parametrize("text, seconds", [("3h50m", 13800), ("90min", 5400), ("3:50:00", 13800),
                                           ("50:30", 3030), ("90", 5400), ("1-12", 129600),
                                           ("1-12:30", 131400), ("1.5 h", 5400), ("2d 1h", 176400),
                                           ("0.5 hour", 1800), ("1e3 s", 1000)])
def test_ways_to_write_a_time(nunatak, tmp_path, text, seconds):
    nunatak("-init", "dome", "-grid_Mx", "11", "-grid_Mz", "5", "-run_wall", text, "-o", "o.nc",
            "-report", "r.json", status=0)
    assert json.loads((tmp_path / "r.json").read_text())["options"]["run_wall"] == f"{seconds}s"


@pytest.mark.parametrize("text", ["0", "soon", "-5h", "3h50", "1:2:3:4", "5 kg", "nan", "1e400 s"])
def test_times_that_are_none(nunatak, text):
    run = nunatak("-init", "dome", "-grid_Mx", "11", "-run_wall", text, "-o", "o.nc")
    assert run.status == 2 and "option -run_wall" in run.err, run.text
