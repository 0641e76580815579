"""perf/study run: study files are read strictly, and what goes wrong in a run is a line and loses
nothing.

Most runs here are those of a shell script, started by another one in the place of mpiexec: no
second is spent on MPI.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import types

import pytest
from clusters import (cluster, needs_file_system, needs_slurm,  # noqa: F401 (cluster is a fixture)
                      skip_without_cluster)
from conftest import FOLDER, processes_of

SOURCE = pathlib.Path(os.environ["NUNATAK_SOURCE"])
STUDY = [sys.executable, str(SOURCE / "perf" / "study")]
sys.path.insert(0, str(SOURCE / "perf"))
from scaling_study import jobs, machine, points, results, study_file  # noqa: E402
from scaling_study import run as study_main  # noqa: E402

PROGRAM = """#!/bin/sh
# `-case X ... -report FILE`, in the place of nunatak
[ "$1" != -help ] || exit 0
[ "$1" != -version ] || exit 0
case "$*" in *crash*) echo "no memory left" >&2; exit 1;; *silent*) exit 0;; *slow*) sleep 60;; esac
while [ "$1" != -report ]; do [ "$1" != -i ] || cat "$2" || exit 3; shift; done
echo '{"wall_seconds": 0.5, "grid": {"Mx": 3, "My": 4}, "versions": {"MPI": "none"}}' > "$2"
touch result.nc manifest.jsonl
"""
# without the environment of the tests Open MPI would refuse root
MPIEXEC = """#!/bin/sh
[ "$(id -u)" != 0 ] || [ "$OMPI_ALLOW_RUN_AS_ROOT$OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" = 11 ] ||
  { echo root; exit 9; }
shift
exec "$@"
"""
ODD = """a b'c"d$(e)`f`;g&(h){sessionid}#*?[i]\\j:$"""  # the name of a folder


def write(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def study_in(folder, program=STUDY):
    """study(text of the file, *arguments): one `perf/study run` on this machine with the script
    above."""
    write(folder / "mpiexec", MPIEXEC)
    write(folder / "program", PROGRAM)
    # ReFrame keeps notes there
    others = [p for p in os.environ["PATH"].split(":")
              if not os.path.exists(f"{p}/nunatak-verify")]
    environment = {
        **os.environ, "NUNATAK_MPIEXEC": shlex.quote(str(folder / "mpiexec")), "HOME": str(folder),
        "PATH": os.pathsep.join([f"{folder / 'bin'}", *others]),
        "LD_LIBRARY_PATH": os.pathsep.join([f"{folder / 'lib'}",
                                            os.environ.get("LD_LIBRARY_PATH", "")])}
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        environment.pop(name, None)

    def start(text, *arguments):
        (folder / "study.yaml").write_text(text)
        words = [*program, "run", str(folder / "study.yaml"), "--system", "local", "--program",
                 str(folder / "program"), "--output", str(folder / "out"), *arguments]
        return subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment, cwd=folder)

    def call(*arguments):
        process = start(*arguments)
        process.out, process.err = process.communicate(timeout=60)
        return process
    call.start = start
    return call


@pytest.fixture
def study(tmp_path):
    return study_in(tmp_path)


def sentence_of(done):
    """What a study says that does not start."""
    assert (done.returncode == 1 and done.err.startswith("study: error: ") and
            done.err.count("\n") == 1 and not done.out), done.out + done.err
    return done.err


def records(folder):
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("text, complaint", [
    ("", "expected the keys of a study"),
    ("strong: [", "expected YAML, found: while parsing"),
    ("strong: {nodes: [1]}\nstrong: {nodes: [2]}",
     "expected YAML, found: the key 'strong' comes twice"),
    ("title: x", "key 'strong': expected the key strong, weak, or both, found neither"),
    ("strong: {nodes: [1]}\nrepeat: 3", "expected one of the keys title, program, options, vary"),
    ("strong: {nodes: []}", "key 'strong.nodes': expected a list of different whole numbers of 1 "
     "or more, found the list []"),
    ("weak: {nodes: [1]}", "key 'weak': expected the key cells_per_rank, found none"),
    ("strong: {nodes: [1]}\nmodel: {options: -steps 2}",
     "key 'model': expected the key strong, weak, or both, found neither"),
    ("strong: {nodes: [1]}\nprogram: nunatak-io\nmodel: {strong: [4]}",
     "key 'model': expected model of nunatak, found nunatak-io"),
    ("strong: {nodes: [0]}",
     "key 'strong.nodes.0': expected a whole number of 1 or more, found '0'"),
    ("strong: {nodes: [1], ranks: [1]}",
     "key 'strong': expected either nodes or ranks, found both"),
    ("strong: {nodes: [1]}\ntime_limit: 2 fortnights",
     "key 'time_limit': expected a time such as 3h50m, 90min or 3:50:00, found '2 fortnights'"),
    ("strong: {nodes: [1]}\nvary: {io_format: }",
     "key 'vary.io_format': expected a list of different values, or labels"),
    ("strong: {nodes: [1]}\noptions: -run_steps 3 4",
     "key 'options': expected options, each -name value, found '4'"),
    ("strong: {nodes: [1]}\noptions: -report x", "key 'options': expected no option -report"),
    ("strong: {nodes: [1]}\nprogram: pism",
     "key 'program': expected one of nunatak, nunatak-io, found 'pism'"),
    ("strong: {nodes: [1]}\ncluster: {speed: 9}",
     "key 'cluster': expected one of the keys servers, rate"),
    ("strong: {nodes: [1]}\noptions: -title 'x",
     "key 'options': expected options, as -name value, found '-title 'x' (No closing quotation)"),
    ("strong: {nodes: [1]}\nrepetitions: " + 5000 * "9",
     "key 'repetitions': expected a whole number of 1 or more, found '999"),
    ("strong: " + 5000 * "[", "expected YAML, found too many brackets inside one another"),
    ("title: " + 100000 * "x", "expected at most 65536 characters, found more"),
    ("strong: {nodes: [1]}\nsizes: {S: {threads: 2}}",
     "expected one of the sizes S (--size), found nothing"),
    ("strong: {nodes: [1]}\nprogram: nunatak-io\nnull_output: yes",
     "key 'null_output': expected null_output of nunatak"),
    ("a: &a [x, x]\nb: &b [*a, *a]\nstrong: {nodes: *b}",
     "expected YAML, found: an alias, which studies do not have"),
    ("strong: {nodes: [1]}\nvary: {threads: {a: -x 1}}",
     "key 'vary.threads': expected a list of different whole numbers of 1 or more"),
    ("strong: {nodes: [1]}\nvary: {ranks_per_node: [1, 1.5]}",
     "key 'vary.ranks_per_node.1': expected a whole number of 1 or more"),
    ("strong: {nodes: [1]}\nvary: {report: [a, b]}",
     "key 'vary': expected no option -report, which the study gives itself"),
    ("strong: {nodes: [1]}\nvary: {x: [1], -x: [2]}",
     "key 'vary': expected each option once, found -x twice"),
    ("strong: {nodes: [1]}\nvary: {out: {a: -x 1, b: -y 1}, y: [2]}",
     "key 'vary': expected each option in one key, found -y in 'out' and 'y'"),
    ("strong: {nodes: [1]}\noptions: {x: 1, -x: 2}",
     "key 'options': expected each option once, found -x twice"),
    ("strong: {nodes: [1], options: -x 1}\nvary: {x: [1, 2]}",
     "key 'strong.options': expected no option that the key vary sets, found -x"),
    ("strong: {nodes: [1]}\ntools: perf",
     "key 'tools': expected a list of different words of perf, darshan, score-p"),
    ("strong: {nodes: [1]}\ntools: [gprof]",
     "key 'tools.0': expected one of perf, darshan, score-p, nsys, kokkos-tools, found 'gprof'"),
    ("weak: {nodes: [1], cells_per_rank: 9}\nvary: {grid_Mx: [1]}",
     "key 'weak': expected no -grid_Mx in vary or in its options"),])
def test_mistakes_in_a_study_are_named(tmp_path, text, complaint):
    path = tmp_path / "wrong.yaml"
    path.write_text(text)
    with pytest.raises(study_file.StudyError) as error:
        study_file.read(path)
    said = str(error.value)
    assert (said.startswith(f"file '{path}': ") and complaint in said and
            len(said) < 500 + len(str(path)))


def test_mistakes_of_the_command_are_named(study, tmp_path):
    for arguments, complaint in (
        (["--full"], "expected the key full, for --full"),
        (["--at-once", "0"], "expected 1 or more"),
        (["--system", "moon"], "expected local, cluster, slurm or a site file"),
        (["--program", "/none"], "program '/none': expected one that can be executed")):
        done = study("strong: {nodes: [1]}", *arguments)
        assert (done.returncode == 1 and done.err.startswith("study: error: ") and
                complaint in done.err), done.err
        assert "Traceback" not in done.err
    assert "file '" in study("strong: {nodes: [1]}\noptions: -i none.nc\n").err
    twice = "strong: {nodes: [1], options: {x: 1}}\nvary: {y: [1], threads: [1]}"
    for arguments, complaint in (
        (["--options", "-x 2"], "--options: expected what the keys vary, strong and weak of "),
        (["--options", "-y 2"], "--options: expected what"),
        (["--threads", "2"], "--threads: expected what"),
        (["--ranks-per-node", "0"],
         "key 'ranks_per_node': expected a whole number of 1 or more, found '0'")):
        assert complaint in sentence_of(study(twice, *arguments))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text, complaint", [
    ("vary: {io_format: [pnetcdf, netcdff4]}", "option -io_format: expected one of null|serial|"),
    ("options: -stress sai", "option -stress: expected one of auto|sia|ssa|ssa+sia, found 'sai'"),
    ("options: -grid_dxx 8km", "option -grid_dxx: expected one of the program's, found none of "
     "this name; did you mean -grid_dx?"),
    ("vary: {resolution: [8km]}", "option -resolution: expected one of the program's, found none "
     "of this name; -help lists them"),
    ("options: -log_view", "option -log_view: expected one of the program's")])
def test_words_that_the_program_does_not_have_are_refused_before_the_first_run(study, tmp_path,
                                                                               text, complaint):
    done = study(f"strong: {{nodes: [1]}}\n{text}\n", "--program", os.environ["NUNATAK"])
    assert complaint in sentence_of(done)
    assert not (tmp_path / "out").exists()


def test_options_of_petsc_are_those_of_nunatak_alone():
    words = {name: "1" for name in ("ssa_ksp_rtol", "da_refine", "dm_view", "options_left",
                                    "options_file", "grid_Mx")}
    jobs.refuse_unknown([{"options": words}], jobs.known_options(os.environ["NUNATAK"]), True)
    with pytest.raises(study_file.StudyError,
                       match="option -da_refine: expected one of the program's"):
        jobs.refuse_unknown([{"options": {"da_refine": "1"}}],
                            jobs.known_options(FOLDER / "nunatak-io"), False)
    for given, read in (("pism:G5km", "pism:G5km"),
                        ("file:studies/cam2008.yaml", f"file:{SOURCE}/perf/studies/cam2008.yaml")):
        assert read in jobs.words({"program": "nunatak-io"}, {"options": {"workload": given}},
                                  f"{SOURCE}/perf")


def test_threads_that_the_program_does_not_have_are_refused(study, tmp_path):
    for space, allowed in (("Serial", False), ("Cuda", False), ("OpenMP", True)):
        write(tmp_path / "program", PROGRAM.replace("version ] || exit 0", f"version ] || {{ echo "
                                                    f"'  kernels run in   {space}'; exit 0; }}"))
        for text, arguments in (("threads: 2", []), ("vary: {threads: [1, 2]}", []),
                                ("", ["--threads", "2"])):
            done = study(f"strong: {{nodes: [1]}}\nrepetitions: 1\n{text}\n", *arguments)
            if allowed:
                assert done.returncode == 0, done.err
                shutil.rmtree(tmp_path / "out")
            else:
                assert (f"threads: expected 1, as the kernels of '{tmp_path / 'program'}' run "
                        f"in {space}" in sentence_of(done))
                assert not (tmp_path / "out").exists()
    said = subprocess.run([os.environ["NUNATAK"], "-version"], capture_output=True,
                          text=True).stdout
    if re.search(r"kernels run in +Serial", said):
        with pytest.raises(study_file.StudyError, match="run in Serial"):
            jobs.refuse_threads([{"threads": 1}, {"threads": 2}], os.environ["NUNATAK"])


@pytest.mark.parametrize("path", sorted((SOURCE / "perf" / "studies").glob("*.yaml")),
                         ids=lambda path: path.stem)
def test_studies_that_ship_can_be_read_in_both_sizes_and_have_words_of_the_program(path):
    for size in study_file.load(path).get("sizes", [None]):
        scaled = study_file.read(path, size=size)[0]
        known = jobs.known_options(FOLDER / scaled["program"])
        assert len(known) > 30 and "stress" not in known or known["stress"]
        jobs.refuse_unknown(points.runs_of(scaled), known, scaled["program"] == "nunatak")
    if "full" in study_file.load(path):
        full, text = study_file.read(path, full=True)
        jobs.refuse_unknown(points.runs_of(full), known, full["program"] == "nunatak")
        assert len(points.runs_of(full)) > len(points.runs_of(scaled)) and "full:" not in text
        path = path.with_name("none")
        # study.yaml is a study, too
        assert study_file.checked(path, study_file.yaml.load(text, study_file.Loader)) == full


def test_a_slurm_that_is_not_there_or_does_not_answer_is_one_sentence(study, tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    silent = ("#!/bin/sh\nfor n in 1 2 3; do echo \"${0##*/}: error: unknown host\" >&2; done; "
              "echo \"${0##*/}: fatal: nobody answers\" >&2; exit 1\n")
    for name in ("sinfo", "sbatch", "srun", "squeue", "sacct"):
        write(tmp_path / "bin" / name, silent)
    text = "strong: {nodes: [1, 2]}\nrepetitions: 3\n"
    assert ("expected a Slurm that answers sinfo, found none: sinfo: fatal: "
            "nobody answers" in sentence_of(study(text, "--system", "slurm")))
    assert not (tmp_path / "out").exists()
    write(tmp_path / "bin" / "sinfo", "#!/bin/sh\n")  # it answers, and takes no job
    assert ("expected jobs that start, found none of 6: sbatch: fatal: "
            "nobody answers" in sentence_of(study(text, "--system", "slurm")))
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(study_file.StudyError,
                       match="--system slurm: expected sbatch and srun in the PATH"):
        machine.System("slurm")


def test_points_keep_their_cells_per_rank_and_repetitions_are_interleaved(tmp_path):
    (tmp_path / "x.yaml").write_text(
        "vary: {io_ompio: [no, yes]}\nthreads: 2\nranks_per_node: 3\nrepetitions: 2\noptions: "
        "{seed: 7}\n"
        "weak: {nodes: [1, 4], cells_per_rank: 10000, options: -init marine}")
    runs = points.runs_of(study_file.read(tmp_path / "x.yaml")[0])
    assert [(run["point"], run["repetition"]) for run in runs] == [
        (f"weak-{nodes}-io_ompio={on}", n) for n in (0, 1) for nodes in (1, 4)
        for on in ("no", "yes")]
    for run in runs:
        assert run["ranks"] == 3 * run["nodes"] and run["threads"] == 2
        assert abs(run["cells"] / run["ranks"] - 10000) < 300
        side = int(run["options"]["grid_Mx"])
        assert (run["options"]["grid_My"] == str(side) and side % 4 == 1 and
                side * side == run["cells"])
        assert run["options"]["seed"] == "7" and run["options"]["init"] == "marine"


def of_text(tmp_path, text):
    (tmp_path / "x.yaml").write_text(text)
    return study_file.read(tmp_path / "x.yaml")[0]


def test_points_without_output_are_added_and_servers_leave_a_rank(tmp_path):
    """One point without output for each combination of what is not of the output; no server where
    there is one rank."""
    text = ("null_output: yes\nstrong: {nodes: [1, 2]}\noptions: -io_layout box:1\nvary:\n  "
            "stress: [sia]\n  output: {direct: -io_format direct, 'async:1': {io_transport: "
            "'async:1'}}\n")
    found = {one["point"]: one for one in points.points_of(of_text(tmp_path, text))}
    assert list(found) == ["strong-1-stress=sia,output=direct", "strong-1-stress=sia,output=null",
                           "strong-2-stress=sia,output=direct",
                           "strong-2-stress=sia,output=async_1", "strong-2-stress=sia,output=null"]
    assert found["strong-2-stress=sia,output=null"]["options"] == {"stress": "sia",
                                                                   "io_format": "null"}
    assert found["strong-2-stress=sia,output=async_1"]["options"]["io_layout"] == "box:1"
    with pytest.raises(study_file.StudyError, match="more ranks than servers"):
        points.points_of(
            of_text(tmp_path, "strong: {nodes: [1, 2]}\noptions: -io_transport async:2\n"))
    assert [one["vary"] for one in points.points_of(of_text(
        tmp_path, "strong: {nodes: [1]}\nnull_output: yes\n"))] == [{}, {"io_format": "null"}]


@pytest.mark.parametrize("name, words",
                         [("cam2008", "cam:FV-B: not the size of that name: horizontal lengths "
                           "times 0.2 (-scale 1: whole)"), ("gcrm2011", None),
                          ("pism2013_fig2346_a10km", "not the size of the paper: a tenth of each "
                           "length of A10km (--full: whole)"), ("first", None)])
def test_a_size_that_is_not_that_of_its_name_is_a_sentence(name, words):
    path = SOURCE / "perf" / "studies" / f"{name}.yaml"
    assert points.smaller_than_named(study_file.read(path)[0]) == ([words] if words else [])
    assert points.smaller_than_named(study_file.read(path, full=True)[0]) == []


def test_what_goes_wrong_is_a_line_and_loses_nothing(study, tmp_path):
    text = ("strong: {ranks: [2]}\nvary: {case: [crash, good, silent, slow]}\nrepetitions: 1\n"
            "time_limit: 2s\n")
    done = study(text)
    assert done.returncode == 1, done.err
    found = {record["vary"]["case"]: record for record in records(tmp_path / "out")}
    assert {case: record["status"] for case, record in found.items()} == {
        "crash": "failed", "good": "ok", "silent": "no report", "slow": "timeout"}
    assert (found["crash"]["reason"] == "exit status 1\nno memory left" and
            found["crash"]["report"] is None)
    assert "strong-2-case=crash, repetition 0: failed: exit status 1" in done.err
    assert "3 of 4 runs failed" in done.err
    assert "time limit of 2 s" in found["slow"]["reason"] and "Traceback" not in done.err
    assert found["good"]["cells"] == 12 and found["good"]["seconds"] == 0.5
    assert json.loads(
        (tmp_path / "out" / found["good"]["report"]).read_text())["wall_seconds"] == 0.5
    known = json.loads((tmp_path / "out" / "machine.json").read_text())
    load, most = found["good"]["load_average"], known["load_average"]
    assert (len(load) == 2 and most[0] <= load[0] <= most[1] and
            len(found["good"].get("cpu_MHz", [1, 1])) == 2)
    assert (known["mpi"] == "none" and known["kernel"].startswith("Linux") and
            len(known["file_system"].split()) == 3)
    assert not (tmp_path / "out" / ".reframe").exists()  # files that runs wrote, too

    # mended
    write(tmp_path / "program", PROGRAM.replace("case", "# case", 1).replace("case \"", "# "))
    done = study(text)
    assert done.returncode == 0, done.err
    assert "1 of 4 runs were done before" in done.out and "/3  " in done.out
    assert [record["status"] for record in records(tmp_path / "out")] == ["ok"] * 4
    assert "found those of another" in study(text.replace("[2]", "[4]")).err


WRONG = """*banana*)
  echo "nunatak: error: option -grid_dx: expected a number, found 'banana'" >&2
  echo ------- >&2; exit 2;;
*both*) echo "nunatak: error: output: expected another format" >&2; exit 2;; *crash*)"""


def test_an_error_that_all_runs_would_have_ends_the_study(study, tmp_path):
    """At once if it is one of an option or a file, else when it comes twice, and never once a run
    was ok."""
    write(tmp_path / "program", PROGRAM.replace("*crash*)", WRONG))
    error = "option -grid_dx: expected a number, found 'banana'"
    for cases, wrong, left, complaint in (("[banana]", 1, 3, error),
                                          ("[both]", 2, 2, "output: expected another format"),
                                          ("[good, banana]", 4, 0, error)):
        done = study(f"strong: {{ranks: [1, 2]}}\nvary: {{case: {cases}}}\nrepetitions: 2\n",
                     "--output", str(tmp_path / str(left)))
        reasons = [record["reason"]
                   for record in records(tmp_path / str(left)) if record["status"] != "ok"]
        assert (done.returncode == 1 and
                reasons == wrong * [f"nunatak: error: {complaint}"]), done.err
        assert done.err.count(f": failed: nunatak: error: {complaint}\n") == wrong
        assert (f"study: {left} more runs were not started: no run was ok, and" in done.err) == (
            left > 0), done.err
        assert not (tmp_path / str(left) / ".reframe").exists()
    # mended
    done = study("strong: {ranks: [1]}\nvary: {case: [good]}\nrepetitions: 1\n", "--output",
                 str(tmp_path / "3"))
    assert done.returncode == 0 and len(records(tmp_path / "3")) == 1, done.err


def test_paths_may_hold_any_character(tmp_path):
    """Of the scripts, the program and its companions, the site, mpiexec, inputs, results and
    scratch."""
    shutil.copytree(SOURCE / "perf", tmp_path / ODD / "perf",
                    ignore=shutil.ignore_patterns("*.cpp", "*.hpp", "__pycache__"))
    folder = tmp_path / ODD / "$HOME"
    folder.mkdir()
    study = study_in(folder, [sys.executable, str(tmp_path / ODD / "perf" / "study")])
    write(folder / "nunatak-verify", "#!/bin/sh\n")
    write(folder / "nunatak-io", """#!/bin/sh\necho '{"raw": {"bytes": 1, "seconds": {}}}'\n""")
    write(folder / "bench_kernels", """#!/bin/sh
echo '{"triad": {"GB_per_s": 1}, "without_ssa": {"share_of_triad": 1}, "ssa": {}}'
""")
    (folder / "in put.nc").touch()
    for place in (tmp_path / ODD, folder):
        (place / "a site.py").write_text(SITE)
    text = ("strong: {ranks: [1]}\nrepetitions: 1\noptions: {i: in put.nc}\nverify: yes\n"
            "raw_writes: yes\ntriad: yes\n")
    for n, arguments in enumerate(([], ["--scratch", f"{folder}/scratch '"],
                                   ["--system", f"{tmp_path / ODD}/a site.py:here:two"])):
        done = study(text, "--output", str(folder / f"out {n}"), *arguments)
        assert done.returncode == 0, done.err
        (record,) = records(folder / f"out {n}")
        assert (record["raw"]["bytes"] == 1 and record["triad"]["GB_per_s"] == 1 and
                "manifest" in record)
        assert shlex.quote(str(folder / f"out {n}")) in done.out
    assert "expected a path without a variable" in sentence_of(
        study(text, "--system", f"{folder}/a site.py"))
    for program, what in (("bench_kernels", "triad after the run"),
                          ("nunatak-io", "raw writes after the run"),
                          ("nunatak-verify", "files differ")):
        write(folder / program, "#!/bin/sh\nexit 3\n")
        done = study(text, "--output", str(folder / f"without {program}"))
        assert (done.returncode == 1 and f"{what}" in done.err and
                "(exit status 3)" in done.err), done.err


def test_root_may_start_mpi_programs():
    """As in scripts/environment.sh."""
    for user, expected in ((1000, "None None"), (0, "1 1")):
        code = (f"import os; os.geteuid = lambda: {user}; import launcher; "
                "print(*map(os.environ.get, ('OMPI_ALLOW_RUN_AS_ROOT', "
                "'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM')))")
        done = subprocess.run([sys.executable, "-c", code],
                              env={"PYTHONPATH": str(SOURCE / "perf")}, capture_output=True,
                              text=True, check=True)
        assert done.stdout.split() == expected.split()


@pytest.mark.parametrize("name, text, complaint", [
    ("study.yaml", "a: &a [x, x]\nb: *a\n", "an alias"), ("study.yaml", "- a\n", "found others"),
    ("machine.json", "[]", "found others"), ("machine.json", "{", "found others"),
    ("study.yaml", None, "not a regular file"), ("runs.jsonl", None, "not a regular file")])
def test_a_folder_of_other_results_is_one_sentence(study, tmp_path, name, text, complaint):
    (tmp_path / "out").mkdir()
    if text is None:
        os.mkfifo(tmp_path / "out" / name)
    else:
        (tmp_path / "out" / name).write_text(text)
    assert complaint in sentence_of(study("strong: {ranks: [1]}\nrepetitions: 1\n"))


def test_files_that_differ_from_what_was_written_fail_the_run(study, tmp_path):
    write(tmp_path / "nunatak-verify",
          "#!/bin/sh\necho result.nc: variable thk, record 0: differs\nexit 1\n")
    text = "strong: {ranks: [1]}\noptions: -case good\nrepetitions: 1\nverify: yes\n"
    assert study(text).returncode == 1
    assert records(tmp_path / "out")[0]["reason"].startswith(
        "files differ from what was written: result.nc: variable thk")
    write(tmp_path / "nunatak-verify", "#!/bin/sh\n")
    assert (study(text).returncode == 0 and
            (tmp_path / "out" / records(tmp_path / "out")[0]["manifest"]).exists())
    (tmp_path / "nunatak-verify").unlink()
    assert "program 'nunatak-verify': expected one in" in sentence_of(
        study(text, "--output", str(tmp_path / "new")))
    assert "(cmake --build build/release --target bench_kernels)" in sentence_of(
        study("strong: {ranks: [1]}\ntriad: yes\n"))
    assert not (tmp_path / "new").exists()


def test_runs_of_another_place_do_not_go_into_one_folder(tmp_path):
    """Of a partition or a scratch folder; folders of an earlier version say neither."""
    text = "strong: {ranks: [1]}\n"

    def opened(**where):
        found = results.Results(tmp_path, text, {"system": "slurm", **where}, 1)
        found.lock.close()
        return found

    opened(partition="-p cpu").add({"point": "strong-1", "repetition": 0, "status": "ok"})
    assert len(opened(partition="-p cpu").records) == 1
    for where in ({"partition": "-p gpu"}, {}, {"partition": "-p cpu", "scratch": "/x"}):
        with pytest.raises(study_file.StudyError, match="found those of"):
            opened(**where)
    (tmp_path / "machine.json").write_text('{"system": "slurm"}')
    assert len(opened(scratch="/x").records) == 1
    options = ["--time=5", "-pgpu", "#SBATCH -C x", "priority=1"]
    arguments = types.SimpleNamespace(job_option=options, scratch=None)
    system = types.SimpleNamespace(name="slurm", place="", one_at_a_time=True)
    assert study_main.place_of(arguments, system) == {"system": "slurm",
                                                      "partition": "#SBATCH -C x -pgpu"}


# In the place of tools and of their readers: what these print
PERF = """while [ "$1" != -- ]; do [ "$1" != -o ] || out="$2"; shift; done; shift; "$@"; status=$?
printf '%s\\n' '# started' '70;;instructions:u;9;100.00;;' \\
  '<not supported>;;cycles;0;100.00;;' '1,5;msec;task-clock;9;100.00;;' >"$out"; exit $status"""
NSYS = """[ "$1" = profile ] ||
  { printf '%s\\n' x 'Time (%),Total Time (ns),Name' '60,3e9,"a, b"' 40,2e9,c; exit; }
touch "$4.nsys-rep"; shift 4; exec "$@" """
DARSHAN = "printf 'total_POSIX_WRITES: 7\\ntotal_POSIX_F_META_TIME: 0.5\\ntotal_X: 1\\n'"
SCOREP = ("printf '  flt  type max_buf[B] visits time[s]\\n"
          "       ALL   4,992   208    1.31   100.0   6297.50  ALL\\n'")
READERS = {"perf": PERF, "nsys": NSYS, "darshan-parser": DARSHAN, "scorep-score": SCOREP}
KERNELS = """{"kokkos-kernel-data": {"kernel-perf-info": [
  {"kernel-name": "flow", "total-time": 2.0}, {"kernel-name": "flow", "total-time": 1.0},
  {"kernel-name": "Kokkos::View::initialization [x]", "total-time": 0.5},
  {"kernel-name": "rare", "total-time": 0.01}]}}"""


def test_tools_stand_around_runs_and_their_counters_stand_with_ours(study, tmp_path):
    """Found before the first run; of a run that fails nothing is counted. Counters of energy may
    begin anew."""
    assert machine.energy({"nodes": 1, "energy": "900 999\n50 999\n100 999\n60 999\n"}) == {
        "energy_J": 210e-6}
    assert (machine.energy({"nodes": 1, "energy": "900 999\n100 999\n", "elapsed": 1}) ==
            machine.energy({"nodes": 1, "energy": "999\n999\n"}) == {})
    assert machine.energy({"nodes": 1, "energy": ""}) == machine.energy(
        {"nodes": 2, "energy": "1 9 2 9"}) == {}
    text = ("strong: {ranks: [1]}\nvary: {case: [good, crash]}\nrepetitions: 1\ntools: [perf, "
            "darshan, score-p, nsys, kokkos-tools]\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    for name in ("nsys", "perf", "darshan-parser", "scorep-score"):
        if not shutil.which(name):
            assert (f"expected {name} of " in sentence_of(study(text)) and
                    not (tmp_path / "out").exists())
        write(tmp_path / "bin" / name, "#!/bin/sh\n" + READERS[name])
        # as nothing can load it, the loader goes on without
        (tmp_path / "lib" / "libdarshan.so").touch()
    assert ("expected libkp_kernel_timer.so or kp_kernel_timer.so of kokkos-tools in "
            "LD_LIBRARY_PATH" in sentence_of(study(text)))
    (tmp_path / "lib" / "kp_kernel_timer.so").touch()
    left = f"""[ "$LD_PRELOAD" = {tmp_path}/lib/libdarshan.so ] && touch "$DARSHAN_LOGFILE"
mkdir "$SCOREP_EXPERIMENT_DIRECTORY"
[ $KOKKOS_TOOLS_LIBS = {tmp_path}/lib/kp_kernel_timer.so ] &&
  echo '{KERNELS}' | tee node-1.json > node-2.json
touch result.nc"""
    write(tmp_path / "program", PROGRAM.replace("touch result.nc", left))
    assert study(text).returncode == 1
    bad, good = sorted(records(tmp_path / "out"), key=lambda record: record["status"])
    assert "no memory left" in bad["reason"] and "tools" not in bad
    assert good["tools"] == {
        "perf": {"instructions": 70, "cycles": None, "processor time (s)": 0.0015},
        "darshan": {"writes": 7, "metadata (s)": 0.5},
        "score-p": {"ALL (s)": 1.31}, "nsys": {"kernels on the GPU (s)": 5.0},
        "kokkos-tools": {"all kernels (s)": 3.51, "flow (s)": 3.0,
                         "zeroing of new arrays (s)": 0.5}}
    kept = {path.name.split(".")[0]
            for path in (tmp_path / "out" / "tools" / "strong-1-case=good.0").iterdir()}
    assert kept == {"nsys", "perf", "run", "score-p", "node-1", "node-2"}


@pytest.mark.parametrize("how, status", [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_study_that_was_ended_continues(study, tmp_path, how, status):
    """In its third run, which waits for the file "go"."""
    third_waits = ('(cd "${0%/*}"; echo >>begun; [ $(wc -l <begun) -lt 3 ] || while [ ! -e go ]; '
                   'do sleep 0.1; done)\n')
    write(tmp_path / "program", PROGRAM.replace("case \"", third_waits + "case \""))
    text = "strong: {ranks: [1, 2, 3, 4]}\noptions: -case good\nrepetitions: 1\n"
    process = study.start(text)
    for _ in range(2):
        assert "repetition 0" in process.stdout.readline()
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert how != signal.SIGINT or "the same command continues" in err
    begin = time.time()
    while processes_of(tmp_path):  # ReFrame and the job it had started
        assert time.time() - begin < 60
        time.sleep(0.1)
    before = records(tmp_path / "out")
    assert [record["ranks"] for record in before] == [1, 2]
    (tmp_path / "go").touch()
    with open(tmp_path / "out" / "runs.jsonl", "a") as file:
        file.write('{"point": "strong-3", "rep')  # cut in the middle
    done = study(text)
    assert done.returncode == 0, done.err
    after = records(tmp_path / "out")
    assert after[:len(before)] == before and [record["ranks"] for record in after] == [1, 2, 3, 4]


SITE = """
site_configuration = {"systems": [{"name": "here", "descr": "", "hostnames": [".*"], "partitions": [
    {"name": "%s", "scheduler": "local", "launcher": "local", "environs": ["builtin"],
     "env_vars": [["OF_SITE", "%s"]]}
    for part in ("one", "two")]}], "environments": [{"name": "builtin"}]}
""".replace('"%s"', "part")


def test_a_site_file_of_reframe_describes_the_machine(study, tmp_path):
    (tmp_path / "there.py").write_text(SITE)
    write(tmp_path / "program",
          PROGRAM.replace("case \"", "echo $OF_SITE > ../../../place; case \""))
    done = study("strong: {ranks: [1]}\nrepetitions: 1\n", "--system",
                 f"{tmp_path}/there.py:here:two")
    assert done.returncode == 0, done.err
    assert json.loads((tmp_path / "out" / "machine.json").read_text())["system"] == "there"
    assert (tmp_path / "out" / "place").read_text() == "two\n"


def test_runs_beside_busy_loops_are_disturbed(tmp_path):
    """The program itself on one rank, and loops without an end on every core: the report says so,
    and draws no conclusion."""
    (tmp_path / "study.yaml").write_text("options: -init marine -run_steps 4\nstrong: {ranks: [1], "
                                         "options: {grid_dx: 32km}}\nrepetitions: 1\n")
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
             for _ in range(3 * len(os.sched_getaffinity(0)))]
    try:
        words = ["run", "study.yaml", "--system", "local", "--program", os.environ["NUNATAK"],
                 "--output", "out"]
        subprocess.run([*STUDY, *words], cwd=tmp_path, check=True, timeout=300)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    told = subprocess.run([*STUDY, "report", "out"], cwd=tmp_path, check=True, capture_output=True,
                          text=True, timeout=300).stdout
    assert "‡ something else ran on their cores: not compared" in told, told


@needs_file_system
def test_a_study_has_a_cluster_of_its_own(tmp_path):
    """Which is gone afterwards. What programs count there: test_cluster.py."""
    skip_without_cluster()
    (tmp_path / "two.yaml").write_text(
        "options: -init marine -grid_dx 64km -run_steps 1 -stress sia\n"
        "strong: {nodes: [2]}\nrepetitions: 1\ncluster: {servers: 1, rate: 400mbit, latency: 0}\n")
    words = [*STUDY, "run", tmp_path / "two.yaml", "--system", "cluster", "--program",
             os.environ["NUNATAK"], "--output", tmp_path / "out"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    machine = json.loads((tmp_path / "out" / "machine.json").read_text())
    assert (machine["emulated"] and machine["nodes"] == 2 and
            machine["network"] == "400 Mbit/s, 0 us")
    assert not processes_of(tmp_path)


@needs_file_system
def test_a_killed_study_takes_its_cluster_along(study, tmp_path):
    skip_without_cluster()
    process = study.start("strong: {nodes: [1]}\noptions: -case slow\n", "--system", "cluster",
                          "--servers", "0")
    state = pathlib.Path(machine.cluster_folder(tmp_path / "out"))
    begin = time.time()
    while len(processes_of(tmp_path / "program")) < 2:  # the study, and what it has started
        assert time.time() - begin < 40
        time.sleep(0.2)
    process.kill()
    process.communicate(timeout=20)
    while state.exists() or processes_of(tmp_path):
        assert time.time() - begin < 60
        time.sleep(0.1)


@needs_slurm
@needs_file_system
def test_the_smallest_study_runs_through_slurm(cluster, tmp_path):  # noqa: F811
    cluster("up", "-n", 4, "-s", 2, "-r", "200mbit", "-l", "200us")
    cluster("slurm")
    done = cluster("run", "node1", *STUDY, "run", SOURCE / "perf" / "studies" / "smallest.yaml",
                   "--system", "slurm", "--program",
                   os.environ["NUNATAK"], "--output", tmp_path / "out", check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(record["nodes"], record["ranks"], record["status"])
            for record in records(tmp_path / "out")] == [(1, 1, "ok"), (2, 2, "ok"), (4, 4, "ok")]
    machine = json.loads((tmp_path / "out" / "machine.json").read_text())
    assert machine["system"] == "slurm" and machine["emulated"] and machine["nodes"] == 4
    assert cluster("run", "node1", "ls", "/mnt/pfs").stdout == ""  # what the runs wrote
