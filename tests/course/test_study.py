"""The laws behind the synthetic reports of a seed (lab 9) are found within the stated tolerances,
and studies that are handed in (lab 13) are judged."""

import importlib.util
import json
import pathlib
import shutil

import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("lab", SOURCE / "scripts/lab.py")
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)
from scaling_study import law  # noqa: E402

LAB9, LAB13 = lab.lab_of(9), lab.lab_of(13)


def answers(folder):
    """By fits of the reports."""
    found = {}
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    for part in (lab.study.SSA, lab.study.TRANSPORT):
        for mode in ("strong", "weak"):
            mine = [(r["ranks"], r["cells"],
                     json.loads((folder / r["report"]).read_text())["timers"][part]["max"])
                    for r in runs if r["mode"] == mode]
            fit = law.fit([n for n, *_ in mine], [[t / cells] for _, cells, t in mine])
            found[part, mode] = fit["sigma"], fit["kappa"]
    (sigma, kappa), (serial, pairs) = (found[lab.study.SSA, "strong"],
                                       found[lab.study.TRANSPORT, "weak"])
    fastest = np.sqrt((1 - sigma) / kappa)
    return {"half_efficient": 1 + 1 / found[lab.study.TRANSPORT, "strong"][0],
            "most_ranks": np.sqrt((1 - sigma) / (kappa / 2)),
            "best_speedup": fastest / (1 + sigma * (fastest - 1) + kappa * fastest * (fastest - 1)),
            "scaled_256": 256 / (1 + serial * 255 + pairs * 256 * 255)}


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
    (tree / "lab.json").write_text(json.dumps({"lab": 13, "seed": 17}))
    (tree / "answers.json").write_text(json.dumps(lab.right_answers(LAB13, 17)))
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


@pytest.mark.parametrize("make, expected",
                         [(two_modes, None), (None, "neither"),
                          (two_points, "2 points of 1 curves"), (other_work, "other work")])
def test_own_studies_are_judged(tmp_path, make, expected):
    pytest.importorskip("pandas")
    result = lab.judge(submission(tmp_path, make))
    assert result["passed"] == (expected is None) and not result["error"], result
    assert expected is None or expected in str(result["checks"]), result


def test_the_synthetic_study_is_not_ones_own(tmp_path):
    pytest.importorskip("pandas")
    tree = submission(tmp_path)
    lab.study.write(tmp_path / "synthetic", 17, lab.names_of(LAB9, 17))
    shutil.copytree(tmp_path / "synthetic", tree / "study")
    assert [c["found"] for c in lab.judge(tree)["checks"]] == ["the synthetic one"]
