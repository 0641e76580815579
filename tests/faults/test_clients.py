"""One of the ranks that compute throws between two puts, and the others do not: every rank ends in time, one message says why, and what
was committed stays.

Environment: as for tests/program, and NUNATAK_VICTIM (victim.cpp).
"""
import os
import shlex
import subprocess
import time

import pytest

PATIENCE = 5  # s
METHODS = ["direct", "direct/transport=thread", "direct/transport=async:1", "pnetcdf/transport=async:1"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("what, rank", [("throws", 0), ("throws", 1), ("errs", 1)])
def test_an_exception_on_one_client_ends_all_ranks(tmp_path, method, what, rank):
    """`throws`: what may happen to one rank. `errs`: an error that the program takes for one of all ranks; the others find that this
    one has left them."""
    transport = method.partition("transport=")[2]
    command = [*shlex.split(os.environ["NUNATAK_MPIEXEC"]), "3" if "async" in transport else "2", os.environ["NUNATAK_VICTIM"], "run",
               str(tmp_path), method, str(PATIENCE), what, str(rank), *(["-io_transport", transport] if transport else [])]
    begin = time.time()
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode != 0
    assert time.time() - begin < 30, run.stderr
    errors = [line for line in run.stderr.splitlines() if "error:" in line]
    assert len(errors) == 1, run.stderr
    assert "one rank cannot go on" in errors[0] if what == "throws" else "-io_patience" in errors[0] and ".nc'" in errors[0], errors
    check = subprocess.run([os.environ["NUNATAK_VICTIM"], "check", str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert check.returncode == 0, check.stderr
    assert check.stdout.split() == ["2", "1"], check.stdout  # the first snapshot, and the series with one record
