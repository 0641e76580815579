"""The benchmark in its smallest size: it runs, is submitted, checked and compared; ways of cheating
are refused."""
import argparse
import copy
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import pytest
from conftest import FOLDER

SOURCE = pathlib.Path(os.environ["NUNATAK_SOURCE"])
STUDY = [sys.executable, str(SOURCE / "perf" / "study")]
sys.path.insert(0, str(SOURCE / "perf"))
# The rules of XS for 4 years in place of 800
BENCHMARK = pathlib.Path(tempfile.mkdtemp()) / "benchmark.yaml"
SHORT = {"run_years: 800, snapshot_every: 200, spatial_every: 8}": "run_years: 4, snapshot_every: "
         "2, spatial_every: 0.25}", "least: 30s": "least: 0.5s", r"(time steps\n    fields: )\w+":
         r"\g<1>2ca6a544a847347bbb4e03eeae9a63d5964f847aa29e0a8a44b2b809fb0504fa"}
text = (SOURCE / "perf" / "studies" / "benchmark.yaml").read_text()
for long, short in SHORT.items():
    text, found = re.subn(long, short, text)
    assert found == 1, long
BENCHMARK.write_text(text)
os.environ["NUNATAK_BENCHMARK"] = str(BENCHMARK)
from scaling_study import submission, submission_check  # noqa: E402


def run(words, folder):
    environment = {**os.environ, "HOME": str(folder)}  # ReFrame keeps notes there
    return subprocess.run([*map(str, words)], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=500, check=False)


def study(*words, folder):
    return run([*STUDY, *words], folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a submission, `mine.json`."""
    folder = tmp_path_factory.mktemp("benchmark")
    of_memory = submission_check.in_memory(
        run(["df", "--output=fstype,source", folder], folder).stdout)
    done = study("run", BENCHMARK, "--size", "XS", "--system", "local", "--program",
                 FOLDER / "nunatak",
                 "--output", "xs", *(["--scratch", FOLDER] if of_memory else []), folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    done = study("submit", "xs", "-o", "mine.json", folder=folder)
    assert done.returncode == 0 and "fields right" in done.stdout, done.stdout + done.stderr
    return folder


def stretched(values):
    """An object of a submission, of a machine on which all times are three times as long."""
    times = {name for name in values if "seconds" in name or
             name in ("min", "mean", "max", "median", "q1", "q3", "all", "elapsed")}
    # whose own are already
    times = {name: values[name] for name in times if not isinstance(values[name], dict)}
    return {**values, **{name: [3 * t for t in time] if isinstance(time, list) else 3 * time
                         for name, time in times.items()}}


def test_a_submission_is_accepted_and_compared(made):
    assert study("check", "mine.json", folder=made).returncode == 0
    faster = json.loads((made / "mine.json").read_text())
    faster["sizes"]["XS"]["figure"]["SYPD"] *= 2
    (made / "faster.json").write_text(json.dumps(faster))
    done = study("check", "faster.json", folder=made)
    assert (done.returncode == 1 and "refused: XS: expected" in done.stdout and
            "years over time" in done.stdout)
    slow = json.loads((made / "mine.json").read_text(), object_hook=stretched)
    slow["sizes"]["XS"]["figure"] = submission.figure_of(slow["sizes"]["XS"]["runs"])
    for day, run in enumerate(slow["sizes"]["XS"]["runs"], 1):
        # each has ended before the next one
        run["report"]["started"] = f"2026-01-{day:02}T00:00:00Z"
    (made / "slow.json").write_text(json.dumps(slow))
    done = study("compare", "slow.json", "mine.json", "mine.json", "faster.json", folder=made)
    assert done.returncode == 1 and "file 'faster.json' is left out" in done.stderr
    head, _, one, other, last = done.stdout.splitlines()
    runs, machine = (json.loads((made / "mine.json").read_text())["sizes"]["XS"][key]
                     for key in ("runs", "machine"))
    assert (one.count("|") == head.count("|") and one.startswith("| XS |") and
            f"| {machine['accelerators_per_node']} |" in one and "| direct/" in one)
    alone = not any(map(submission.is_disturbed,
                        submission.points_of(runs)[submission.figure_of(runs)["point"]]))
    assert f"| {'no difference' if alone else 'disturbed'} |" in other
    at_speed = head.split("|").index(" SYPD ")
    # the fastest first
    assert float(one.split("|")[at_speed]) == pytest.approx(3 * float(last.split("|")[at_speed]),
                                                            rel=1e-3)
    assert f"| {'0.33' if alone else 'disturbed'} |" in last
    first = runs[0]
    assert first["raw"]["bytes"] == first["report"]["output"]["written_bytes"] > 1e8
    options = {name: value for name, value in first["report"]["options"].items()
               if not name.startswith(submission_check.FREE)}
    assert {**options,
            **submission_check.DEFAULTS} == options, "the defaults of the model have changed"
    assert options.keys() - submission_check.DEFAULTS.keys() <= submission.rules_of(
        "XS")["options"].keys(), "an option is new"
    assert first["report"]["timers"].keys() == submission.PARTS, "a part of the run is new"


def test_the_test_of_reframe(tmp_path):
    """Runs XS on two ranks, and would fail with other fields."""
    site = SOURCE / "perf" / "scaling_study" / "sites" / "local.py"
    words = [sys.executable, pathlib.Path(sys.executable).with_name("reframe"), "-C", site, "-c",
             SOURCE / "perf/reframe/benchmark.py", "-r", "--tag",
             "CI", "-S", f"program={FOLDER / 'nunatak'}", "--prefix", tmp_path, "--nocolor"]
    done = run(words, tmp_path)
    assert (done.returncode == 0 and "Ran 1/1 test case(s)" in done.stdout and
            "years/day" in done.stdout), done.stdout + done.stderr


def at(*path, value, runs=(1,)):
    """Puts a value, or what it makes of the old one, at a place of the whole or of some runs; None
    removes it."""
    def edit(whole):
        for folder in ([whole] if path[0] in whole
                       else [whole["sizes"]["XS"]["runs"][k] for k in runs]):
            *folders, last = path
            for name in folders:
                folder = folder[name]
            new = value(folder[last]) if callable(value) else value
            if new is None:
                folder.pop(last, None)
            else:
                folder[last] = new
    return edit


def each(*path, value):
    return at(*path, value=value, runs=range(6))


def machine(name, value):
    return at("sizes", "XS", "machine", name, value=value)


def in_turn(*edits):
    def edit(whole):
        for one in edits:
            one(whole)
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


def copied(change):
    """The best run as all repetitions of its point, each time changed a little; they begin when the
    others did."""
    def edit(whole):
        runs = whole["sizes"]["XS"]["runs"]
        of_point = [run for run in runs if run["point"] == submission.figure_of(runs)["point"]]
        best = copy.deepcopy(min(of_point, key=lambda run: run["seconds"]))
        for k, run in enumerate(of_point):
            kept = {"repetition": run["repetition"], "load_average": run["load_average"]}
            started = run["report"]["started"]
            run.update(copy.deepcopy({**best, **kept}))
            run["report"]["started"] = started
            for solve in run["report"]["ssa"]["history"]:
                change(solve, k)
            for timer in run["report"]["timers"].values():
                change(timer, k)
    return edit


def later(solve, k):
    solve.update(
        {name: value + k * 1e-12 for name, value in solve.items() if name in ("seconds", "max")})


def slower(times, k):
    times.update({name: value * (1 - 0.01 * k) for name, value in times.items()
                  if name in ("min", "mean", "max") or name.startswith("seconds")})


def served(*edits):
    """As if a second rank had written what one rank computes."""
    def edit(whole):
        one = whole["sizes"]["XS"]
        one["runs"] = [run for run in one["runs"] if run["point"] == "strong-1"]
        for run in one["runs"]:
            output = run["report"]["output"]
            run["report"]["options"]["io_transport"] = output["transport"] = "async:1"
            run.update(ranks=2, ranks_per_node=2)
            output["servers"] = [
                {"servers": 1, "phases": {"fsync": output["phases"]["fsync"]["max"]},
                 "written_bytes": output["written_bytes"]}]
            output["written_bytes"] = 0
            output["phases"]["fsync"] = dict.fromkeys(output["phases"]["fsync"], 0)
        loads = [load for run in one["runs"] for load in run["load_average"]]
        one["machine"]["load_average"] = [min(loads), max(loads)]
        one["figure"] = submission.figure_of(one["runs"])
        in_turn(*edits)(whole)
    return edit


def of_server(**values):
    return served(at(*OUTPUT, "servers", 0, value=lambda group: {**group, **values}))


RIGHT = submission.rules_of("XS")["fields"]
OPTION, OUTPUT, SOLVES, RAW = (("report", "options"), ("report", "output"),
                               ("report", "ssa", "history"), ("raw", "seconds"))


@pytest.mark.parametrize("edit, words", [
    (at(*OPTION, "ssa_tolerance", value=1e-3), "-ssa_tolerance 1e-6"),
    (at("report", "ssa", "history", 3, "final_residual", value=lambda r: 1e6 * r),
     "residuals below 1e-06"),
    (at("report", "ssa", "history", value=lambda solves: solves[1:]), "a solve for each step"),
    (each(*OPTION, "pico_boxes", value=2), "-pico_boxes 5"),
    (each(*OPTION, "pico_boxes", value=None), "none of -pico_boxes"),
    (each(*OPTION, "io_layout", value=None), "none of -io_layout"),
    (at(*OPTION, "io_deflate", value=None), "the same options"),
    (each(*OPTION, "pico_new", value=1), "-pico_new not there"),
    (each(*OUTPUT, "layout", value="morton"), "output by -io_layout default"),
    (in_turn(each(*OPTION, "io_layout", value="file-per-aggregator"),
             each(*OUTPUT, "layout", value="file-per-aggregator")), "one file per name"),
    (each(*OPTION, "stress", value=False), "-stress ssa+sia"),
    (at(*OPTION, "io_checksum", value="none"), "-io_checksum values"),
    (at(*OPTION, "spatial_every", value=2.0), "-spatial_every 0.25"),
    (at(*OPTION, "run_years", value=None), "none of -run_years"),
    (at("report", "years", value=8.0), "4 years"),
    (at("report", "grid", "Mx", value=191), "381 Mx"),
    (at("report", "ended_early", value="-run_wall"), "went to its end"),
    (at("ranks", value=64), "a report of 64 ranks"),
    (at("oversubscribed", value=True), "a core for each rank"),
    (at("report", "wall_seconds", value=lambda t: 0.5 * t), "s of the report"),
    (halved(), "parts that make"),
    (halved("timers"), "solves within the time of their part"),
    (each("report", "timers", "energy", value=None), "no energy"),
    (each("report", "timers", "energy", "mean", value=lambda t: 0.5 * t), "min <= mean <= max"),
    (each(*SOLVES, value=lambda solves: [{**solve, "seconds": -5} for solve in solves]),
     "parts of 0 s or more"),
    (each(*SOLVES, value=lambda solves: [{**solve, "final_residual": 1e10, "load": math.inf}
                                         for solve in solves]), "a finite number"),
    (each(*SOLVES, value=lambda solves: [{**solve, "final_residual": 1e10, "load": 1e17}
                                         for solve in solves]),
     "a first residual that is the load"),
    (each(*SOLVES, value=lambda solves: [{**solve, "load": -1.0} for solve in solves]),
     "loads above 0"),
    (at(*SOLVES, 2, "load", value=lambda load: 1.001 * load),
     "the same options, solves and calls"),
    (each("report", "ssa", "steps", value=1), "steps of the solves together"),
    (each("elapsed", value=1000), "s or less from outside"),
    (each("elapsed", value=50), "one run after the other"),
    (each("report", "started", value="2001-01-01T00:00:00Z"), "one run after the other"),
    (each("report", "started", value="2099-01-01T00:00:00Z"),
     "had ended when the submission was made"),
    (each("report", "started", value="today"), "a date such as"),
    (at("made", value=None), "no made"),
    (at("made", value="2099-01-01T00:00:00+00:00"), "not in the future"),
    (at("elapsed", value=0.01), "from outside, too"),
    (at("report", "wall_seconds", value=-1.0), "a time above 0"),
    (at(*OUTPUT, "phases", "fsync", "max", value=1e9), "the run in phase fsync"),
    (at(*OUTPUT, "phases", "fsync", "operations", value=0), "an fsync for each file"),
    (at(*OUTPUT, "written_bytes", value=0), "bytes written"),
    (each(*OUTPUT, "written_bytes", value=lambda n: n + 10**6), "bytes written to result.nc"),
    (each(*OUTPUT, "phases", "post", "bytes", value=lambda n: n - 8), "bytes of values"),
    (each(*OUTPUT, "seconds", value=1e-9), "as its timers have"),
    (each(*OUTPUT, "percent_of_run", value=1.0), "of the run for output"),
    (each(*OUTPUT, "phases", "wait",
          value=lambda phase: {**phase, **dict.fromkeys(("min", "mean", "max"), 1.2)}),
     "phases of the output"),
    (each("raw", value=None), "raw writes of"),
    (each("raw", "bytes", value=1), "raw writes of"),
    (each(*RAW, "median", value=lambda t: 100 * t), "quartiles of the raw writes"),
    (each(*RAW, value=lambda t: {name: [100 * t["median"]] if name == "all" else 100 * t["median"]
                                 for name in t}), "one run after the other"),
    (each(*RAW, value=lambda t: {name: [1e-9] if name == "all" else 1e-9 for name in t}),
     "s or more"),
    (of_server(servers=2), "the servers of -io_transport async:1"),
    (of_server(phases={"fsync": 0.0}), "an fsync by each group"),
    (of_server(phases={}), "no fsync"),
    (of_server(written_bytes=0), "bytes written"),
    (served(at(*OUTPUT, "servers", value=[])), "the servers of -io_transport async:1"),
    (each(*OUTPUT, "servers", value=[{"servers": 1, "phases": {"fsync": 1e-3},
                                      "written_bytes": 0}]), "the servers of -io_transport sync"),
    (at(*OUTPUT, "files", value=lambda files: files[1:]), "the files result.nc, series.nc"),
    (of_sums(lambda sums: sums["spatial.nc"]["time"].pop()), "17 records in spatial.nc"),
    (of_sums(lambda sums: sums.pop("snapshot_00002.000.nc")), "the files result.nc, series.nc"),
    (of_sums(lambda sums: sums["result.nc"].update(thk=["0" * 16])), f"the fields {RIGHT[:16]}"),
    (at("sums", value=lambda sums: {digest: {} for digest in sums}), f"the hash {RIGHT}"),
    (at("fields", value="0" * 64), "expected what `perf/study submit` writes"),
    (at("repetition", value=7), "at least 3"),
    (copied(later), "two with the same times"),
    (copied(slower), "or multiples of them: strong-"),
    (each("threads", value=True), "a whole number of 1 or more"),
    (at("threads", value=2), "the same ranks, threads and options"),
    (in_turn(at("ranks", value=1), at("ranks_per_node", value=1),
             at("report", "ranks", value={"size": 1, "px": 1, "py": 1})), "put by each rank"),
    (each("report", "messages", "bytes", value=-1), "of 0 or more in messages"),
    (machine("nodes", 7), "the 1 nodes of its largest run"),
    (machine("physical_cores", 1000), "emulated: true"),
    (machine("load_average", [0.0, 0.0]), "least and most of the runs"),
    (machine("file_system", "tmpfs tmpfs 24G"), "outlast a loss of power"),
    (machine("file_system", "ext4 /dev/ram0 1G"), "outlast a loss of power"),
    (machine("cpu", "\x1b[31mRED"), "a printable text"),
    (each("report", "versions", "commit", value="x"), "a commit of 7 to 40 hexadecimal digits"),
    (each("report", "versions", "compiler", value="x"), "the version of compiler"),
    (machine("versions", {}), "the versions of the machine"),
    (each("report", "mass_budget", "volume_end_km3", value=lambda v: 1.01 * v),
     "a closed mass budget"),
    (each("report", "grid", "dx", value=8000.0), "m along dx"),
    (at("report", "versions", "commit", value=None), "the version of commit"),
    (at("report", "versions", "compiler", value="another"), "one version of everything"),
    (machine("cpu", ""), "machine.cpu: expected a text"),
    (at("sizes", value=lambda sizes: {"S": sizes["XS"]}), "the size XS, which shows"),
    (at("benchmark", value="nunatak 0"), "expected nunatak 1"),
    (at("sizes", "XS", "runs", value=[]), "expected what `perf/study submit` writes"),
])
def test_cheating_is_refused(made, edit, words):
    whole = json.loads((made / "mine.json").read_text())
    assert submission.checked(whole) == []
    edit(whole)
    refused = submission.checked(whole)
    assert any(words in sentence for sentence in refused), refused


def test_servers_are_accepted(made):
    whole = json.loads((made / "mine.json").read_text())
    served()(whole)
    assert submission.checked(whole) == []


@pytest.mark.parametrize("edit, words", [
    (in_turn(each("report", "versions", "commit", value="0123abc-dirty"),
             at("sizes", "XS", "machine", "versions", "commit", value="0123abc-dirty")),
     "not committed"),
    (in_turn(machine("load_average", [0.0, 99.0]), each("load_average", value=[99.0, 0.0])),
     "the machine was not quiet"),
    (in_turn(machine("system", "slurm"), each("report", "started", value="2001-01-01T00:00:00Z")),
     "runs at the same time"),
    (in_turn(machine("system", "slurm"), each("raw", "seconds", value={
        **dict.fromkeys(("median", "q1", "q3", "min", "max"), 30.0), "all": [30.0]})),
     "times as fast as raw writes"),
    (machine("emulated", True), "an emulated cluster"),
    (each("report", "pop", "useful_seconds", "mean", value=lambda t: 0.5 * t),
     "6 of 6 runs were disturbed"),])
def test_what_is_doubted(made, edit, words):
    whole = json.loads((made / "mine.json").read_text())
    edit(whole)
    assert submission.checked(whole) == []
    one = whole["sizes"]["XS"]
    assert any(words in sentence for sentence in submission_check.doubts(one))
    assert "disturbed" not in words or "disturbed" in submission.row_of(one, copy.copy(one))


def places(value, path=()):
    """The path of each value and of each list or object."""
    yield path
    for name, item in (value.items() if isinstance(value, dict) else enumerate(value)
                       if isinstance(value, list) else ()):
        yield from places(item, (*path, name))


def test_compare_survives_what_it_is_given(made, capsys, monkeypatch):
    """A sample of values at a sample of places, then whole files."""
    text = (made / "mine.json").read_text()
    whole = json.loads(text)
    monkeypatch.setattr(submission, "read", lambda path: whole)
    values = [None, "x", "\x1b[31m|\n", -1, 0, math.inf, [], {}, True, 10**400, 1e308]
    for number, (*folders, last) in enumerate(
        random.Random(1).sample(list(places(whole))[1:], 300)):
        folder = whole
        for name in folders:
            folder = folder[name]
        old, folder[last] = folder[last], values[number % len(values)]
        submission.compare(argparse.Namespace(files=["one"]))
        folder[last] = old
    monkeypatch.undo()
    hostile = ["", "[", "[]", "1", '"x"', "{}", "NaN", 900 * "[" + 900 * "]", 10**5 * '{"a":',
               '{"a": "\\ud800"}', text.replace("4.0", "1e400"),
               text.replace("4.0", "NaN"), text.replace("4.0", 5000 * "9"),
               text.replace("Xeon", "|<b>&"), text.replace("Xeon", "\\u001b[31m")]
    for number, content in enumerate(hostile):
        (made / f"hostile{number}.json").write_text(content)
    os.mkfifo(made / "pipe")
    done = study("compare", "mine.json",
                 *[f"hostile{number}.json" for number in range(len(hostile))], "pipe", ".",
                 "none\x1b", folder=made)
    out = capsys.readouterr()
    assert (done.returncode == 1 and done.stderr.count("is left out") == len(hostile) + 2 and
            "Traceback" not in done.stderr), done.stderr
    rows = done.stdout.splitlines()
    assert (len(rows) == 4 and "&#124;&#60;b&#62;&#38;" in rows[3] and
            len({row.count("|") for row in rows}) == 1), done.stdout
    for line in (out.out + out.err + done.stdout + done.stderr).splitlines():
        assert line.isprintable(), repr(line)
