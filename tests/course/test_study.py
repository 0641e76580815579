"""Lab 9: the laws behind the synthetic reports of a seed are found within the stated tolerances, and studies that are handed in are judged."""

import importlib.util
import json
import pathlib
import shutil
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("lab", SOURCE / "scripts/lab.py")
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)
LAB9 = lab.lab_of(9)


def answers(folder):
    """Of somebody who fits the reports."""
    sys.path.insert(0, str(SOURCE / "perf"))
    fits = pytest.importorskip("scaling_study.fits")
    found = {}
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for part in (lab.study.SSA, lab.study.TRANSPORT):
        for mode in ("strong", "weak"):
            mine = [(r["ranks"], r["cells"], json.loads((folder / r["report"]).read_text())["timers"][part]["max"]) for r in runs if r["mode"] == mode]
            found[part, mode] = fits.usl([n for n, *_ in mine], [cells / t for _, cells, t in mine])
    ssa, transport, weak = found[lab.study.SSA, "strong"], found[lab.study.TRANSPORT, "strong"], found[lab.study.TRANSPORT, "weak"]
    return {"amdahl": transport["sigma"], "sigma": ssa["sigma"], "kappa": ssa["kappa"], "most_ranks": ssa["most_cores"],
            "gustafson_64": fits.usl_rate([64], weak)[0] / weak["rate_of_one"]}


@pytest.mark.parametrize("seed", [0, 1, 17, 18, 40, 57, 1000])
def test_laws_are_found_within_the_tolerance(tmp_path, seed):
    lab.study.write(tmp_path / "synthetic", seed, lab.names_of(LAB9, seed))
    given = {name: float(value) for name, value in answers(tmp_path / "synthetic").items()}
    marks = lab.mark_answers(LAB9, seed, given)
    assert [m["name"] for m in marks if not m["right"]] == ["nodes"], marks  # for pencil and paper
    other = lab.mark_answers(LAB9, seed + 7, given)
    assert sum(m["right"] for m in other) <= 2, other


def submission(tmp_path, make=None):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "lab.json").write_text(json.dumps({"lab": 9, "seed": 17}))
    (tree / "answers.json").write_text(json.dumps(lab.right_answers(LAB9, 17)))
    if make:
        make(lab.study.samples().Folder(tree / "study", title="How does my output scale?"))
    return tree


def two_modes(folder):
    folder.fill(ranks=(1, 2, 4), methods=("pnetcdf",), repetitions=2)


def two_points(folder):
    folder.fill(modes=("strong",), ranks=(1, 2), methods=("pnetcdf",))


def other_work(folder):
    two_modes(folder)
    folder.add("strong", 8, 0, lab.study.samples().model_report(8, 96), {"io_format": "pnetcdf"})


@pytest.mark.parametrize("make, told", [(two_modes, None), (None, "neither"), (two_points, "2 points of 1 curves"), (other_work, "other work")])
def test_own_studies_are_told_apart(tmp_path, make, told):
    pytest.importorskip("pandas")
    result = lab.judge(submission(tmp_path, make))
    assert result["passed"] == (told is None) and not result["error"], result
    assert told is None or told in str(result["checks"]), result
    assert told != "2 points of 1 curves" or "expected 3 or more" in str(result["checks"])  # nor is a law fitted


def test_the_synthetic_study_is_not_ones_own(tmp_path):
    pytest.importorskip("pandas")
    tree = submission(tmp_path)
    lab.study.write(tmp_path / "synthetic", 17, lab.names_of(LAB9, 17))
    shutil.copytree(tmp_path / "synthetic", tree / "study")
    assert [c["found"] for c in lab.judge(tree)["checks"]] == ["the synthetic one"]
