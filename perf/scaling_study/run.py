"""`perf/study run`: reads the study, runs what is missing, and writes the results folder."""
import contextlib
import os
import pathlib
import shutil
import signal
import sys

from . import jobs, machine, points, study_file
from .results import Results

RECORD = ("point", "mode", "vary", "nodes", "ranks", "ranks_per_node", "threads", "cells", "repetition", "status", "reason", "report",
          "seconds", "elapsed", "oversubscribed", "shared_cores", "load_average", "cpu_MHz", "energy_J", "raw", "triad", "manifest")  # the keys of a line of runs.jsonl, in their order


def main(arguments):
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, interrupt)
    try:
        return run(arguments)
    except study_file.StudyError as error:
        sys.exit(f"study: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def interrupt(*_):
    raise KeyboardInterrupt


def run(arguments):
    rates = {name: value for name in ("rate", "latency", "servers") if (value := getattr(arguments, name)) is not None}
    given = {name: getattr(arguments, name) for name in ("options", "ranks_per_node", "threads")}
    study, text = study_file.read(arguments.file, arguments.full, arguments.size, rates, **given)
    system = machine.System(arguments.system)
    if arguments.at_once < 1:
        raise study_file.StudyError(f"--at-once: expected 1 or more, found {arguments.at_once}")
    for sentence in points.smaller_than_named(study):
        print(f"study: {sentence}", file=sys.stderr)
    all_runs = points.runs_of(study)
    if system.local:  # this machine is one node
        all_runs = [{**one, "nodes": 1, "ranks_per_node": one["ranks"]} for one in all_runs]
    home = os.path.dirname(os.path.abspath(arguments.file))
    arguments.program = jobs.find_program(study["program"], arguments.program)  # it and the inputs before a folder of results
    jobs.refuse_unknown(all_runs, jobs.known_options(arguments.program))
    all_runs = [{**one, "words": jobs.words(study, one, home)} for one in all_runs]
    output = arguments.output or "-".join(filter(None, ["study", pathlib.Path(arguments.file).stem, study["size"], system.name]))
    results = Results(output, text, system.name)
    missing = [one for one in all_runs if not results.has(one)]
    if len(missing) < len(all_runs):
        print(f"{len(all_runs) - len(missing)} of {len(all_runs)} runs were done before")
    bad = 0
    if missing:
        nodes = max(one["nodes"] for one in all_runs)
        bad = run_missing(jobs.plan_of(arguments, study, system, results, missing, nodes), system, results, arguments.at_once)
        results.know_load()
    shutil.rmtree(results.work, ignore_errors=True)
    if bad:
        print(f"study: {bad} of {len(all_runs)} runs failed; the same command tries them again", file=sys.stderr)
    print(f"results: {output}; their page: perf/study report {output}")
    return 1 if bad else 0


def run_missing(plan, system, results, at_once):
    """How many runs failed."""
    meter = Meter(len(plan["runs"]))
    bad, seen = 0, set()
    try:
        with contextlib.closing(jobs.run_all(plan, system, at_once)) as records:
            for found in records:
                seen.add(found["name"])
                bad += keep(results, system, plan, meter, found)
    except KeyboardInterrupt:
        print(f"\nstudy: interrupted, {meter.total - meter.done} runs are missing; the same command continues", file=sys.stderr)
        raise
    lost = {number: one for number, one in enumerate(plan["runs"]) if one["name"] not in seen}
    reasons = {number: jobs.why_not(plan, number) for number in lost}
    if not all(reasons.values()):
        raise study_file.StudyError(f"the session ended before all runs ({len(lost)} missing); its last words:\n{jobs.last_words(plan)}")
    for number, one in lost.items():
        bad += keep(results, system, plan, meter, {**one, "status": "failed", "seconds": None, "reason": reasons[number]})
    return bad


def keep(results, system, plan, meter, found):
    """Writes the record of a run and its line; 1 if it failed."""
    ok = found["status"] == "ok"
    report = results.report_of(found) if ok else {}
    place = machine.facts_of(system, plan["nodes"], found.get("cluster"), found.get("facts", []))
    if "cpu" not in results.machine and ok:
        results.know_machine(place, report)
    if not found["cells"] and "grid" in report:
        found["cells"] = report["grid"]["Mx"] * report["grid"]["My"]
    record = {**found, **machine.core_marks(place, found), **machine.energy(found), "report": found["report"] if ok else None}
    results.add({name: record[name] for name in RECORD if name in record})
    meter.line(record)
    return 0 if ok else 1


class Meter:
    """One line per run; on a terminal with an estimate of what is left."""

    def __init__(self, total):
        self.total, self.done, self.seconds = total, 0, 0.0

    def line(self, record):
        self.done += 1
        self.seconds += record.get("elapsed") or record["seconds"] or 0.0
        left = self.seconds / self.done * (self.total - self.done)
        seconds = f"{record['seconds']:8.2f} s" if record["seconds"] is not None else " " * 10
        rest = f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"
        print(f"{self.done:4d}/{self.total}  {record['point']}  repetition {record['repetition']}{seconds}"
              f"{rest if sys.stdout.isatty() and self.done < self.total else ''}", flush=True)
        if record["status"] != "ok":
            print(f"study: {record['point']}, repetition {record['repetition']}: {record['status']}: {record['reason']}", file=sys.stderr,
                  flush=True)
