"""One of the ranks that compute throws, or stands still, between two puts, and the others do not:
every rank ends in time, one message says why, and what was committed stays.

Environment: as for tests/program, and NUNATAK_VICTIM (victim.cpp).
"""
import math
import os
import pathlib
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from conftest import run_program  # noqa: E402
from patience import again_if_busy  # noqa: E402

USUAL = 0.7  # seconds of a run without a fault, on two idle cores
METHODS = ["direct", "direct/transport=async:1", "pnetcdf/transport=async:1"]


def run(folder, method, ranks, patience, *leaves):
    """A run in which one of those that compute leaves the others: how, and which."""
    folder.mkdir()
    transport = method.partition("transport=")[2]
    n = ranks + 1 if "async" in transport else ranks
    return run_program(
        os.environ["NUNATAK_VICTIM"], "run", folder, method, math.ceil(patience), *leaves,
        *(["-io_transport", transport] if transport else []), ranks=n, timeout=120 + 12 * patience)


def error_of(folder, method, ranks, n, patience, what, rank):
    """The only one, on a machine that is n times slower than usual."""
    begin = time.time()
    done = run(folder, method, ranks, n * patience, what, str(rank))
    assert done.status == 2, done.err  # of MPI_Abort, not of a signal
    assert time.time() - begin < 30 * n, done.err
    check = run_program(os.environ["NUNATAK_VICTIM"], "check", folder, timeout=60, status=0)
    # the first snapshot, and the series with one record where records are committed before it is
    # closed
    assert check.out.split() == (["2", "1"] if method.startswith("direct")
                                 else ["1", "0"]), check.out
    # Open MPI 5 adds zeros
    errors = [line.strip("\0") for line in done.err.splitlines() if "error:" in line]
    assert len(errors) == 1, done.err
    return errors[0]


@pytest.mark.parametrize("method, ranks",
                         [*((method, 3) for method in METHODS),
                          *((METHODS[1], ranks) for ranks in (2, 5)), (METHODS[0], 5)])
@pytest.mark.parametrize("what, rank", [("throws", 0), ("throws", -1), ("errs", 0), ("errs", -1)])
def test_an_exception_on_one_client_ends_all_ranks_and_is_the_message(tmp_path, method, ranks, what,
                                                                      rank):
    """`throws`: what may happen to one rank. `errs`: an error that the program takes for one of all
    ranks."""
    rank %= ranks

    def attempt(n):
        assert error_of(tmp_path / f"{n:.2f}", method, ranks, n, 10, what,
                        rank) == f"victim: error: rank {rank}: one rank cannot go on"
    again_if_busy(attempt, lambda: run(tmp_path / "all", method, ranks, 600), USUAL)


@pytest.mark.parametrize("method, ranks", [(METHODS[0], 3), (METHODS[1], 3), (METHODS[1], 5)])
@pytest.mark.parametrize("rank", [0, -1])
def test_of_those_that_wait_for_a_client_one_speaks(tmp_path, method, ranks, rank):
    first = "rank 1" if rank == 0 else "rank 0"

    def attempt(n):
        error = error_of(tmp_path / f"{n:.2f}", method, ranks, n, 4, "sleeps", rank % ranks)
        assert "-io_patience" in error and ".nc'" in error and first in error, error
    again_if_busy(attempt, lambda: run(tmp_path / "all", method, ranks, 600), USUAL)
