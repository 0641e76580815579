"""Memory of all ranks, servers too, does not grow with the steps, from 5 000 to 20 000, for every
transport; no message is lost."""
import os
import pathlib
import re
import signal
import sys
import time

import netCDF4
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from conftest import ranks_of, run_program, start_nunatak  # noqa: E402

BEGIN, END = 5000, 20000
# the server of the series, and its client
CROWD = ((2, signal.SIGSTOP), (0, signal.SIGSTOP), (2, signal.SIGCONT), (0, signal.SIGCONT))
# bytes more: the pool, touched page by page, and what MPI keeps of messages on their way; 0.9 kB a
# step would be 14 MB
MOST = 4e6


def resident(process):
    """Private memory of each rank (bytes): that of MPI's shared segments is touched little by
    little."""
    texts = (pathlib.Path(f"/proc/{pid}/status").read_text() for pid in ranks_of(process).values())
    return [1024 * int(re.search(r"RssAnon:\s+(\d+) kB", text)[1]) for text in texts]


@pytest.mark.parametrize("transport, ranks", [("sync", 2), ("async:1", 3)])
def test_memory_does_not_grow_with_the_steps(tmp_path, transport, ranks):
    program = ["-init", "dome", "-grid_Mx", "11", "-grid_My", "11", "-grid_Mz", "3", "-stress",
               "sia", "-energy", "off", "-rheology", "isothermal", "-dt_max", "0.01", "-run_steps",
               str(END + 4000), "-timeseries_file", "s.nc", "-io_transport", transport,
               "-io_pool", "1MiB", "-io_patience", "60"]
    found = {}
    with start_nunatak(tmp_path, *program, ranks=ranks, stderr=None) as process:
        for line in process.stdout:
            step = re.match(r"step +(\d+)", line)
            if step and int(step[1]) in (BEGIN, END):
                # a thousand messages are taken before rank 0 looks
                for rank, what in CROWD if transport != "sync" and not found else ():
                    os.kill(ranks_of(process)[rank], what)
                    time.sleep(1)
                found[int(step[1])] = resident(process)
        assert process.wait() == 0
    with netCDF4.Dataset(tmp_path / "s.nc") as series:
        assert len(series["time"]) == END + 4000
    run_program("nunatak-verify", cwd=tmp_path, status=0)
    more = [after - before for before, after in zip(found[BEGIN], found[END])]
    assert max(more) < MOST, (more, found)
