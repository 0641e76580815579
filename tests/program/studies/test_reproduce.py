"""perf/study reproduce and perf/study results: figures, verdicts, the pages made of them, and the
quick rows run as by a stranger."""
import json
import os
import pathlib
import subprocess
import sys
import time
import types

import pytest
import yaml
from conftest import processes_of

ROOT = pathlib.Path(os.environ.get("NUNATAK_SOURCE", "."))
sys.path.insert(0, str(ROOT / "perf"))
from scaling_study import reproduce, result_pages, rows, stamps  # noqa: E402
from scaling_study.study_file import StudyError  # noqa: E402


def study(*words, **more):
    return subprocess.run([sys.executable, ROOT / "perf" / "study", *map(str, words)],
                          capture_output=True, text=True, check=False, timeout=900, **more)


def test_figures_are_read_where_the_row_says(tmp_path):
    (tmp_path / "a.json").write_text(
        json.dumps({"of": [{"who": "x", "n": 1, "s": {"median": 4.0, "min": 3.0, "max": 8.0}},
                           {"who": "y", "n": 1, "s": 2, "t": 5, "t_min": 4, "t_max": None}]}))
    (tmp_path / "a.txt").write_text("one 1\ntook 12.5 s\n")
    assert (rows.number_at(tmp_path, "a.json of.[who=x;n=1].s") == [4.0, 3.0, 8.0] and
            rows.number_at(tmp_path, "a.json of.[1].s") == [2.0] * 3)
    assert rows.number_at(tmp_path, "a.json of.[1].t") == [5.0, 4.0, 5.0]
    assert rows.number_at(tmp_path, "a.txt /took ([0-9.]+) s/") == [12.5] * 3
    ratio = {"value": "a.json of.[who=y].s", "over": "a.json of.[who=x].s"}
    assert (rows.figure_of(tmp_path, ratio) == [0.5, 0.25, 2 / 3] and
            rows.figure_of(tmp_path, {**ratio, "saved": "yes"}) == pytest.approx([50, 100 / 3, 75]))
    for wrong in ("a.json of.[n=1].s", "a.json of.[who=z].s", "a.json of.[0].t",
                  "a.json of.[0].who", "a.txt /took no/"):
        with pytest.raises(ValueError, match="expected"):
            rows.number_at(tmp_path, wrong)


def test_verdicts():
    higher, lower, count = ({"better": word} for word in ("higher", "lower", "same"))
    assert rows.verdict(higher, [10, 9, 11], [10.9, 10.5, 12], True) == "within its interval"
    assert (rows.verdict(higher, [10, 9, 11], [12, 11.5, 13], True) == "better" and
            rows.verdict(lower, [10, 9, 11], [12, 11.5, 13], True) == "worse")
    assert (rows.verdict(higher, [10, 9, 11], [8, 7, 8.5], True) == "worse" and
            rows.verdict(lower, [10, 10, 10], [8.9, 8.9, 8.9], True) == "within its interval")
    assert (rows.verdict(higher, [10, 9, 11], [5, 5, 5], False) == "another machine" and
            rows.verdict(lower, [10, 9.99, 10.01], [10.2, 10.19, 10.21],
                         True) == "within its interval")
    assert [rows.verdict(count, [10] * 3, [n] * 3, False) for n in (10, 11)] == ["equal", "DIFFERS"]


@pytest.mark.parametrize("text, words", [
    ("title: A\nrows: {x: {claim: c, figures: {f: {value: a}}}}", "expected the key command"),
    ("title: A\nrows: {x: {claim: c, command: c, figures: {f: {over: a}}}}",
     "expected a file, and the way to a number in it"),
    ("title: A\nrows: {x: {claim: c, command: c, needs: moon, figures: {f: {value: a}}}}",
     "found 'moon'"),
    ("title: A\nrows: {x: {claims: c}}", "found 'claims'"),])
def test_a_row_that_says_too_little_is_refused(tmp_path, text, words):
    (tmp_path / "10_a.yaml").write_text(text)
    with pytest.raises(StudyError, match=words):
        rows.read(tmp_path)


def test_a_row_that_fails_ends_no_other_and_all_go_on(tmp_path, monkeypatch, capsys):
    """The table says which failed, as without its library; --continue runs these alone; --record
    puts pictures, which name their row, into the docs."""
    (tmp_path / "10_a.yaml").write_text(f"""title: A
rows:
  bad: {{claim: c, command: "test -e {tmp_path}/mended; echo '[3]' > $OUT/a.json",
         figures: {{n: {{value: "a.json [0]"}}}}}}
  absent: {{claim: c, command: "LD_PRELOAD=$BUILD/libnone.so true",
            figures: {{n: {{value: a.json n}}}}}}
  strange: {{claim: c, command: "echo [] > $OUT/a.json", figures: {{n: {{value: a.json n}}}}}}
  good: {{claim: c, command: "echo '[2]' > $OUT/a.json; echo $NUNATAK_ROW >> {tmp_path}/p",
          figures: {{n: {{value: "a.json [0]"}}}}, pictures: {{p.png: {tmp_path}/p}}}}
""")
    known = rows.read(tmp_path)
    for folder in ("docs/img", "scripts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "scripts" / "environment.sh").touch()
    for place, name, value in ((rows, "read", lambda: known),
                               (rows, "MEASURED", tmp_path / "measured.yaml"),
                               (reproduce, "ROOT", tmp_path), (result_pages, "write", print),
                               (rows, "measured", lambda: {"machines": {}, "rows": {}}),
                               (reproduce, "build_folder", lambda _: tmp_path),
                               (reproduce, "facts", lambda _: {"cpu": "x", "cores": 2}),
                               (stamps, "stamp", lambda name: "12345678"),
                               (stamps, "older", lambda name, commit: commit != "12345678")):
        monkeypatch.setattr(place, name, value)
    for go_on, measured in ((False, {"good"}), (True, {"good", "bad"})):
        assert reproduce.main(
            types.SimpleNamespace(list=False, rows=[], quick=False, all=True, runs=None,
                                  program=None, output=str(tmp_path / "here.yaml"), keep=None,
                                  record=True, go_on=go_on)) == 1
        here = yaml.safe_load((tmp_path / "here.yaml").read_text())
        assert here["rows"].keys() == measured == yaml.safe_load(
            (tmp_path / "measured.yaml").read_text())["rows"].keys()
        assert (here["table"]["good"] == "1 new" and "expected n" in here["table"]["strange"] and
                "expected libnone.so" in here["table"]["absent"] and
                (tmp_path / "docs" / "img" / "p.png").read_text() == "good\n")
        assert go_on or here["table"]["bad"].startswith("FAILED: bad: status 1")
        (tmp_path / "mended").touch()
    assert "strange                    - min  FAILED" in capsys.readouterr().out
    # one row that fails now: those that were measured stay in the file
    (tmp_path / "mended").unlink()
    assert reproduce.main(
        types.SimpleNamespace(list=False, rows=["bad"], quick=False, all=False, runs=None,
                              program=None, output=str(tmp_path / "here.yaml"), keep=None,
                              record=False, go_on=False)) == 1
    here = yaml.safe_load((tmp_path / "here.yaml").read_text())
    assert here["rows"].keys() == {"good", "bad"} and "FAILED" in here["table"]["bad"]
    arguments = types.SimpleNamespace(runs=2, output=str(tmp_path / "here.yaml"))
    assert not reproduce.is_done(here["rows"]["good"], "1 new", "good", {}, arguments)
    with pytest.raises(StudyError, match="found those of another"):
        reproduce.rows_before(arguments, {"cpu": "y", "cores": 2})


def test_programs_of_other_sources_are_refused(tmp_path, monkeypatch):
    """Whose figures would have the stamp of these. In a repository of its own."""
    for folder in ("miniapp", "io", "perf/results"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "perf/results/10_a.yaml").write_text(
        "title: A\nrows: {r: {claim: c, command: nunatak-io, figures: {f: {value: a}}}}\n")
    (tmp_path / ".gitignore").write_text("miniapp\n")
    (tmp_path / "io/a").write_text("before")
    git = "git -c user.name=n -c user.email=e"
    subprocess.run(f"git init -q && git add . && {git} commit -qm first", shell=True, cwd=tmp_path,
                   check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True,
                          text=True, check=True).stdout.strip()
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    monkeypatch.setattr(rows, "FOLDER", tmp_path / "perf" / "results")
    nunatak = tmp_path / "miniapp" / "nunatak"

    def is_refused(said):
        nunatak.write_text(f"#!/bin/sh\necho '  commit           {said}'\n")
        nunatak.chmod(0o755)
        stamps.look_again()
        try:
            reproduce.expect_this_code("r", tmp_path)
        except StudyError as error:
            assert f"found those of commit {said}" in str(error)
            return True
        return False

    assert is_refused("0123abc") and not is_refused(head) and not is_refused("")
    assert is_refused(f"{head}-dirty")  # what had been changed is not there any more
    (tmp_path / "io/a").write_text("now")
    assert is_refused(head) and not is_refused(f"{head}-dirty")
    os.utime(tmp_path / "io/a", (time.time() + 100, time.time() + 100))
    assert is_refused(f"{head}-dirty")  # made before this change


def test_python_that_is_only_laid_out_again_is_the_same():
    one = '"""Words."""\ndef f(a, b):\n    return [a,\n            b]\n'
    assert stamps.syntax(one) == stamps.syntax('def f(a, b):\n    """More."""\n    return [a, b]\n')
    assert stamps.syntax(one) != stamps.syntax("def f(a, b):\n    return [b, a]\n")


def test_a_row_is_older_than_changes_of_what_it_measures(tmp_path, monkeypatch):
    """Its command, the scripts that it calls, the program of its study; not another program, a
    picture, its words. In a repository of its own."""
    def older(commit, name, text):
        (tmp_path / name).write_text(text)
        stamps.changed.cache_clear(), stamps.rows_at.cache_clear()
        return stamps.older("r", commit)

    row = ("title: A\nrows: {r: {claim: CLAIM, command: compare.py && perf/study run "
           "perf/studies/s.yaml, figures: {f: {value: a}}}}\n")
    files = {"io/a": (True, ""), "kernels/a": (False, ""),
             "perf/compare.py": (True, "import lines\n"), "perf/lines.py": (True, ""),
             "perf/scaling_study/plots.py": (False, ""),
             "perf/studies/s.yaml": (True, "program: nunatak-io\n"),
             "perf/results/10_a.yaml": (False, row)}
    for name, (_, text) in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run("git init -q && git add . && git -c user.name=n -c user.email=e commit "
                   "-qm first", shell=True, cwd=tmp_path, check=True)
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    monkeypatch.setattr(rows, "FOLDER", tmp_path / "perf" / "results")
    for name, (measured, text) in files.items():
        python = name.endswith(".py")
        assert older("HEAD", name, text + "# CLAIMS\n") == (measured and not python), name
        assert not python or older("HEAD", name, text + "CLAIMS = 1\n") == measured, name
        assert not older("HEAD", name, text) and older("HEAD+", name, text)
    assert older("HEAD", "perf/results/10_a.yaml",
                 row.replace("compare.py", "compare.py -more")) and stamps.stamp("r").endswith("+")


def test_an_end_from_outside_ends_the_row(tmp_path):
    """By SIGTERM: status 130, and none of its processes is left."""
    command = [sys.executable, ROOT / "perf" / "study", "reproduce", "step_output", "--program",
               os.environ["NUNATAK"], "--keep", tmp_path, "--output", tmp_path / "here.yaml"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
        begin = time.time()
        while len(processes_of(tmp_path)) < 2:  # itself, and the nunatak-step of its row
            assert run.poll() is None and time.time() - begin < 60
            time.sleep(0.05)
        run.terminate()
        assert run.wait(60) == 130
    assert not processes_of(tmp_path)


def test_the_pages_say_what_was_measured():
    """README's table and docs/results.md are those that the rows make; what was measured are the
    figures of the rows, which claims take."""
    done = study("results", "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    known = {name: row for section in rows.read().values()
             for name, row in section.get("rows", {}).items()}
    for name, there in rows.measured()["rows"].items():
        assert (known[name]["figures"].keys() ==
                there["values"].keys()), f"{name}: perf/study reproduce {name} --record"
        assert "{" not in result_pages.said(known[name]["claim"], there)
    assert result_pages.of_row(result_pages.SAID.search("<!-- claim: x -->\nold\n"),
                               {"x": {"claim": "It is {a:.1f}."}},
                               {"x": {"values": {"a": [2.04, 1, 3]}}}) == "It is 2.0.\n"
    assert (study("reproduce", "no_such_row").returncode == 1 and
            "found no_such_row" in study("reproduce", "no_such_row").stderr)


def test_the_quick_rows_as_a_stranger_runs_them(tmp_path):
    done = study("reproduce", "--quick", "--runs", 1, "--program", os.environ["NUNATAK"],
                 "--output", tmp_path / "here.yaml")
    assert (done.returncode == 0 and "FAILED" not in done.stdout and
            "DIFFERS" not in done.stdout), done.stdout + done.stderr
    here = yaml.safe_load((tmp_path / "here.yaml").read_text())
    quick = {name for section in rows.read().values()
             for name, row in section.get("rows", {}).items() if row.get("quick") == "yes"}
    assert here["rows"].keys() == quick and here["machines"]["here"]["cores"] >= 1
