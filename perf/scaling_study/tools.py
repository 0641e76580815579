"""Tools of others around the runs of a study (key `tools`): how each is found, what it puts before
the program, how its counters are read.

What a tool leaves stands in tools/<run>/ of the results. It slows what it watches: times of runs
with other tools are not compared.
"""
import csv
import glob
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
from collections import Counter
from typing import Callable, NamedTuple

from .study_file import StudyError

LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/*-linux-gnu")
SMALL = 0.01  # of the time of all kernels, below which one is not named
PATIENCE = 300  # seconds for a program that reads what a tool left
PERF = {"instructions": ("instructions", 1.0), "cycles": ("cycles", 1.0),
        "cache-misses": ("cache misses", 1.0), "task-clock": ("processor time (s)", 1e-3)}
DARSHAN = {"POSIX_OPENS": "opens", "POSIX_WRITES": "writes", "POSIX_BYTES_WRITTEN": "bytes written",
           "POSIX_F_WRITE_TIME": "writes (s)",
           "POSIX_F_META_TIME": "metadata (s)", "MPIIO_COLL_WRITES": "collective writes by MPI-IO"}


class Tool(NamedTuple):
    """`needs`: programs and libraries (a|b: either), the last one reads. `words` of the shell stand
    before the program: {0} is the first of `needs`, {folder} the run's, {process} a name of its
    own. `leaves`: files that it puts where the run writes."""
    needs: tuple
    words: str
    read: Callable
    leaves: str = ""


def said_by(*words):
    """What a reader prints; nothing if it fails, which notes() says."""
    try:
        return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def of_perf(_, folder):
    """`perf stat -x ;` of each rank, added up; None for what one of them could not count."""
    found = {}
    for path in folder.glob("perf.*"):
        lines = path.read_text(errors="replace").splitlines()
        for value, _, event, *_ in (line.split(";") for line in lines if line.count(";") > 2):
            for name, unit in (PERF[known] for known in PERF if known in event):
                number = (float(value.replace(",", ".")) * unit if re.fullmatch(r"[0-9.,]+", value)
                          else None)
                so_far = found.get(name, 0.0)
                found[name] = None if number is None or so_far is None else so_far + number
    return found


def of_darshan(reader, folder):
    """Of all ranks; their seconds added up."""
    said = "".join(said_by(reader, "--total", path) for path in folder.glob("*.darshan"))
    totals = dict(re.findall(r"^total_(\w+): ([0-9.e+-]+)$", said, re.M))
    return {text: float(totals[name]) for name, text in DARSHAN.items() if name in totals}


def of_score_p(reader, folder):
    """Seconds of all ranks by group of functions."""
    said = said_by(reader, folder / "score-p" / "profile.cubex")
    return {f"{group} (s)": float(seconds) for group, seconds in re.findall(
        r"^ +([A-Z]+) +[0-9,]+ +[0-9,]+ +([0-9.]+) .* \1$", said, re.M)}


def of_nsys(reader, folder):
    """Seconds of all kernels on a GPU, of all ranks."""
    found = Counter()
    for path in folder.glob("nsys.*.nsys-rep"):
        lines = said_by(reader, "stats", "--report", "cuda_gpu_kern_sum", "--format", "csv",
                        "--force-export", "true", path).splitlines()
        head = next((n for n, line in enumerate(lines) if "Total Time (ns)" in line), len(lines))
        for row in csv.DictReader(lines[head:]):
            found["kernels on the GPU (s)"] += float(row.get("Total Time (ns)") or 0) * 1e-9
    return dict(found)


def of_kokkos(_, folder):
    """Of the slowest rank: all kernels, and those that take a part of it that is not small."""
    found = {}
    for path in folder.glob("*.json"):
        try:
            of_rank = json.loads(path.read_text(errors="replace"),
                                 strict=False)["kokkos-kernel-data"]["kernel-perf-info"]
            seconds = Counter()
            for kernel in of_rank:
                name = kernel["kernel-name"].strip()
                seconds[("zeroing of new arrays" if name.startswith("Kokkos::View::initialization")
                         else name) + " (s)"] += kernel["total-time"]
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
        seconds["all kernels (s)"] = sum(seconds.values())
        found = {name: max(seconds[name], found.get(name, 0.0)) for name in {**found, **seconds}}
    least = SMALL * found.get("all kernels (s)", 0.0)
    return {name: found[name]
            for name in sorted(found, key=found.get, reverse=True) if found[name] >= least}


# in the order in which they stand before the program
TOOLS = {
    "nsys": Tool(("nsys",), "{0} profile --trace=cuda,nvtx -o {folder}/nsys.{process}", of_nsys),
    "perf": Tool(("perf",),
                 "{0} stat -x ';' -o {folder}/perf.{process} -e " + ",".join(PERF) + " --",
                 of_perf),
    "darshan": Tool(("libdarshan.so", "darshan-parser"),
                    "env LD_PRELOAD=\"${{LD_PRELOAD:+$LD_PRELOAD:}}\"{0} "
                    "DARSHAN_LOGFILE={folder}/run.darshan", of_darshan),
    "score-p": Tool(("scorep-score",), "env SCOREP_ENABLE_PROFILING=true "
                    "SCOREP_EXPERIMENT_DIRECTORY={folder}/score-p", of_score_p),
    "kokkos-tools": Tool(("libkp_kernel_timer.so|kp_kernel_timer.so",), "env KOKKOS_TOOLS_LIBS={0} "
                         "KOKKOS_TOOLS_TIMER_JSON=1", of_kokkos, leaves="*-*.json")}


def place_of(names):
    """The path of a program, or of a library."""
    near = [f"{os.path.dirname(os.path.dirname(program))}/lib*"
            for program in map(shutil.which, ("darshan-parser", "kp_reader")) if program]
    for name in names.split("|"):
        folders = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *near,
                   *LIBRARIES]
        libraries = [found for folder in folders for found in glob.glob(f"{folder}/{name}")]
        found = next(iter(libraries), None) if ".so" in name else shutil.which(name)
        if found:
            return os.path.abspath(found)
    return None


def find(names):
    """{tool: the paths of what it needs}, in the order of TOOLS."""
    found = {name: [*map(place_of, tool.needs)] for name, tool in TOOLS.items() if name in names}
    for name, paths in found.items():
        for need, path in zip(TOOLS[name].needs, paths):
            if not path:
                where = "LD_LIBRARY_PATH or the system's folders" if ".so" in need else "the PATH"
                raise StudyError(f"key 'tools': expected {need.replace('|', ' or ')} of {name} in "
                                 f"{where}, found none")
    return found


def before(found, folder):
    """The words that stand before a program."""
    values = {"folder": shlex.quote(str(folder)), "process": '"$(uname -n).$$"'}
    words = [TOOLS[name].words.format(shlex.quote(paths[0]), **values)
             for name, paths in found.items()]
    return ["sh", "-c", " ".join(["exec", *words, '"$0" "$@"'])] if words else []


def collect(found, files, folder):
    """Commands of the shell, after a run: what tools put into `files` goes to the others."""
    return [f"mv {files}/{TOOLS[name].leaves} {shlex.quote(str(folder))} 2>/dev/null"
            for name in found if TOOLS[name].leaves]


def read(found, folder):
    """{tool: {what it counts: how much, or None}}"""
    return {name: TOOLS[name].read(paths[-1], pathlib.Path(folder))
            for name, paths in found.items()}


# -- in the report

def of_run(run):
    return {name: found for name, found in (run["tools"] or {}).items() if isinstance(found, dict)}


def counters(run):
    """As metrics of a point: of a run, so none where it has several methods of output."""
    return {f"{tool}: {name}": value for tool, found in of_run(run).items()
            for name, value in found.items() if isinstance(value, (int, float)) and
            math.isfinite(value) and len({sample.method for sample in run["samples"]}) == 1}


def with_words(study):
    """Behind the name of a machine."""
    names = dict.fromkeys(name for run in study.runs for name in of_run(run))
    return f" with {', '.join(names)}" if names else ""


def notes(studies):
    for study in studies:
        runs = [of_run(run) for run in study.runs]
        if with_words(study):
            yield (f"{study.name}: times have the cost of these tools, and are not compared with "
                   "those of runs without.")
        for tool in dict.fromkeys(tool for run in runs for tool in run):
            missing = sorted({name for run in runs
                              for name, value in run.get(tool, {}).items() if value is None})
            if missing:
                yield (f"{study.name}: {tool} could not count {', '.join(missing)}: the processor, "
                       "the virtual machine or the rights of the user do not offer them.")
            empty = sum(not run[tool] for run in runs if tool in run)
            if empty:
                yield (f"{study.name}: {tool} left no counters in {empty} of {len(runs)} runs "
                       "(their files: the folder tools of the results).")
