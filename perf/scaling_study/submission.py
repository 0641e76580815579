"""Submissions of the benchmark: `perf/study submit FOLDER...`, `check FILE`, `compare FILE...`.
Their rules: docs/benchmark.md.

A submission is one JSON file: by size the machine and the runs, each with its line of runs.jsonl
and its raw report; the sums of all values of all files, of which the hash of the fields is made;
the figure of merit, which a check (submission_check.py) computes anew.
"""
import datetime
import functools
import hashlib
import json
import math
import os
import pathlib
import re
import statistics
import sys
from collections import defaultdict

from . import pop, study_file

BENCHMARK = pathlib.Path(__file__).resolve().parents[1] / "studies" / "benchmark.yaml"
VERSION = "nunatak 1"
UNKNOWN = "not yet known"  # the hash of a size that no run has computed
LINE = ("point", "nodes", "ranks", "ranks_per_node", "threads", "repetition", "status", "seconds",
        "elapsed", "oversubscribed", "load_average", "cpu_MHz", "energy_J", "raw")
LARGEST = 1 << 30  # bytes of a submission
OF_PLACES = ("lat", "lon", "cell_area")  # by sin, tan, ... of the C library, whose bits differ
MARKUP = "|<>&[]`*\\"  # characters that Markdown and HTML obey


def sizes_of():
    return read_rules()[0]


def rules_of(size):
    return read_rules()[1][size]


@functools.lru_cache(None)
def read_rules():
    """Of all sizes: as the file has them, and as a study has them. NUNATAK_BENCHMARK names the file
    of other rules, which are tried."""
    path = os.environ.get("NUNATAK_BENCHMARK") or BENCHMARK
    sizes = study_file.load(path)["sizes"]
    return sizes, {size: study_file.read(path, size=size)[0] for size in sizes}


def sums_of(manifest):
    """{file: {variable: [sum of each record]}} of the lines of manifest.jsonl, without those of the
    C library's functions."""
    files = {}
    for line in manifest.splitlines():
        entry = json.loads(line)
        first, sums = entry.get("first_record", 0), entry.get("sums", {})
        found = files[entry["name"]] = files.get(entry["name"], {}) if first else {}
        found.update({name: found.get(name, [])[:first] + new
                      for name, new in sums.items() if name not in OF_PLACES})
    return files


def hash_of(sums):
    return hashlib.sha256(
        json.dumps(sums, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sypd(run):
    """The figure of merit of one run: its end is its last durable byte."""
    return 86400 * run["report"]["years"] / run["report"]["wall_seconds"]


def writes(run):
    return run["report"]["options"]["io_format"] != "null"


def points_of(runs):
    """{point: its runs that write}, in the order of the file."""
    points = defaultdict(list)
    for run in runs:
        if writes(run):
            points[run["point"]].append(run)
    return points


def figure_of(runs):
    """The point with the highest median."""
    medians = {point: statistics.median(map(sypd, of_point))
               for point, of_point in points_of(runs).items()}
    best = max(medians, key=medians.get)
    return {"point": best, "SYPD": medians[best]}


def is_disturbed(run):
    """Did processors do something else while ranks with a core each computed? Of one thread a rank,
    since the clocks see no other."""
    return (run["threads"] == 1 and not run["oversubscribed"] and "pop" in run["report"] and
            pop.of_part(run["report"]["pop"])["alone"] < pop.ALONE)


def speed_of_loop(runs):
    return 86400 * runs[0]["report"]["years"] / statistics.median(pop.loop(run["report"])
                                                                  for run in runs)


def core_hours(runs):
    """Of a simulated year (CHSY)."""
    return runs[0]["ranks"] * runs[0]["threads"] * 24 / statistics.median(map(sypd, runs))


def written(run):
    """Bytes, by ranks and servers."""
    output = run["report"]["output"]
    return output["written_bytes"] + sum(group["written_bytes"] for group in output["servers"])


# -- the form: types and ranges, which submission_check.py looks at first

AS_WRITTEN = "what `perf/study submit` writes"
NUMBER, SECONDS, COUNT, SIZE, FLAG, TEXT, STRING, DATE, SUM = (
    "a number", "seconds", "a whole number", "a whole number of 1 or more", "true or false",
    "a text of 1 to 300 characters", "a text",
    "a date such as 2026-11-27T17:00:00Z", "a sum of 16 hexadecimal digits")
PARTS = {"energy", "init", "init: read or generate", "mass transport", "ocean",
         "ocean: boxes and melt", "ocean: distances", "ocean: labels",
         "SSA: assembly", "SSA: coarse grids", "SSA: fine grid", "SSA: ghosts", "SSA: reductions",
         "output: drain", "output: open", "output: result", "output: snapshot", "output: spatial",
         "output: time series", "stress balance: 3-D velocity", "stress balance: SIA",
         "stress balance: SSA", "stress balance: till, hardness"}  # timers of a report
# beginnings of the names of shares of a part, which loops on a GPU do not measure
SHARES = ("ocean: ", "SSA: ")


def moment(text):
    """Seconds since 1970 of a date with its time zone."""
    date = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    if date.tzinfo is None:
        raise ValueError("expected a time zone")
    return date.timestamp()


def is_number(value):
    return type(value) in (int, float)  # no bool


def is_date(value):
    try:
        return isinstance(value, str) and math.isfinite(moment(value))
    except (ValueError, OverflowError):
        return False


# seconds may be negative here: look_at_times() says what such a time contradicts
KINDS = {NUMBER: is_number, SECONDS: is_number,
         COUNT: lambda value: type(value) is int and value >= 0,
         SIZE: lambda value: type(value) is int and value >= 1,
         FLAG: lambda value: isinstance(value, bool),
         TEXT: lambda value: isinstance(value, str) and 1 <= len(value.strip()) <= 300,
         STRING: lambda value: isinstance(value, str), DATE: is_date,
         SUM: lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{16}", value)}

# What is read of a submission. "*": any name; a name with "?" may be missing
SPREAD = dict.fromkeys(("min", "mean", "max"), SECONDS)
SOLVE = {**dict.fromkeys(("load", "initial_residual", "final_residual"), NUMBER),
         **dict.fromkeys(("steps", "linear_iterations", "reductions"), COUNT),
         **dict.fromkeys(("seconds", "seconds_jacobian", "seconds_linear", "seconds_residual",
                          "seconds_setup"), SECONDS)}
OUTPUT = {"seconds": SECONDS, "percent_of_run": NUMBER, "written_bytes": COUNT, "files": [STRING],
          "phases": {"post": {}, "fsync": {}, "*": {**SPREAD, "bytes": COUNT, "operations": COUNT}},
          "servers": [{"servers": SIZE, "written_bytes": COUNT,
                       "phases": {"fsync": SECONDS, "*": SECONDS}}],
          **dict.fromkeys(("format", "layout", "transport", "checksum", "define", "mpi_io"), TEXT)}
BUDGET = ("volume_start_km3", "volume_end_km3", "surface_km3", "basal_melt_km3", "calved_km3",
          "edge_km3", "clipped_km3", "closure")
REPORT = {"started": DATE, "wall_seconds": SECONDS, "years": NUMBER, "steps": SIZE,
          "ended_early": STRING, "ranks": dict.fromkeys(("size", "px", "py"), SIZE),
          "versions": {"*": STRING}, "options": {"io_format": TEXT},
          "grid": {**dict.fromkeys(("Mx", "My", "Mz"), SIZE),
                   **dict.fromkeys(("dx", "dy", "Lz"), NUMBER)},
          "timers": {"*": {**SPREAD, "calls": SIZE}, **{
              name + ("?" if name.startswith(SHARES) else ""): {} for name in PARTS}},
          "mass_budget": dict.fromkeys(BUDGET, NUMBER), "output": OUTPUT,
          "pop?": dict.fromkeys(("useful_seconds", "in_mpi_seconds", "seconds"), SPREAD),
          "ssa": {**dict.fromkeys(("solves", "steps", "linear_iterations", "reductions"), COUNT),
                  "history": [SOLVE]}}
RUN = {"point": TEXT, **dict.fromkeys(("nodes", "ranks", "ranks_per_node", "threads"), SIZE),
       "repetition": COUNT, "status": TEXT, "seconds": SECONDS, "elapsed": SECONDS,
       "oversubscribed": FLAG, "load_average": [NUMBER], "cpu_MHz?": [NUMBER], "energy_J?": NUMBER,
       "raw?": {"bytes": SIZE, "seconds": {**dict.fromkeys(("median", "q1", "q3", "min", "max"),
                                                           SECONDS), "all": [SECONDS]}},
       "report": REPORT}
MACHINE = {"system": TEXT, "nodes": SIZE, "cores_per_node": SIZE, "cpu": TEXT, "kernel": TEXT,
           "file_system": TEXT, "emulated": FLAG,
           "physical_cores?": SIZE, "sockets_per_node?": SIZE, "accelerators_per_node?": TEXT,
           "load_average": [NUMBER], "versions": {"*": STRING}, "mpi": TEXT, "mpi_io": TEXT}
FORM = {
    "benchmark": STRING, "made": DATE, "sums": {"*": {"*": {"*": [SUM]}}},
    "sizes": {"*": {"machine": MACHINE, "runs": [RUN], "figure": {"point": TEXT, "SYPD": NUMBER}}}}


# -- commands

def submit(arguments):
    from . import load, tools  # which need numpy; a check does not
    from .results import WHERE
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    submission = {"benchmark": VERSION, "made": now, "sizes": {}, "sums": {}}
    for folder in arguments.folders:
        study = load.read(folder)
        size = study.settings.get("size")
        if study.complaints or not study.runs or not size or size in submission["sizes"]:
            found = (f"{folder}: expected results of a size of perf/studies/benchmark.yaml, one "
                     f"folder each, found size '{size}'")
            sys.exit("\n".join(f"study: error: {text}" for text in study.complaints or [found]))
        if tools.with_words(study):
            sys.exit(f"study: error: {folder}: expected runs without tools, whose cost is in the "
                     f"times, found runs{tools.with_words(study)}")
        runs = []
        for run in study.runs:
            sums = (sums_of((study.folder / run["manifest"]).read_text(encoding="utf-8"))
                    if "manifest" in run else None)
            digest = sums and hash_of(sums)
            submission["sums"].update({digest: sums} if sums else {})
            runs.append({**{key: run[key] for key in LINE if run.get(key) is not None},
                         "fields": digest, "report": run["report"]})
        machine = {name: value for name, value in study.machine.items()
                   if name == WHERE[0] or name not in WHERE}  # no names of a centre's folders
        submission["sizes"][size] = {"machine": machine, "runs": runs,
                                     "figure": figure_of(runs)}
    pathlib.Path(arguments.output).write_text(json.dumps(submission, indent=0) + "\n",
                                              encoding="utf-8")
    print(f"wrote {arguments.output}")
    arguments.file = arguments.output
    return check(arguments)


def read(path):
    try:
        file = pathlib.Path(path)
        if not file.is_file() or file.stat().st_size > LARGEST:
            raise ValueError(f"no file of at most {LARGEST} bytes")
        submission = json.loads(file.read_text(encoding="utf-8"), parse_constant=refuse_constant)
        if not isinstance(submission, dict):
            raise ValueError("no object")
        return submission
    except (OSError, ValueError, RecursionError) as error:
        raise study_file.StudyError(
            f"file '{path}': expected a submission, found none: {error}") from None


def refuse_constant(name):
    raise ValueError(f"{name}, which is no number of JSON")


def printable(text):
    """A file may hold control characters, which a terminal obeys, and others that it does not
    have."""
    coding = sys.stdout.encoding or "ascii"
    printable = "".join(c if c.isprintable() else "?" for c in text)
    return printable.encode(coding, "replace").decode(coding)


def checked(submission):
    """The sentences for which it is refused."""
    from . import submission_check  # which needs this module
    return submission_check.checked(submission)


def check(arguments):
    from .submission_check import doubts
    try:
        submission = read(arguments.file)
    except study_file.StudyError as error:
        sys.exit(f"study: error: {printable(str(error))}")
    refused = checked(submission)
    for sentence in refused:
        print(printable(f"refused: {sentence}"))
    if refused:
        return 1
    for size, one in submission["sizes"].items():
        fields = ("not checked: no hash is known for this size"
                  if rules_of(size)["fields"] == UNKNOWN else "right")
        best = points_of(one["runs"])[one["figure"]["point"]]
        print(printable(f"{size}: {one['figure']['SYPD']:.4g} simulated years per day "
                        f"({one['figure']['point']}), {speed_of_loop(best):.4g} of the loop; "
                        f"{core_hours(best):.3g} core-hours a year; fields {fields}"))
        for sentence in doubts(one):
            print(printable(f"{size}: {sentence}"))
    return 0


def compare(arguments):
    """A table in Markdown: by size the submissions that are not refused, the fastest first."""
    head = ("Size", "Machine", "Nodes", "Cores, sockets of a node", "Accelerators of a node",
            "Ranks x threads", "File system", "Output", "SYPD",
            "least to most", "against the fastest", "CHSY", "JPSY", "SYPD of the loop",
            "cell steps/s/core", "MB/s", "of raw writes")
    print("| " + " | ".join(head) + " |\n|" + len(head) * "---|")
    good, bad = [], []
    for path in arguments.files:
        try:
            submission = read(path)
            why = "perf/study check refuses it" if checked(submission) else ""
        except study_file.StudyError as error:
            submission, why = None, str(error)
        bad += [f"file '{path}' is left out: {why}"] if why else []
        good += [] if why else [submission]
    for size in sizes_of():
        ranked = sorted((submission["sizes"][size] for submission in good
                         if size in submission["sizes"]), key=lambda one: -one["figure"]["SYPD"])
        for one in ranked:
            print("| " + " | ".join(map(cell, [size, *row_of(one, ranked[0])])) + " |")
    for sentence in bad:
        print(printable(f"study: {sentence}"), file=sys.stderr)
    return 1 if bad else 0


def cell(text):
    """Of a table in Markdown."""
    return "".join(f"&#{ord(c)};" if c in MARKUP else c for c in printable(text))


def row_of(one, first):
    runs, others = (points_of(s["runs"])[s["figure"]["point"]] for s in (one, first))
    report, output, cores = (runs[0]["report"], runs[0]["report"]["output"],
                             runs[0]["ranks"] * runs[0]["threads"])
    speeds, base = sorted(map(sypd, runs)), sorted(map(sypd, others))
    apart = speeds[0] > base[-1] or base[0] > speeds[-1]
    middle = statistics.median(speeds)
    seconds = 86400 * report["years"] / middle
    grid = report["grid"]
    rates = [written(run) / 1e6 / run["report"]["output"]["seconds"] for run in runs]
    raw = [rate / (run["raw"]["bytes"] / 1e6 / run["raw"]["seconds"]["median"])
           for rate, run in zip(rates, runs)]
    machine = one["machine"]
    return [machine["cpu"], str(runs[0]["nodes"]),
            f"{machine['cores_per_node']}, {machine.get('sockets_per_node', '-')}",
            machine.get("accelerators_per_node", "-"), f"{runs[0]['ranks']} x {runs[0]['threads']}",
            machine["file_system"],
            "/".join(output[name] for name in ("format", "layout", "transport")), f"{middle:.4g}",
            f"{speeds[0]:.4g} to {speeds[-1]:.4g}",
            "-" if one is first else "disturbed" if any(map(is_disturbed, [*runs, *others]))
            else f"{middle / statistics.median(base):.2f}" if apart else "no difference",
            f"{core_hours(runs):.3g}",
            f"{statistics.median(run['energy_J'] for run in runs) / report['years']:.3g}"
            if all("energy_J" in run for run in runs) else "-", f"{speed_of_loop(runs):.4g}",
            f"{grid['Mx'] * grid['My'] * report['steps'] / seconds / cores:.3g}",
            *(["-", "-"] if output["servers"]
              else [f"{statistics.median(rates):.0f}", f"{statistics.median(raw):.2f}"])]
