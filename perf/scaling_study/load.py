"""Results folders of a study, as `perf/study run` writes them: the runs that can be used, and a
sentence for each that cannot.

A folder holds study.yaml, machine.json, runs.jsonl and reports/. A run is a line of runs.jsonl; of
lines with the same point and repetition the last one that was ok counts, else the last. work.py
reads the runs next (did all do the same?), then parts.py.
"""
import os
import pathlib
import re
import sys

from . import parts, study_file, texts, tools

KINDS = {"point": str, "mode": str, "nodes": int, "ranks": int, "repetition": int, "status": str,
         "vary": dict, "threads": int, "oversubscribed": bool, "reason": str, "cells": int,
         "shared_cores": bool, "load_average": list, "cpu_MHz": list, "others_running": int,
         "steal": float, "raw": dict, "triad": dict, "energy_J": float, "tools": dict}
DEFAULTS = {"vary": {}, "threads": 1, "oversubscribed": False, "reason": "", "cells": None,
            "shared_cores": False, "load_average": None, "cpu_MHz": None, "others_running": None,
            "steal": None, "raw": None, "triad": None, "energy_J": None, "tools": None}


class Study:
    """One folder: `name` is its own among those of the page, `runs` are those that are ok, each
    with its `report`; `model`: ladder.py."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = self.folder.name
        self.settings, self.machine, self.model, self.virtual = {}, {}, None, {}
        self.runs, self.complaints = [], []
        self.paper = []  # findings of study.yaml
        self.asked = self.missing = 0  # runs of the study; of these without a line

    @property
    def cores_per_node(self):
        """Of the machine itself, if its nodes are emulated; None if it does not say."""
        return self.machine.get("physical_cores") or self.machine.get("cores_per_node")

    def complain(self, sentence):
        """Files may hold control characters, which a terminal obeys."""
        printable = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in sentence)
        self.complaints.append(f"{self.folder}: {printable}")


def read(folder):
    study = Study(folder)
    if not study.folder.is_dir():
        study.complain("expected a folder with the results of `perf/study run`, found " +
                       ("a file" if study.folder.exists() else "nothing"))
        return study
    lines = read_lines(study)
    if lines is None:
        return study
    study.settings = study_file.plain(
        read_mapping(study, "study.yaml", lambda text: study_file.of_text("study.yaml", text)))
    study.machine = read_mapping(study, "machine.json", texts.parsed)
    runs = {}
    for run in lines:
        key = (run["point"], run["repetition"])
        if key not in runs or run["status"] == "ok" or runs[key]["status"] != "ok":
            runs[key] = run
    asked, repetitions = study.machine.pop("asked", 0), study.settings.get("repetitions")
    if not asked and isinstance(repetitions, int):  # of an earlier version
        asked = repetitions * len({point for point, _ in runs})
    study.asked = max(len(runs), asked if isinstance(asked, int) else 0)
    study.missing = study.asked - len(runs)
    for run in runs.values():
        add_run(study, run)
    return study


def read_mapping(study, name, parse):
    try:
        value = parse(texts.text_of(study.folder / name))
    except (OSError, ValueError, study_file.StudyError) as error:
        study.complain(f"{name} cannot be read ({texts.one_line(error)}); the page does without")
        return {}
    if not isinstance(value, dict):
        study.complain(f"{name}: expected names and values, found {type(value).__name__}; the page "
                       "does without")
        return {}
    return value


def read_lines(study):
    try:
        text = texts.text_of(study.folder / "runs.jsonl", errors="replace")
    except OSError as error:
        study.complain(f"expected runs.jsonl of `perf/study run`, found none ({error.strerror})")
        return None
    runs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            runs.append(checked(texts.parsed(line)))
        except ValueError as error:
            study.complain(f"runs.jsonl, line {number} is left out: {texts.one_line(error)} (the "
                           "study was killed while it wrote?)")
    if not runs:
        study.complain("runs.jsonl holds no run")
    return runs


def checked(run):
    if not isinstance(run, dict):
        raise ValueError(f"expected a run, found {type(run).__name__}")
    run = {**DEFAULTS, **run}
    for name, kind in KINDS.items():
        if (not isinstance(run.get(name), kind) and
            not (run.get(name) is None and DEFAULTS.get(name, 0) is None)):
            raise ValueError(f"expected {name} ({kind.__name__}), found {run.get(name)!r}")
    if run["mode"] not in ("strong", "weak"):
        raise ValueError(f"expected mode strong or weak, found {run['mode']!r}")
    for name in ("load_average", "cpu_MHz"):
        if (run[name] is not None and
            not (len(run[name]) == 2 and all(map(parts.is_number, run[name])))):
            raise ValueError(f"expected {name} before and after the run, found {run[name]!r}")
    for name in ("nodes", "ranks", "threads", "cells"):
        if run[name] is not None and run[name] < 1:
            raise ValueError(f"expected {name} of 1 or more, found {run[name]}")
    return run


def file_of(study, run, what):
    """The path of the report or the manifest of a run, which is a file of the folder; a ValueError
    says what else it is."""
    name = str(run.get(what))
    if not re.fullmatch(r"reports/(?!\.{1,2}$)[^/\0]+", name):
        raise ValueError(f"expected a {what} in the folder reports, found '{name}'")
    path = study.folder / name
    if not os.path.realpath(path).startswith(os.path.join(os.path.realpath(study.folder), "")):
        raise ValueError(
            f"expected a {what} in the folder reports, found '{name}', a link out of it")
    try:
        texts.expect_regular(os.stat(path))
    except OSError as error:
        raise ValueError(f"the {what} {name} cannot be read ({error.strerror})") from None
    return path


def add_run(study, run):
    """Reads the report of a run that ended well."""
    who = f"{run['point']}, repetition {run['repetition']}"
    if run["status"] != "ok":
        why = texts.one_line(run["reason"])
        study.complain(f"{who}: {run['status']}" + (f": {why}" if why else ""))
        return
    try:
        path = file_of(study, run, "report")
        if "manifest" in run:
            file_of(study, run, "manifest")
    except ValueError as error:
        study.complain(f"{who}: {error}")
        return
    try:
        report = texts.parsed(texts.text_of(path))
    except OSError as error:
        study.complain(f"{who}: the report {run['report']} cannot be read ({error.strerror})")
        return
    except ValueError as error:
        study.complain(f"{who}: the report {run['report']} is not JSON: {texts.one_line(error)}")
        return
    try:
        samples = parts.samples(report)
    except KeyError as error:
        study.complain(f"{who}: {run['report']}: expected a report of nunatak or nunatak-io, found "
                       f"none of its part {error}")
        return
    except (TypeError, AttributeError, ValueError) as error:
        study.complain(f"{who}: {run['report']}: expected a report of nunatak or nunatak-io: "
                       f"{texts.one_line(error)}")
        return
    study.runs.append({**run, "who": who, "cores": run["ranks"] * run["threads"],
                       "cores_per_node": study.cores_per_node, "report": report, "samples": samples,
                       "curve": curve(run["vary"])})


def curve(vary):
    return ", ".join(f"{name}={value}" for name, value in sorted(vary.items()))


def usable(studies, what):
    """Those with runs, under names that tell them apart; says what is wrong with the others, and if
    none is left."""
    for sentence in (sentence for study in studies for sentence in study.complaints):
        print(f"study: {sentence}", file=sys.stderr)
    used = [study for study in studies if study.runs]
    if not used:
        print(f"study: no run can be {what}", file=sys.stderr)
    name_apart(used)
    return used


def name_apart(studies):
    """Short names that tell the machines of several folders apart: the system, then what else
    differs, then the folder."""
    for names in (
        [str(s.machine.get("name") or s.machine.get("system") or s.folder.name) for s in studies],
        [" ".join(str(s.machine[k]) for k in ("system", "network") if s.machine.get(k)) or s.name
         for s in studies], [s.folder.name for s in studies], [str(s.folder) for s in studies]):
        names = [name + tools.with_words(study) for name, study in zip(names, studies)]
        if len(set(names)) == len(names):
            break
    for study, name in zip(studies, names):
        study.name = name
