"""Results folders of a study, as `perf/study run` writes them: the runs that can be used, and a sentence for each that cannot.

A folder holds study.yaml, machine.json, runs.jsonl and reports/. A run is a line of runs.jsonl; of lines with the same point and
repetition the last one that was ok counts, else the last. work.py reads the runs next (did all do the same?), then parts.py.
"""
import json
import pathlib
import re

import yaml

from . import parts

KINDS = {"point": str, "mode": str, "nodes": int, "ranks": int, "repetition": int, "status": str, "vary": dict, "threads": int,
         "oversubscribed": bool, "reason": str, "cells": int, "shared_cores": bool, "load_average": list, "cpu_MHz": list,
         "raw": dict, "triad": dict, "energy_J": float}
DEFAULTS = {"vary": {}, "threads": 1, "oversubscribed": False, "reason": "", "cells": None, "shared_cores": False, "load_average": None,
            "cpu_MHz": None, "raw": None, "triad": None, "energy_J": None}


class Study:
    """One folder: `name` is its own among those of the page, `runs` are those that are ok, each with its `report`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.settings, self.machine = {}, {}
        self.runs, self.complaints = [], []
        self.asked = 0  # runs of which there is a line

    def complain(self, sentence):
        """Files may hold control characters, which a terminal obeys."""
        printable = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in sentence)
        self.complaints.append(f"{self.folder}: {printable}")


def read(folder, progress=lambda *_: None):
    study = Study(folder)
    if not study.folder.is_dir():
        study.complain("expected a folder with the results of `perf/study run`, found " +
                       ("a file" if study.folder.exists() else "nothing"))
        return study
    lines = read_lines(study)
    if lines is None:
        return study
    study.settings = read_mapping(study, "study.yaml", yaml.safe_load)
    study.machine = read_mapping(study, "machine.json", json.loads)
    runs = {}
    for run in lines:
        key = (run["point"], run["repetition"])
        if key not in runs or run["status"] == "ok" or runs[key]["status"] != "ok":
            runs[key] = run
    study.asked = len(runs)
    for number, run in enumerate(runs.values(), 1):
        progress(f"reports {number} of {len(runs)}")
        add_run(study, run)
    return study


def read_mapping(study, name, parse):
    path = study.folder / name
    try:
        value = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        study.complain(f"{name} cannot be read ({one_line(error)}); the page does without")
        return {}
    if not isinstance(value, dict):
        study.complain(f"{name}: expected names and values, found {type(value).__name__}; the page does without")
        return {}
    return value


def read_lines(study):
    try:
        text = (study.folder / "runs.jsonl").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        study.complain(f"expected runs.jsonl of `perf/study run`, found none ({error.strerror})")
        return None
    runs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            runs.append(checked(json.loads(line)))
        except ValueError as error:
            study.complain(f"runs.jsonl, line {number} is left out: {one_line(error)} (the study was killed while it wrote?)")
    if not runs:
        study.complain("runs.jsonl holds no run")
    return runs


def checked(run):
    if not isinstance(run, dict):
        raise ValueError(f"expected a run, found {type(run).__name__}")
    run = {**DEFAULTS, **run}
    for name, kind in KINDS.items():
        if not isinstance(run.get(name), kind) and not (run.get(name) is None and DEFAULTS.get(name, 0) is None):
            raise ValueError(f"expected {name} ({kind.__name__}), found {run.get(name)!r}")
    if run["mode"] not in ("strong", "weak"):
        raise ValueError(f"expected mode strong or weak, found {run['mode']!r}")
    for name in ("load_average", "cpu_MHz"):
        if run[name] is not None and not (len(run[name]) == 2 and all(map(parts.is_number, run[name]))):
            raise ValueError(f"expected {name} before and after the run, found {run[name]!r}")
    for name in ("nodes", "ranks", "threads", "cells"):
        if run[name] is not None and run[name] < 1:
            raise ValueError(f"expected {name} of 1 or more, found {run[name]}")
    return run


def add_run(study, run):
    """Reads the report of a run that ended well."""
    who = f"{run['point']}, repetition {run['repetition']}"
    if run["status"] != "ok":
        why = one_line(run["reason"])
        study.complain(f"{who}: {run['status']}" + (f": {why}" if why else ""))
        return
    name = str(run.get("report"))
    if not re.fullmatch(r"reports/(?!\.{1,2}$)[^/\0]+", name):
        study.complain(f"{who}: expected a report in the folder reports, found '{name}'")
        return
    path = study.folder / name
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        study.complain(f"{who}: the report {run.get('report')} is missing ({error.strerror})")
        return
    except ValueError as error:
        study.complain(f"{who}: the report {run['report']} is not JSON: {one_line(error)}")
        return
    try:
        samples = parts.samples(report)
    except KeyError as error:
        study.complain(f"{who}: {run['report']}: expected a report of nunatak or nunatak-io, found none of its part {error}")
        return
    except (TypeError, AttributeError, ValueError) as error:
        study.complain(f"{who}: {run['report']}: expected a report of nunatak or nunatak-io: {one_line(error)}")
        return
    study.runs.append({**run, "who": who, "cores": run["ranks"] * run["threads"], "report": report, "samples": samples,
                       "curve": curve(run["vary"])})


def curve(vary):
    return ", ".join(f"{name}={value}" for name, value in sorted(vary.items()))


def name_apart(studies):
    """Short names that tell the machines of several folders apart: the system, then what else differs, then the folder."""
    for names in ([str(s.machine.get("name") or s.machine.get("system") or s.folder.name) for s in studies],
                  [" ".join(str(s.machine[k]) for k in ("system", "network") if s.machine.get(k)) or s.name for s in studies],
                  [s.folder.name for s in studies], [str(s.folder) for s in studies]):
        if len(set(names)) == len(names):
            break
    for study, name in zip(studies, names):
        study.name = name


def one_line(text):
    """The last line that says something."""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
