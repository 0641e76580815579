"""The course as its users meet it: every command in the pages of docs/course (blocks marked "sh")
runs, and six submissions are graded as they should be. Trees and files go to a folder of pytest's.
The labs themselves: scripts/lab.py verify."""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(page
               for page in (SOURCE / "docs/course").glob("*.md") if "```sh" in page.read_text())
spec = importlib.util.spec_from_file_location("lab", SOURCE / "scripts/lab.py")
lab = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lab)
import holes  # noqa: E402


def commands(page):
    """(command, expected status) of the blocks marked sh; a comment '# status 1' says what is
    expected."""
    for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S):
        for line in block.splitlines():
            found = re.search(r"# status (\d+)", line)
            yield line.split("  #")[0].strip(), int(found[1]) if found else 0


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("course")


def run(command, folder, status=0):
    words = [re.sub(r"^\.\./lab", f"{folder}/lab", word) for word in shlex.split(command)]
    # what a command writes
    words = [str(folder / word) if re.fullmatch(r"\w+\.(png|svg|json)", word) else word
             for word in words]
    words = [sys.executable, *words] if words[0].endswith(".py") else words
    found = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True,
                           env={"NUNATAK_COURSE_SECONDS": "15", **os.environ})
    assert found.returncode == status, (f"{command}: expected status {status}, found "
                                        f"{found.returncode}\n{found.stdout}\n{found.stderr}")
    return found.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_the_pages(page, folder):
    for command, status in commands(page):
        said = run(command, folder, status)
        if "lab.py check" in command and lab.lab_of(int(page.stem[3:]))["holes"]:
            assert "not written yet" in said, said  # a skeleton fails in words


def test_lab_0_says_what_its_page_says(folder):
    said = run("scripts/lab.py first --picture first.svg", folder)
    printed = re.findall(r"^    (\w+ +on .*)$", (SOURCE / "docs/course/lab0.md").read_text(), re.M)
    assert len(printed) == 4 and all(line in said for line in printed), said
    assert (folder / "first.svg").read_text().startswith("<svg")


def test_submissions_are_graded(folder):
    lab5, path = lab.lab_of(5), "kernels/grid/sums.hpp"
    right, wrong = (SOURCE / path).read_text(), holes.mutate(lab5, lab5["mutants"][0])[path]
    written = {
        "right": right, "wrong": wrong, "edits_the_checker": wrong, "no_answers": right,
        "does_not_compile": right.replace("hi += n >> 32;", "hi += n >> 32"),
        "hangs": right.replace("    hi += n >> 32;", "    for (volatile int n = 0;; n = n + 1) {}")}
    for name, text in written.items():
        tree = folder / "submissions" / name
        (tree / path).parent.mkdir(parents=True)
        (tree / path).write_text(text)
        (tree / "lab.json").write_text('{"lab": 5, "seed": 17}')
        if name != "no_answers":
            (tree / "answers.json").write_text(json.dumps(lab.right_answers(lab5, 17)))
    checker = folder / "submissions/edits_the_checker/tests/course/check_sums.cpp"
    checker.parent.mkdir(parents=True)
    checker.write_text("// All is well.\n")
    run(f"scripts/lab.py grade {folder}/submissions --json grades.json", folder)
    grades = {grade["submission"]: grade
              for grade in json.loads((folder / "grades.json").read_text())}
    assert ([name for name, grade in grades.items() if grade["passed"]] == ["right"] and
            len(grades) == 6)
    first = {name: grade["checks"][0] for name, grade in grades.items() if grade["checks"]}
    assert ("compiles" in first["does_not_compile"]["expected"] and
            "error" in first["does_not_compile"]["found"])
    assert ("an end within" in first["hangs"]["expected"] and
            "equal bits on 1 to 4096" in first["hangs"]["test"])
    assert ("sum.value() = " in first["wrong"]["expected"] and
            re.search(r"\d", first["wrong"]["found"]))
    assert (grades["edits_the_checker"]["ignored"] == ["tests/course/check_sums.cpp"] and
            grades["edits_the_checker"]["checks"])
    assert (not grades["no_answers"]["checks"] and
            [a["found"] for a in grades["no_answers"]["answers"]] == [None, None])


def test_the_source_and_right_answers_pass(folder):
    """What a student does who writes the source's lines."""
    tree = folder / "solved"
    run(f"scripts/lab.py start 2 {tree} --seed 17", folder)
    skeleton = (tree / "kernels/distance/bfs.hpp").read_text()
    assert skeleton.count("not written yet") == 1 and "do {" not in skeleton
    assert not (tree / ".git").exists() and not (tree / "tests/course/labs.json").exists()
    (tree / "kernels/distance/bfs.hpp").write_text(
        (SOURCE / "kernels/distance/bfs.hpp").read_text())
    answers, other = lab.right_answers(lab.lab_of(2), 17), lab.right_answers(lab.lab_of(2), 18)
    assert answers != other
    (tree / "answers.json").write_text(json.dumps(answers))
    assert "passed" in run(f"scripts/lab.py check {tree}", folder)
    (tree / "answers.json").write_text(json.dumps(other))
    assert "is not right" in run(f"scripts/lab.py check {tree}", folder, status=1)
