"""The benchmark in its smallest size: it runs, is submitted, checked and compared; ways of cheating are refused."""
import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import FOLDER

SOURCE = pathlib.Path(os.environ["NUNATAK_SOURCE"])
STUDY = [sys.executable, str(SOURCE / "perf" / "study")]
sys.path.insert(0, str(SOURCE / "perf"))
from scaling_study import submission  # noqa: E402


def run(words, folder):
    environment = {**os.environ, "HOME": str(folder)}  # ReFrame keeps notes there
    return subprocess.run([*map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, timeout=500, check=False)


def study(*words, folder):
    return run([*STUDY, *words], folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a submission, `mine.json`."""
    folder = tmp_path_factory.mktemp("benchmark")
    done = study("run", SOURCE / "perf" / "studies" / "benchmark.yaml", "--size", "XS", "--system", "local", "--program", FOLDER / "nunatak",
                 "--output", "xs", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    done = study("submit", "xs", "-o", "mine.json", folder=folder)
    assert done.returncode == 0 and "fields right" in done.stdout, done.stdout + done.stderr
    return folder


def test_a_submission_is_accepted_and_compared(made):
    assert study("check", "mine.json", folder=made).returncode == 0
    faster = json.loads((made / "mine.json").read_text())
    faster["sizes"]["XS"]["figure"]["SYPD"] *= 2
    (made / "faster.json").write_text(json.dumps(faster))
    done = study("check", "faster.json", folder=made)
    assert done.returncode == 1 and "refused: XS: expected" in done.stdout and "years over time" in done.stdout
    done = study("compare", "mine.json", "mine.json", "faster.json", folder=made)
    assert done.returncode == 1 and "file 'faster.json' is left out" in done.stderr
    head, _, one, other = done.stdout.splitlines()
    assert one.count("|") == head.count("|") and one.startswith("| XS |") and "| no difference |" in other and "| direct/" in one
    first = json.loads((made / "mine.json").read_text())["sizes"]["XS"]["runs"][0]
    assert first["raw"]["bytes"] == first["report"]["output"]["written_bytes"] > 1e8


def test_the_test_of_reframe(tmp_path):
    """Runs XS on two ranks, and would fail with other fields."""
    site = SOURCE / "perf" / "scaling_study" / "sites" / "local.py"
    words = [sys.executable, pathlib.Path(sys.executable).with_name("reframe"), "-C", site, "-c", SOURCE / "perf/reframe/benchmark.py", "-r", "--tag",
             "CI", "-S", f"program={FOLDER / 'nunatak'}", "--prefix", tmp_path, "--nocolor"]
    done = run(words, tmp_path)
    assert done.returncode == 0 and "Ran 1/1 test case(s)" in done.stdout and "years/day" in done.stdout, done.stdout + done.stderr


def at(*path, value):
    """Puts a value, or what it makes of the old one, at a place; None removes it."""
    def edit(whole):
        *folders, last = path if path[0] in whole else ("sizes", "XS", "runs", 1, *path)
        for name in folders:
            whole = whole[name]
        new = value(whole[last]) if callable(value) else value
        if new is None:
            del whole[last]
        else:
            whole[last] = new
    return edit


def of_sums(change):
    """Changes the sums in all runs, with their hash."""
    def edit(whole):
        (sums,) = whole["sums"].values()
        change(sums)
        whole["sums"] = {submission.hash_of(sums): sums}
        for run in whole["sizes"]["XS"]["runs"]:
            run["fields"] = submission.hash_of(sums)
    return edit


def halved(*what):
    def edit(whole):
        run = whole["sizes"]["XS"]["runs"][1]
        run["report"]["wall_seconds"] *= 0.5
        run["seconds"] *= 0.5
        for timer in run["report"]["timers"].values() if what else ():
            timer.update({name: 0.5 * timer[name] for name in ("min", "mean", "max")})
    return edit


def copied(whole):
    runs = whole["sizes"]["XS"]["runs"]
    runs[2] = {**copy.deepcopy(runs[0]), "repetition": runs[2]["repetition"]}


RIGHT = submission.rules_of("XS")["fields"]
OPTION, OUTPUT = ("report", "options"), ("report", "output")


@pytest.mark.parametrize("edit, words", [
    (at(*OPTION, "ssa_tolerance", value=1e-3), "-ssa_tolerance 1e-6"),
    (at("report", "ssa", "history", 3, "final_residual", value=lambda r: 1e6 * r), "residuals below 1e-06"),
    (at("report", "ssa", "history", value=lambda solves: solves[1:]), "a solve for each step"),
    (at(*OPTION, "seed", value=2), "-seed 1"),
    (at(*OPTION, "stress", value="sia"), "-stress ssa+sia"),
    (at(*OPTION, "pico_boxes", value=2), "-pico_boxes as in the size XS, 5"),
    (at(*OPTION, "ssa_multigrid_precision", value="double"), "-ssa_multigrid_precision single"),
    (at(*OPTION, "io_checksum", value="none"), "-io_checksum values"),
    (at(*OPTION, "io_commit_every", value=0), "-io_commit_every 10"),
    (at(*OPTION, "spatial_every", value=2.0), "-spatial_every 0.25"),
    (at(*OPTION, "run_years", value=None), "none of -run_years"),
    (at("report", "years", value=8.0), "4 years"),
    (at("report", "grid", "Mx", value=191), "381 Mx"),
    (at("report", "ended_early", value="-run_wall"), "went to its end"),
    (at("report", "ranks", "px", value=7), "a report of "),
    (at("ranks", value=64), "a report of 64 ranks"),
    (at("oversubscribed", value=True), "a core for each rank"),
    (at("report", "wall_seconds", value=lambda t: 0.5 * t), "s of the report"),
    (halved(), "parts that make"),
    (halved("timers"), "solves within the time of their part"),
    (at("elapsed", value=0.01), "from outside, too"),
    (at("report", "wall_seconds", value=-1.0), "a time above 0"),
    (at("report", "timers", "energy", "min", value=-1.0), "0 <= min <= mean"),
    (at(*OUTPUT, "phases", "fsync", "max", value=1e9), "the run in phase fsync"),
    (at(*OUTPUT, "phases", "fsync", "operations", value=0), "an fsync for each file"),
    (at(*OUTPUT, "written_bytes", value=0), "bytes written"),
    (at(*OUTPUT, "files", value=lambda files: files[1:]), "the files result.nc, series.nc"),
    (of_sums(lambda sums: sums["spatial.nc"]["time"].pop()), "17 records in spatial.nc"),
    (of_sums(lambda sums: sums.pop("snapshot_00002.000.nc")), "the files result.nc, series.nc"),
    (of_sums(lambda sums: sums["result.nc"].update(thk=["0" * 16])), f"the fields {RIGHT[:16]}"),
    (at("sums", value=lambda sums: {digest: {} for digest in sums}), f"the hash {RIGHT}"),
    (at("fields", value="0" * 64), "expected what `perf/study submit` writes"),
    (at("repetition", value=7), "at least 3"),
    (copied, "two with the same times"),
    (at("report", "versions", "commit", value=None), "the version of commit"),
    (at("report", "versions", "compiler", value="another"), "one version of everything"),
    (at("load_average", value=None), "expected what `perf/study submit` writes"),
    (at("sizes", "XS", "machine", "cpu", value=""), "cpu of the machine"),
    (at("sizes", value=lambda sizes: {"S": sizes["XS"]}), "the size XS, which shows"),
    (at("benchmark", value="nunatak 0"), "expected nunatak 1"),
    (at("sizes", "XS", "runs", value="none"), "expected what `perf/study submit` writes"),
    (at("sizes", "XS", "runs", value=[]), "expected what `perf/study submit` writes"),
    (at("sizes", "XS", "machine", "cores_per_node", value="2"), "a number of cores_per_node above 0"),
])
def test_cheating_is_refused(made, edit, words):
    whole = json.loads((made / "mine.json").read_text())
    assert submission.checked(whole) == []
    edit(whole)
    refused = submission.checked(whole)
    assert any(words in sentence for sentence in refused), refused
