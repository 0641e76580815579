"""perf/output_model.py: queues of cards and servers, on plans whose times one can tell by hand."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(os.environ["NUNATAK_SOURCE"]) / "perf"))
from output_model import STRIPE, exchange_time, least_times, write_time  # noqa: E402

RATE = float(STRIPE)  # a stripe per second


def test_a_connection_takes_turns_or_not():
    both = [{"messages": [[1, STRIPE]]}, {"messages": [[0, STRIPE]]}]
    assert exchange_time(both, RATE, 0.1, in_turns=False) == pytest.approx(1.3)
    assert exchange_time(both, RATE, 0.1, in_turns=True) == pytest.approx(2.3)
    ring = [{"messages": [[(k + 1) % 3, STRIPE]]} for k in range(3)]
    assert exchange_time(ring, RATE, 0.1, in_turns=True) == pytest.approx(1.3)
    assert exchange_time([{"messages": []}], RATE, 0.1, in_turns=True) == 0.0


def test_requests_wait_for_their_server_and_a_latency_there_and_back():
    one = [{"calls": [[0, 4 * STRIPE]]}]
    assert write_time(one, RATE, 0.1, 8) == pytest.approx(4 * 1.2)
    same = [{"calls": [[0, STRIPE]]}, {"calls": [[2 * STRIPE, STRIPE]]}]  # two servers: both meet on the first
    apart = [{"calls": [[0, STRIPE]]}, {"calls": [[STRIPE, STRIPE]]}]
    assert write_time(apart, RATE, 0.0, 2) == pytest.approx(1.0)
    assert 1.0 < write_time(same, RATE, 0.0, 2) < 2.0  # as far as they begin at the same time


def test_least_times_of_counts():
    plan = {"messages": {"bytes": 40.0}, "calls": {"bytes": 80.0, "most": 3, "most_bytes": 30.0}}
    assert least_times(plan, 4, 1.0, 0.5, 100) == (10.0, 30.0)  # the rank that has most
    assert least_times(plan, 4, 1.0, 0.5, 2) == (10.0, 40.0)  # two servers
    assert least_times(plan, 4, 1e9, 0.5, 100) == (pytest.approx(0.0, abs=1e-6), 3.0)  # three calls, one after the other
