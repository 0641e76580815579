"""bench_kernels and bench_ssa as a user meets them: the JSON, and the same fields on any number of
processes."""
import json
import os
import subprocess
import sys

from conftest import run_program

PROBLEM = ("-grid_dx", "100000", "-grid_Mz", "6", "-dt_max", "0.02")
BENCH = "../perf/bench_kernels"


def bench(folder, ranks=None):
    return json.loads(
        run_program(BENCH, *PROBLEM, "-repeat", "3", cwd=folder, ranks=ranks, status=0).out)


def test_the_fields_of_nunatak_step(tmp_path):
    run_program("nunatak-step", *PROBLEM, "-steps", "4", "-report", "steps.json", cwd=tmp_path,
                status=0)
    expected = json.loads((tmp_path / "steps.json").read_text())["fields"]
    (tmp_path / "kernels.json").write_text(json.dumps(one := bench(tmp_path)))
    assert one["fields"] == bench(tmp_path, ranks=2)["fields"] == expected
    subprocess.run([sys.executable, f"{os.environ['NUNATAK_SOURCE']}/perf/plot_roofline.py",
                    "kernels.json", "-o", "x.png"], cwd=tmp_path, check=True)


def test_ice_streams_have_the_same_velocity_on_two_ranks(tmp_path):
    one, two = (json.loads(run_program("../perf/bench_ssa", "-problem", "streams", "-grid_dx",
                                       "64km", "-repeat", "1", cwd=tmp_path,
                                       ranks=ranks, status=0).out) for ranks in (1, 2))
    assert one["result"]["velocity_bits"] == two["result"]["velocity_bits"]
    assert one["result"]["residual_per_load"] < 1e-6
    assert one["work"]["fast_grounded_cells"] > 100


def test_refused(tmp_path):
    for option, value, words in (("-repeat", "1", "-repeat"), ("-grid_dx", "1", "-grid_dx"),
                                 ("-stress", "ssa", "ssa+sia|sia"), ("-i", "x.nc", "-i")):
        done = run_program(BENCH, option, value, cwd=tmp_path)
        assert done.status == 2 and words in done.text, done.text
