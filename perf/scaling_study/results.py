"""The results folder of a study: what was run, where, and one line per finished run. What is there
is never lost."""
import fcntl
import json
import os
import pathlib

from . import study_file, texts
from .machine import software_of
from .study_file import StudyError

WHERE = ("system", "place", "partition", "scratch")  # what decides about the machine
MAY_CHANGE = ("paper", "title", "repetitions", "time_limit")  # between two calls for one study


def same_study(one, other):
    def core(text):
        study = study_file.of_text("study.yaml", text) or {}
        return {key: value for key, value in study.items() if key not in MAY_CHANGE}

    return core(one) == core(other)


class Results:
    """`where`: the system, and what else decides about the machine, which the runs of one folder
    have in common; `asked`: runs of the whole study."""

    def __init__(self, folder, text, where, asked):
        self.folder = pathlib.Path(folder).resolve()
        self.work = self.folder / ".reframe"  # ReFrame's own, removed at the end
        (self.folder / "reports").mkdir(parents=True, exist_ok=True)
        self.lock = open(self.folder / ".lock", "w", encoding="utf-8")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StudyError(
                f"folder '{folder}': expected no other study there, found one that runs") from None
        self.study, self.runs = self.folder / "study.yaml", self.folder / "runs.jsonl"
        self.machine_file = self.folder / "machine.json"
        try:
            self.machine = (texts.parsed(texts.text_of(self.machine_file))
                            if self.machine_file.exists() else where)
            names = WHERE if "asked" in self.machine else WHERE[:1]  # earlier ones had one of them
            others = [(name, self.machine.get(name), where.get(name)) for name in names
                      if self.machine.get(name) != where.get(name)]
            same = not self.study.exists() or same_study(texts.text_of(self.study), text)
            self.records = self.read_records()
        except (OSError, ValueError, LookupError, TypeError, AttributeError, StudyError) as error:
            raise StudyError(f"folder '{folder}': expected results of `perf/study run`, found "
                             f"others ({texts.one_line(error)}); choose an --output") from None
        if self.records and not same:
            raise StudyError(f"folder '{folder}': expected results of this study, found those of "
                             "another (study.yaml); choose an --output")
        for name, found, wanted in others if self.records else ():
            raise StudyError(f"folder '{folder}': expected results of the {name} "
                             f"{wanted or 'by default'}, found those of {found or 'the default'}; "
                             "choose an --output")
        replace(self.study, text)
        if not self.records:  # nothing to lose: a study that was mended may begin anew
            self.machine = dict(where)
        self.where = {**where, "asked": asked}
        self.machine.update(self.where)
        replace(self.machine_file, json.dumps(self.machine, indent=1) + "\n")
        replace(self.runs, "".join(json.dumps(record) + "\n" for record in self.records))

    def read_records(self):
        """Of runs that were ok, as those that failed run again. The last line may have been cut
        when the study was killed."""
        records = []
        for line in texts.text_of(self.runs).splitlines() if self.runs.exists() else []:
            try:
                record = texts.parsed(line)
                if record["status"] == "ok" and {"point", "repetition"} <= record.keys():
                    records.append(record)
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
        return records

    def has(self, run):
        return any(record["point"] == run["point"] and record["repetition"] == run["repetition"]
                   for record in self.records)

    def report_of(self, record):
        return json.loads((self.folder / record["report"]).read_text(encoding="utf-8"))

    def know_machine(self, machine, report):
        """Once, after the first run that has a report."""
        self.machine = {**self.where, **machine, **software_of(report)}
        replace(self.machine_file, json.dumps(self.machine, indent=1) + "\n")

    def know_load(self):
        """Least and most of all runs so far."""
        for name in ("load_average", "cpu_MHz"):
            found = [value for record in self.records for value in record.get(name, ())]
            if found:
                self.machine[name] = [min(found), max(found)]
        replace(self.machine_file, json.dumps(self.machine, indent=1) + "\n")

    def add(self, record):
        self.records.append(record)
        with open(self.runs, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())


def replace(path, text):
    """All or nothing, whenever the process ends."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)
