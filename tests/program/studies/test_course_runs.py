"""What labs 7, 8 and 10 (docs/course) say of runs of the model's programs, counted. And: what is
not here is named, and not graded."""
import importlib.util
import os
import pathlib
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
os.environ["NUNATAK_PROGRAMS"] = str(pathlib.Path(os.environ["NUNATAK"]).resolve().parents[1])
sys.path.insert(0, str(SOURCE / "scripts/course"))
import measured  # noqa: E402

spec = importlib.util.spec_from_file_location("lab", SOURCE / "scripts/lab.py")
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)


def test_iterations_grow_as_lab_7_says():
    for preconditioner, least, most in (("multigrid", 0.9, 1.25), ("bjacobi", 1.8, 2.2)):
        counts = [measured.iterations(preconditioner, M) for M in (61, 121, 241)]
        # per refinement, the average of two: counts of about ten grow by whole numbers
        growth = (counts[2] / counts[0]) ** 0.5
        assert least <= growth <= most, (preconditioner, counts)
        assert (preconditioner != "multigrid" or
                all(n <= m for n, m in zip(counts, (9, 11, 13)))), counts


@pytest.mark.parametrize("maps", [2, 4, 7])
def test_late_definitions_move_what_the_law_says(maps):
    sizes, moved = [1] * maps + [26] * 2 * maps, 0
    for n in range(len(sizes)):
        moved += sum(sizes[:n])
    # coordinates move, too
    assert measured.late_definitions(3 * maps) == pytest.approx(moved / sum(sizes), rel=0.015)


def test_a_rank_waits_at_the_record_that_is_predicted():
    if not (measured.full_build() / "tests/faults/libslow_disk.so").exists():
        pytest.skip("expected a slow disk")
    assert measured.first_wait(1502 * 2 + 200) == 3


def test_a_program_that_is_absent_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("NUNATAK_PROGRAMS", str(tmp_path))
    marks = lab.mark_answers({**lab.lab_of(10)}, 17, {"stall": 7})
    assert (f"first_wait is not graded: {tmp_path}/tests/faults/libslow_disk.so is "
            "not here" in capsys.readouterr().out)
    assert [m["graded"] for m in marks] == [True, True, True, False] and marks[3]["right"]
