"""Starts the session of ReFrame (session.py) that makes the runs of a study, and yields their
records as they end."""
import ctypes
import difflib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

from . import machine
from .study_file import StudyError

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
OUTPUT_OPTIONS = {"nunatak": {"o": "result.nc", "verbose": "no"}, "nunatak-io": {"o": "."}}
# by the key of a study
COMPANIONS = {"verify": "nunatak-verify", "raw_writes": "nunatak-io", "triad": "bench_kernels"}
# files, and what stands before their names
INPUT_OPTIONS = {"i": "", "options_file": "", "workload": "file:"}
PETSC = ("ssa_", "da_", "dm_")  # beginnings of options that nunatak leaves to PETSc
OF_PETSC = ("options_left", "options_view", "skip_petscrc")  # and whole names
WITH_THREADS = ("OpenMP", "Threads")  # execution spaces of Kokkos


def find_program(name, given):
    """The one that was given, else that of the PATH, else the newest of build/."""
    if given:
        path = pathlib.Path(given).resolve()
    elif shutil.which(name):
        path = pathlib.Path(shutil.which(name)).resolve()
    else:
        built = sorted(SOURCE.glob(f"build/*/miniapp/{name}"),
                       key=lambda found: found.stat().st_mtime)
        path = built[-1] if built else None
    if path is None or not path.is_file() or not os.access(path, os.X_OK):
        raise StudyError(f"program '{given or name}': expected one that can be executed, found "
                         "none (cmake --build --preset release, or --program PATH)")
    return str(path)


def companion(name, program):
    """A program that was built or installed with that one."""
    folder = pathlib.Path(program).parent
    found = next((path for path in (folder / name, folder.parent / "perf" / name)
                  if path.is_file()), None) or shutil.which(name)
    if not found:
        build = folder.parent if (folder.parent / "CMakeCache.txt").is_file() else "build/release"
        raise StudyError(f"program '{name}': expected one in '{folder}' or in the PATH, found none "
                         f"(cmake --build {shlex.quote(str(build))} --target {name})")
    return str(found)


def companions(study, program):
    """{key of the study: the program that it needs, or None}"""
    return {flag: companion(name, program) if study[flag] else None
            for flag, name in COMPANIONS.items()}


def said_by(program, option):
    try:
        return subprocess.run([program, option], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def known_options(program):
    """{name: allowed words, or nothing where any value may stand} by -help of the program; nothing
    if the program has no help of this form."""
    found = {}
    for name, text in re.findall(r"^(?:  )?-([A-Za-z]\w*) +(.*(?:\n {20,}.*)*)",
                                 said_by(program, "-help"), re.M):
        allowed = re.search(r": ([^\s:]+(?:\|[^\s:]+)+)$",
                            re.sub(r"\|\s+", "|", " ".join(text.split())))
        found[name] = allowed[1].split("|") if allowed else []
    return found


def refuse_unknown(runs, known, petsc):
    """Words that no run could take, before the first one. `petsc`: the program leaves options to
    PETSc, unless they resemble its own."""
    for name, value in dict.fromkeys((name, value) for run in runs
                                     for name, value in run["options"].items() if known):
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.85)
        of_petsc = petsc and not near and (name.startswith(PETSC) or name in OF_PETSC)
        if name not in known and not of_petsc:
            hint = f"did you mean -{near[0]}?" if near else "-help lists them"
            raise StudyError(
                f"option -{name}: expected one of the program's, found none of this name; {hint}")
        allowed = known.get(name, [])
        if value is not None and allowed and not any(
            re.fullmatch(re.sub("N", "[0-9]+", re.escape(word)), value) for word in allowed):
            raise StudyError(
                f"option -{name}: expected one of {'|'.join(allowed)}, found '{value}'")


def refuse_threads(runs, program):
    """Threads that the program does not have would count as cores that do nothing."""
    most = max(run["threads"] for run in runs)
    space = (re.search(r"^ *kernels run in +(\S+)", said_by(program, "-version"), re.M) if most > 1
             else None)
    if space and space[1] not in WITH_THREADS:
        raise StudyError(f"threads: expected 1, as the kernels of '{program}' run in {space[1]}, "
                         f"which has no threads (for OpenMP: cmake --preset openmp), found {most}")


def words(study, run, home):
    """The options as the program reads them; input files are named from the folder of the study
    file."""
    options = {**OUTPUT_OPTIONS[study["program"]], **run["options"]}
    options = {name: value for name, value in options.items() if (name, value) != ("o", "none")}
    for name in INPUT_OPTIONS.keys() & options.keys():
        begin, path = (INPUT_OPTIONS[name],
                       os.path.join(home, options[name].removeprefix(INPUT_OPTIONS[name])))
        if not options[name].startswith(begin):
            continue  # a workload of the program
        options[name] = begin + path
        if not os.path.exists(path):
            raise StudyError(f"option -{name}: file '{path}': expected an input, found none")
    return [word for name, value in options.items()
            for word in ([f"-{name}"] if value is None else [f"-{name}", value])]


def scratch_folder(given, system, results, cluster_folder, study):
    """Where runs write; one folder per study below one that others may use, too."""
    shared = given or (None if system.local else os.environ.get("SCRATCH"))
    emulated = machine.emulated_description(cluster_folder)
    if not given and (system.cluster and study["cluster"]["servers"] != "0" or emulated and
                      emulated["servers"]):
        shared = "/mnt/pfs"
    if shared is None:
        return str(results.work / "files")
    return os.path.join(os.path.abspath(shared), machine.study_name(results.folder))


def plan_of(arguments, study, system, results, runs, nodes):
    """All that the session needs to know: `runs`, with their words, on a machine (or a part of one)
    of N nodes."""
    cluster_folder = machine.own_cluster(system, results.folder)
    planned = [{**run, "name": f"{run['point']}.{run['repetition']}",
                "report": f"reports/{run['point']}.{run['repetition']}.json"} for run in runs]
    on_cluster = [sys.executable, str(HERE.parent / "cluster" / "cluster"), "run", "node1"]
    return {"runs": planned, "program": arguments.program, **arguments.companions,
            "tools": arguments.tools, "results": str(results.folder), "folder": str(results.work),
            "session_report": "session.json",
            "scratch": scratch_folder(arguments.scratch, system, results, cluster_folder, study),
            "time_limit": study["time_limit"],
            "timeout_options": ["--foreground"] if system.local else [],
            "on_node": on_cluster if system.cluster else [],
            "site": str(system.site), "system": system.place, "job_options": arguments.job_option,
            "policy": "serial" if system.one_at_a_time or arguments.at_once == 1 else "async",
            "nodes": nodes, "cluster_folder": cluster_folder,
            "cluster_up": machine.cluster_words(study, nodes) if system.cluster else []}


def environment(plan, system, at_once):
    result = {**os.environ, "NUNATAK_STUDY_AT_ONCE": str(at_once),
              "RFM_ENABLE_RESULTS_STORAGE": "0", "RFM_POLL_RATE_MIN": system.polls}
    if plan["cluster_up"]:
        result["NUNATAK_CLUSTER"] = plan["cluster_folder"]
        result.pop("LD_PRELOAD", None)
    return result


def ends_with_parent():
    """The kernel tells the session when `perf/study` is gone, even by SIGKILL (prctl(2),
    PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def run_all(plan, system, at_once):
    """Yields the records. The end of this generator, early or not, ends the session cleanly."""
    folder = pathlib.Path(plan["folder"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    reading, writing = os.pipe()
    plan["pipe"] = writing
    (folder / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    with open(folder / "log", "w", encoding="utf-8") as log:
        session = subprocess.Popen(
            [sys.executable, str(HERE / "session.py"), str(folder / "plan.json")], cwd=folder,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[writing],
            start_new_session=True,
            preexec_fn=ends_with_parent, env=environment(plan, system, at_once))
    os.close(writing)
    try:
        with open(reading, encoding="utf-8") as pipe:
            for line in pipe:
                yield json.loads(line)
        session.wait()
    finally:
        if session.poll() is None:
            session.terminate()
            session.wait()


def why_not(plan, number):
    """What ReFrame says of a run that it could not start or lost; nothing if it ended itself
    before."""
    try:
        cases = json.loads((pathlib.Path(plan["folder"]) / plan["session_report"]).read_text(
            encoding="utf-8"))["runs"][0]["testcases"]
    except (OSError, ValueError, LookupError):
        return None
    return next((case["fail_reason"] for case in cases if case["number"] == number), None)


def last_words(plan):
    lines = (pathlib.Path(plan["folder"]) / "log").read_text(encoding="utf-8",
                                                             errors="replace").splitlines()
    return "\n".join([line for line in lines if line.strip()][-6:])
