"""`perf/study run`: reads the study, runs what is missing, and writes the results folder."""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from . import jobs, machine, model, points, study_file, texts, tools
from .results import Results

# the keys of a line of runs.jsonl, in their order
RECORD = ("point", "mode", "vary", "nodes", "ranks", "ranks_per_node", "threads", "cells",
          "repetition", "status", "reason", "report", "seconds", "elapsed", "oversubscribed",
          "shared_cores", "load_average", "others_running", "steal", "cpu_MHz", "energy_J", "raw",
          "triad", "tools", "manifest")
ERROR = 2  # exit status of the programs: docs/reference/tools.md
OF_INPUT = re.compile(r"nunatak[\w-]*: error: (unknown option|option|file) ")


def main(arguments):
    rates = {name: value for name in ("rate", "latency", "servers")
             if (value := getattr(arguments, name)) is not None}
    given = {name: getattr(arguments, name) for name in ("options", "ranks_per_node", "threads")}
    study, text = study_file.read(arguments.file, arguments.full, arguments.size, rates, **given)
    system = machine.System(arguments.system)
    if arguments.at_once < 1:
        raise study_file.StudyError(f"--at-once: expected 1 or more, found {arguments.at_once}")
    for sentence in points.smaller_than_named(study):
        print(f"study: {sentence}", file=sys.stderr)
    all_runs = points.runs_of(study)
    if system.local:  # this machine is one node
        all_runs = [{**one, "nodes": 1, "ranks_per_node": one["ranks"]}
                    for one in with_cores(all_runs, study)]
    home = os.path.dirname(os.path.abspath(arguments.file))
    # it and the inputs before a folder of results
    arguments.program = jobs.find_program(study["program"], arguments.program)
    jobs.refuse_unknown(all_runs, jobs.known_options(arguments.program),
                        study["program"] == "nunatak")
    jobs.refuse_threads(all_runs, arguments.program)
    arguments.companions = jobs.companions(study, arguments.program)
    arguments.tools = tools.find(study["tools"])
    all_runs = [{**one, "words": jobs.words(study, one, home)} for one in all_runs]
    output = arguments.output or "-".join(
        filter(None, ["study", pathlib.Path(arguments.file).stem, study["size"], system.name]))
    results = Results(output, text, place_of(arguments, system), len(all_runs))
    missing = [one for one in all_runs if not results.has(one)]
    if len(missing) < len(all_runs):
        print(f"{len(all_runs) - len(missing)} of {len(all_runs)} runs were done before")
    bad = not_made = 0
    if missing:
        nodes = max(one["nodes"] for one in all_runs)
        bad, not_made = run_missing(jobs.plan_of(arguments, study, system, results, missing, nodes),
                                    system, results, arguments.at_once)
        results.know_load()
    shutil.rmtree(results.work, ignore_errors=True)
    if (study["model"] and system.local and not bad and not not_made and
        (missing or not (results.folder / model.FILE).exists())):
        model.make(study, arguments.program, results)
    if not_made:
        print(f"study: {not_made} more runs were not started: no run was ok, and these are "
              "expected to fail in the same way", file=sys.stderr)
    elif bad:
        print(f"study: {bad} of {len(all_runs)} runs failed; the same command tries them again",
              file=sys.stderr)
    print(f"results: {output}; their page: perf/study report {shlex.quote(output)}")
    return 1 if bad else 0


def place_of(arguments, system):
    """The system, and what else of the command decides about the machine."""
    partition = " ".join(sorted(word for word in arguments.job_option if re.match(
        r"(#\w+ +)?(-{0,2}(partition|constraint)\b|-[pC]|[pC]=)", word)))
    scratch = arguments.scratch or (None if system.one_at_a_time else os.environ.get("SCRATCH"))
    where = {"system": system.name, "place": system.place, "partition": partition,
             "scratch": os.path.abspath(scratch) if scratch else None}
    return {name: value for name, value in where.items() if value}


def with_cores(runs, study):
    """Of a study that counts nodes: the points for which this machine has cores."""
    cores = int(subprocess.run(["sh", "-c", machine.CORES], capture_output=True, text=True,
                               check=True).stdout)
    enough = [one for one in runs if "ranks" in study[one["mode"]] or
              one["ranks"] * one["threads"] <= cores]
    if len(enough) < len(runs):
        points_left_out = (len({one["point"] for one in runs}) -
                           len({one["point"] for one in enough}))
        print(f"study: {points_left_out} points need more than the {cores} cores of this machine "
              "and are left out", file=sys.stderr)
    if not enough:
        raise study_file.StudyError(
            f"--system local: expected a point for {cores} cores, found none")
    return enough


def run_missing(plan, system, results, at_once):
    """How many runs failed, and how many were not started because of them."""
    meter = Meter(len(plan["runs"]))
    bad, seen = 0, set()
    try:
        with contextlib.closing(jobs.run_all(plan, system, at_once)) as records:
            for found in records:
                seen.add(found["name"])
                bad += keep(results, system, plan, meter, found)
                if meter.done < meter.total and is_error_of_all(found, results):
                    return bad, meter.total - meter.done
    except KeyboardInterrupt:
        print(f"\nstudy: interrupted, {meter.total - meter.done} runs are missing; the same "
              "command continues", file=sys.stderr)
        raise
    lost = {number: one for number, one in enumerate(plan["runs"]) if one["name"] not in seen}
    reasons = {number: jobs.why_not(plan, number) for number in lost}
    if not all(reasons.values()):
        raise study_file.StudyError(f"the session ended before all runs ({len(lost)} missing); its "
                                    f"last words:\n{jobs.last_words(plan)}")
    if not seen and len(set(reasons.values())) == 1:
        raise study_file.StudyError(
            f"expected jobs that start, found none of {len(lost)}: {texts.one_line(reasons[0])}")
    for number, one in lost.items():
        bad += keep(results, system, plan, meter, {**one, "status": "failed", "seconds": None,
                                                   "reason": texts.one_line(reasons[number])})
    return bad, 0


def is_error_of_all(found, results):
    """True for an error that the other runs are expected to repeat: of an option or a file, or met
    before, while no run was ok."""
    if (found.get("exit_status") != ERROR or
        any(record["status"] == "ok" for record in results.records)):
        return False
    return (bool(OF_INPUT.match(found["reason"])) or
            [record["reason"] for record in results.records].count(found["reason"]) > 1)


def keep(results, system, plan, meter, found):
    """Writes the record of a run and its line; 1 if it failed."""
    ok = found["status"] == "ok"
    report = results.report_of(found) if ok else {}
    place = machine.facts_of(system, plan["nodes"], found.get("cluster"), found.get("facts", []))
    if "cpu" not in results.machine and ok:
        results.know_machine(place, report)
    if not found["cells"] and "grid" in report:
        found["cells"] = report["grid"]["Mx"] * report["grid"]["My"]
    record = {**found, **machine.core_marks(place, found), **machine.energy(found),
              "report": found["report"] if ok else None}
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
        print(f"{self.done:4d}/{self.total}  {record['point']}  repetition {record['repetition']}"
              f"{seconds}{rest if sys.stdout.isatty() and self.done < self.total else ''}",
              flush=True)
        if record["status"] != "ok":
            print(f"study: {record['point']}, repetition {record['repetition']}: "
                  f"{record['status']}: {record['reason']}", file=sys.stderr, flush=True)
