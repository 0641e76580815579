"""One of the ranks that compute throws, or stands still, between two puts, and the others do not: every rank ends in time, one message says
why, and what was committed stays.

Environment: as for tests/program, and NUNATAK_VICTIM (victim.cpp).
"""
import os
import shlex
import subprocess
import time

import pytest

METHODS = ["direct", "direct/transport=thread", "direct/transport=async:1", "pnetcdf/transport=async:1"]


def run(folder, method, ranks, patience, what, rank):
    """The errors of a run in which `rank` of those that compute leaves the others."""
    transport = method.partition("transport=")[2]
    n = ranks + 1 if "async" in transport else ranks
    command = [*shlex.split(os.environ["NUNATAK_MPIEXEC"]), str(n), os.environ["NUNATAK_VICTIM"], "run", str(folder), method,
               str(patience), what, str(rank), *(["-io_transport", transport] if transport else [])]
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr  # of MPI_Abort: nobody died of a signal
    assert time.time() - begin < 30, done.stderr
    check = subprocess.run([os.environ["NUNATAK_VICTIM"], "check", str(folder)], capture_output=True, text=True, timeout=60)
    assert check.returncode == 0, check.stderr
    assert check.stdout.split() == ["2", "1"], check.stdout  # the first snapshot, and the series with one record
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1, done.stderr
    return errors[0]


@pytest.mark.parametrize("method, ranks", [*((method, 3) for method in METHODS), *((METHODS[2], ranks) for ranks in (2, 5)), (METHODS[0], 5)])
@pytest.mark.parametrize("what, rank", [("throws", 0), ("throws", -1), ("errs", 0), ("errs", -1)])
def test_an_exception_on_one_client_ends_all_ranks_and_is_the_message(tmp_path, method, ranks, what, rank):
    """`throws`: what may happen to one rank. `errs`: an error that the program takes for one of all ranks."""
    rank %= ranks
    assert run(tmp_path, method, ranks, 10, what, rank) == f"victim: error: rank {rank}: one rank cannot go on"


@pytest.mark.parametrize("method, ranks", [(METHODS[0], 3), (METHODS[2], 3), (METHODS[2], 5)])
@pytest.mark.parametrize("rank", [0, -1])
def test_of_those_that_wait_for_a_client_one_speaks(tmp_path, method, ranks, rank):
    error = run(tmp_path, method, ranks, 4, "sleeps", rank % ranks)
    first = "rank 1" if rank == 0 else "rank 0"
    assert "-io_patience" in error and ".nc'" in error and first in error, error
