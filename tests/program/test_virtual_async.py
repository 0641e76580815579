"""What virtual_async counts without sending is what the servers of a run take."""
import json
import os
import pathlib
import shlex
import subprocess

import pytest

PROGRAM = pathlib.Path(os.environ["NUNATAK"])


@pytest.mark.parametrize("servers, layout", [(1, "native"), (2, "native"), (2, "morton"), (3, "box")])
def test_messages_are_those_of_a_run(tmp_path, servers, layout):
    options = ["-workload", "pism:G5km", "-scale", "0.06", "-records", "2", "-io_pool", "1MiB", "-io_buffer", "1MiB", "-io_layout", layout,
               "-io_stripe", "64KiB"]
    command = [*shlex.split(os.environ["NUNATAK_MPIEXEC"]), str(3 + servers), str(PROGRAM.with_name("nunatak-io")), *options, "-ways", "direct",
               "-io_transport", f"async:{servers}", "-repeat", "1", "-verify", "no", "-o", str(tmp_path), "-report", str(tmp_path / "run.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    taken = json.loads((tmp_path / "run.json").read_text())["ways"][0]["servers"][0]
    done = subprocess.run([PROGRAM.parents[1] / "perf" / "virtual_async", *options, "-clients", "3", "-servers", str(servers)],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    counted = json.loads(done.stdout)["runs"][0]
    assert (counted["messages"]["sum"], counted["message_bytes"]["sum"]) == (taken["messages"], taken["message_bytes"])
    assert counted["modelled"]["total_s"] > counted["modelled"]["visible_s"] > 0
