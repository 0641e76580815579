"""nunatak-step as a user meets it: the same fields and the same messages on processes and on virtual ranks."""
import json

import pytest
from conftest import run_program

GRID = ("-grid_dx", "100000", "-grid_Mz", "6", "-ssa_multigrid_gather", "200")


def found(folder, *arguments, ranks=None):
    run_program("nunatak-step", *GRID, *arguments, "-report", "found.json", cwd=folder, ranks=ranks, status=0)
    return json.loads((folder / "found.json").read_text())


def test_processes_send_what_virtual_ranks_send(tmp_path):
    virtual = found(tmp_path, "-virtual_ranks", "1,2,3,4,8x8", "-steps", "2")
    for ranks in (1, 2, 3, 4):
        real = found(tmp_path, "-steps", "2", ranks=ranks)
        assert real["fields"] == virtual["fields"]
        expected = [r for r in virtual["records"] if r["ranks"] == ranks]
        assert [r["part"] for r in real["records"]] == [r["part"] for r in expected] and len(expected) == 8
        for a, b in zip(real["records"], expected):
            for key in ("exchanges", "messages", "bytes", "collectives"):
                assert a[key] == b[key], (key, a, b)
            assert a["loggp_s"] is None and b["loggp_s"] > 0.0


@pytest.mark.parametrize("steps", ["1", "3"])
def test_collectives_outside_the_ssa(tmp_path, steps):
    """At most 25 in a step, setting up included, on any number of ranks."""
    for r in found(tmp_path, "-virtual_ranks", "1,6,64", "-steps", steps)["records"]:
        if r["part"] == "step":
            assert r["collectives"] - ssa <= 25 * int(steps), r
        elif r["part"] == "stress balance: SSA":
            ssa = r["collectives"]


@pytest.mark.parametrize("arguments, ranks, words", [
    (("-virtual_ranks", "2"), 2, "expected one process, found 2"),
    (("-virtual_ranks", "100x1"), None, "100"),
    (("-grid_dx", "1"), None, "-grid_dx"),
    (("-steps", "0"), None, "-steps"),
    (("-ocean", "true"), None, "expected one of auto|pico|none"),
    (("-machine", "none.json"), None, "file 'none.json': cannot be read"),
    (("-report", "nowhere/x.json"), None, "nowhere/x.json"),
    (("-grid_dz", "1"), None, "-grid_dz"),
])
def test_refused(tmp_path, arguments, ranks, words):
    run = run_program("nunatak-step", "-grid_dx", "100000", *arguments, cwd=tmp_path, ranks=ranks)
    assert run.status not in (0, 134) and words in run.text, run.text
