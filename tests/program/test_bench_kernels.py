"""bench_kernels as a user meets it: the JSON, and the same fields as nunatak-step on any number of processes."""
import json
import os
import pathlib
import shlex
import subprocess

import pytest
from conftest import Run

PROBLEM = ("-grid_dx", "100000", "-grid_Mz", "6", "-dt_max", "0.02")
BUILD = pathlib.Path(os.environ.get("NUNATAK", "build/miniapp/nunatak")).parents[1]


def run(program, folder, *arguments, ranks=None):
    start = [] if ranks is None else shlex.split(os.environ["NUNATAK_MPIEXEC"]) + [str(ranks)]
    return Run(subprocess.run([*start, str(BUILD / program), *arguments], cwd=folder, timeout=120, capture_output=True, text=True))


def bench(folder, *arguments, ranks=None):
    done = run("perf/bench_kernels", folder, *PROBLEM, "-repeat", "3", *arguments, ranks=ranks)
    assert done.status == 0, done.text
    return json.loads(done.out)


def test_the_fields_of_nunatak_step(tmp_path):
    steps = run("miniapp/nunatak-step", tmp_path, *PROBLEM, "-sliding_q", "0.25", "-steps", "4", "-report", "steps.json")
    assert steps.status == 0, steps.text
    expected = json.loads((tmp_path / "steps.json").read_text())["fields"]
    assert bench(tmp_path)["fields"] == bench(tmp_path, ranks=2)["fields"] == expected


@pytest.mark.parametrize("arguments, words", [(("-repeat", "1"), "-repeat"), (("-grid_dx", "1"), "-grid_dx"), (("-stress", "ssa"), "ssa+sia|sia"), (("-i", "x.nc"), "-i")])
def test_refused(tmp_path, arguments, words):
    done = run("perf/bench_kernels", tmp_path, *arguments)
    assert done.status == 1 and words in done.text, done.text
