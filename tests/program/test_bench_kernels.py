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


def test_report(tmp_path):
    found = bench(tmp_path)
    assert found["benchmark"] == "kernels" and found["repetitions"] == 3 and len(found["years_per_step"]) == 4
    assert found["started"] < found["ended"] and found["triad"]["GB_per_s_max"] >= found["triad"]["GB_per_s"] > 0.0
    assert found["grid"] == {"Mx": 62, "My": 62, "Mz": 6, "dx": 1e5, "dy": 1e5} and found["sizes"]["cells"] == 62 * 62
    assert 0 < found["sizes"]["icy_cells"] <= found["sizes"]["points_in_ice"] <= 6 * found["sizes"]["icy_cells"]
    assert found["ssa"]["nonlinear_steps"] >= 4 and abs(found["mass_budget"]["closure"]) < 1e-9
    assert sum(part["min_ms"] for part in found["parts"].values()) <= found["step"]["median_ms"]
    # what docs/performance.md says is counted
    assert found["parts"]["ocean"]["bytes_per_cell"] == 128 and found["parts"]["stress balance: SIA"]["bytes_per_cell"] == 52
    counted = [name for name, part in found["parts"].items() if "bytes_per_cell" in part]
    assert len(found["parts"]) == 8 and set(found["parts"]) - set(counted) == {"stress balance: SSA"}
    total = sum(found["parts"][name]["bytes_per_cell"] for name in counted)
    assert found["without_ssa"]["bytes_per_cell"] == pytest.approx(total, rel=1e-12)
    for timed in (*found["kernels"].values(), *(found["parts"][name] for name in counted)):
        assert timed["median_ms"] >= timed["min_ms"] > 0.0 and timed["share_of_triad"] > 0.0, timed


def test_the_fields_of_nunatak_step(tmp_path):
    steps = run("miniapp/nunatak-step", tmp_path, *PROBLEM, "-sliding_q", "0.25", "-steps", "4", "-report", "steps.json")
    assert steps.status == 0, steps.text
    expected = json.loads((tmp_path / "steps.json").read_text())["fields"]
    assert bench(tmp_path)["fields"] == bench(tmp_path, ranks=2)["fields"] == expected


def test_without_sliding(tmp_path):
    assert "stress balance: SSA" not in bench(tmp_path, "-stress", "sia")["parts"]


@pytest.mark.parametrize("arguments, words", [(("-repeat", "1"), "-repeat"), (("-grid_dx", "1"), "-grid_dx"), (("-stress", "ssa"), "ssa+sia|sia"), (("-i", "x.nc"), "-i")])
def test_refused(tmp_path, arguments, words):
    done = run("perf/bench_kernels", tmp_path, *arguments)
    assert done.status == 1 and words in done.text, done.text
