"""What students hand in is read and run with care: output and memory have limits, stopped programs
are gone, editors leave byte order marks."""
import importlib.util
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("lab", SOURCE / "scripts/lab.py")
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)
import limits  # noqa: E402
import workshop  # noqa: E402

MARK = b"\xef\xbb\xbf"
PRINTS = "while :; do echo 'the cell is still changing, once more around the loop'; done"
LAST = "print('x' * 3_000_000); print('the end')"


def test_output_without_end_is_stopped_and_its_last_part_kept():
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    status, said = workshop.run(["yes", "the cell is still changing"], 60)
    assert status == limits.TOO_MUCH and len(said) == limits.KEPT and time.monotonic() - begin < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    status, said = workshop.run([sys.executable, "-c", LAST], 60)
    assert status == 0 and len(said) == limits.KEPT and said.endswith("xxx\nthe end\n")
    assert workshop.run(["sh", "-c", "echo a; echo b >&2; exit 3"], 60) == (3, "a\nb\n")


@pytest.mark.parametrize("command", ["sleep 123.25 & sleep 123.25", "exec >&- 2>&-; sleep 123.25",
                                     "(set -m; sleep 123.25 & wait)"])
def test_a_stopped_program_is_gone_with_all_that_it_started(command):
    """Also what has a process group of its own, as the ranks of mpiexec have."""
    assert workshop.run(["bash", "-c", f"echo begun; {command}"], 1) == (None, "begun\n")
    begin = time.monotonic()
    while subprocess.run(["pgrep", "-f", "^sleep 123.25"],
                         stdout=subprocess.DEVNULL).returncode == 0:
        assert time.monotonic() - begin < 10
        time.sleep(0.1)


@pytest.mark.parametrize("script", [PRINTS, "head -c 65M /dev/zero >$last",
                                    f"[ $(ulimit -d) = {workshop.MEMORY >> 10} ] && {PRINTS}"])
def test_a_check_that_prints_without_end_says_so(tmp_path, monkeypatch, script):
    """On stdout, or into its XML file, the last word, where Catch2 puts what goes to std::cout; its
    memory has a limit."""
    monkeypatch.setattr(workshop, "BUILD", tmp_path)
    (tmp_path / "tests/course").mkdir(parents=True)
    (tmp_path / "mpiexec.txt").write_text("mpiexec;-n")
    program = tmp_path / "tests/course/check"
    program.write_text(f"#!/bin/bash\nlast=${{@: -1}}\n{script}\n")
    program.chmod(0o755)
    (failure,) = workshop.run_check({"program": "check", "tests": "[lab]"})
    assert failure == {"test": "check", "expected": "at most 64 MB of output",
                       "found": "more: a loop that prints and does not end"}


def tree_of(folder, number, answers):
    folder.mkdir()
    (folder / "lab.json").write_bytes(MARK + json.dumps({"lab": number, "seed": 17}).encode())
    (folder / "answers.json").write_bytes(MARK + json.dumps(answers).encode())
    return folder


def test_byte_order_marks_do_not_matter(tmp_path):
    lab13 = lab.lab_of(13)
    tree = tree_of(tmp_path / "13", 13, lab.right_answers(lab13, 17))
    results = {"points": [], "complaints": []}
    (tree / "study.json").write_bytes(MARK + json.dumps(results).encode())
    found = lab.judge(tree)
    assert not found["error"] and all(answer["right"] for answer in found["answers"])
    assert [check["found"] for check in found["checks"]] == ["0 points of 0 curves"]
    lab5 = lab.lab_of(5)
    tree = tree_of(tmp_path / "5", 5, {})
    for path, text in lab.skeletons(lab5).items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(MARK + text.encode())
    assert [check["found"] for check in lab.judge(tree)["checks"]] == ["lab 5: not written yet"]


def test_a_seed_that_is_none_ends_nothing(tmp_path):
    for n, seed in enumerate((10**80, -1, "17", 1.5)):
        tree = tree_of(tmp_path / str(n), 6, {})
        (tree / "lab.json").write_text(json.dumps({"lab": 6, "seed": seed}))
        assert lab.judge(tree)["error"].startswith(
            "lab.json: expected the seed as a whole number up to 1000000, found")


def test_a_second_part_that_was_not_begun_is_left_out():
    """Lab 1 of a student on a machine without MPI."""
    lab1, path = lab.lab_of(1), "miniapp/base/mpi_ranks.cpp"
    skeletons = lab.skeletons(lab1)
    assert lab.without_second_part(lab1, skeletons) == [path]
    assert lab.without_second_part(lab1, {**skeletons, path: (SOURCE / path).read_text()}) == []


@pytest.mark.parametrize("make, expected",
                         [(os.mkfifo, "a file that can be read"),
                          (lambda path: path.symlink_to("/dev/null"), "a file that can be read"),
                          (lambda path: path.write_text(100000 * "["), "JSON")])
def test_answers_that_are_none_are_one_sentence(tmp_path, make, expected):
    tree = tree_of(tmp_path / "13", 13, {})
    (tree / "answers.json").unlink()
    make(tree / "answers.json")
    assert lab.judge(tree)["error"].startswith(f"answers.json: expected {expected}")
