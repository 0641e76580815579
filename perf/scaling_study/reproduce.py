"""`perf/study reproduce [ROW...|--quick|--all]`: runs the commands of rows as a stranger would, and
lays what they give next to what was measured before. The rows of this machine go into a file, to be
sent back, after each row: a row that fails, or an end at any time, loses no other.
"""
import contextlib
import datetime
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import yaml

from . import jobs, machine, plots, result_pages, rows, stamps
from .results import replace
from .study_file import StudyError
from .texts import number

ROOT = pathlib.Path(__file__).resolve().parents[2]
# what `cluster up` tries first without root
AS_THE_CLUSTER = ["unshare", "--map-root-user", "--net", "--mount", "true"]
ABSENT = {  # what a row needs, and the words for its absence
    "cluster": (lambda: os.geteuid() == 0 or subprocess.run(
                    AS_THE_CLUSTER, capture_output=True, check=False).returncode == 0,
                "the emulated cluster needs root or user namespaces "
                "(docs/howto/emulated-cluster.md)"),
    "pism": (lambda: shutil.which("pism", path=os.environ.get("PISM", "")),
             "expected the variable PISM, the folder of PISM's program (perf/peer.md)"),
    "pism_sources": (lambda: os.path.isdir(os.environ.get("PISM_SOURCES", "")),
                     "expected the variable PISM_SOURCES, the folder of PISM's sources "
                     "(perf/peer.md)"),
    "gpu": (lambda: shutil.which("nvidia-smi"), "expected an NVIDIA GPU"),
}


def main(arguments):
    sections, before = rows.read(), rows.measured()
    known = {name: row for section in sections.values()
             for name, row in section.get("rows", {}).items()}
    if arguments.list or not (arguments.rows or arguments.quick or arguments.all):
        return show(known, before)
    strange = sorted(set(arguments.rows) - known.keys())
    if strange:
        raise StudyError(
            f"reproduce: expected rows among {', '.join(known)}, found {', '.join(strange)}")
    if arguments.runs is not None and arguments.runs < 1:
        raise StudyError(f"--runs: expected 1 or more, found {arguments.runs}")
    build = build_folder(arguments.program)
    try:
        open(arguments.output, "a", encoding="utf-8").close()
    except OSError as error:
        raise StudyError(f"--output: file '{arguments.output}': expected to write it, found: "
                         f"{error.strerror}") from None
    wanted = [name for name, row in known.items() if arguments.all or name in arguments.rows or
              arguments.quick and row.get("quick") == "yes"]
    here = facts(build)
    asked = wanted
    found, table = rows_before(arguments, here)
    new = {name for name in asked if arguments.go_on and name in found and
           is_done(found[name], table.get(name, ""), name, known[name], arguments)}
    wanted = [name for name in asked if name not in new]
    whole, began = sum(map(minutes, map(known.get, wanted))), time.monotonic()
    for place, name in enumerate(wanted):
        row, start = known[name], time.monotonic()
        stamps.look_again()
        code = stamps.stamp(name)
        lacking = [ABSENT[need][1] for need in row["needs"] if not ABSENT[need][0]()]
        print(f"\n{name}: row {place + 1} of {len(wanted)}, about {minutes(row):g} min; "
              f"{(start - began) / 60:.0f} of about {whole:.0f} min", flush=True)
        if lacking:
            table[name] = f"left out: {'; '.join(lacking)}"
        else:
            try:
                expect_this_code(name, build)
                values = measure(name, row, build, arguments)
                found[name] = {"machine": "here", "date": datetime.date.today().isoformat(),
                               "commit": code, "runs": arguments.runs or int(row.get("runs", 1)),
                               "minutes": round((time.monotonic() - start) / 60, 1),
                               "values": values}
                table[name] = compare(name, row, values, before, here)
                new.add(name)
            except KeyboardInterrupt:
                print(f"\ninterrupted in {name}; the same command with --continue goes on from "
                      "there (of sources that are committed)")
                return 130
            except (StudyError, subprocess.SubprocessError, OSError, ValueError, LookupError,
                    TypeError, ArithmeticError) as error:
                table[name] = f"FAILED: {error}"
        if name not in new:
            print(table[name], flush=True)
        keep(arguments.output, {"machines": {"here": here}, "rows": found, "table": table})
    print("\n" + "\n".join(f"{name:22s} {found[name]['minutes'] if name in found else '-':>5} min  "
                           f"{' '.join(text.splitlines()[:1])}" for name, text in table.items()))
    print(f"\nwrote {arguments.output}: the rows of this machine, and this table")
    if new and arguments.record:
        record(here, {name: found[name] for name in asked if name in new})
        result_pages.write(sections, rows.measured())
        print(f"wrote {rows.MEASURED.relative_to(ROOT)}, README.md and docs/results.md")
    return 1 if any("FAILED" in table[name] or "DIFFERS" in table[name] or
                    "left out" in table[name] and name in arguments.rows for name in asked) else 0


def expect_this_code(name, build):
    """The stamp of a row is that of the sources: its programs have to be made of them."""
    program = build / "miniapp" / "nunatak"
    commit = re.search(r"^ *commit +([0-9a-f]+)(-dirty)?$", jobs.said_by(program, "-version"), re.M)
    if commit and not stamps.compiled_from(name, commit[1], program if commit[2] else None):
        raise StudyError(f"{name}: expected programs of this code in '{build}', found those of "
                         f"commit {commit[1]}{commit[2] or ''}; cmake --build '{build}' makes them")


def minutes(row):
    return float(row.get("minutes", 5))


def rows_before(arguments, here):
    """The rows that the file of this machine has, and their lines of the table. A row is replaced
    when it has been measured again."""
    there = yaml.safe_load(pathlib.Path(arguments.output).read_text(encoding="utf-8")) or {}
    if there and there["machines"]["here"] != here:
        raise StudyError(f"--output: file '{arguments.output}': expected rows of this machine and "
                         "build, found those of another; choose another name")
    return dict(there.get("rows", {})), dict(there.get("table", {}))


def is_done(row, line, name, known, arguments):
    """Has it been measured with this code, as often as it shall be?"""
    runs = arguments.runs or int(known.get("runs", 1))
    return ("FAILED" not in line and row["runs"] >= runs and
            not stamps.older(name, row["commit"]))


def show(known, before):
    print("run rows with perf/study reproduce ROW... | --quick | --all; an older one has not "
          "measured what is here now\n")
    for name, row in known.items():
        last = before["rows"].get(name)
        what = (f"{last['date']} {last['commit']}"
                f"{' older' if stamps.older(name, last['commit']) else ''}" if last
                else "never measured")
        print(f"{name:22s} {row.get('minutes', '?'):>4s} min  "
              f"{'quick' if row.get('quick') == 'yes' else '     '}  {what:28s} "
              f"{' '.join(row['needs'])}")
    return 0


def build_folder(program):
    """That of the program which was given, else of that of the PATH, else of the newest."""
    found = pathlib.Path(jobs.find_program("nunatak", program)).parents[1]
    if not (found / "CMakeCache.txt").is_file():
        raise StudyError("--program: expected a program in the folder where it was built, found "
                         f"'{found}' without CMakeCache.txt")
    return found


def facts(build):
    """Of this machine, as far as it decides about times."""
    cpu = subprocess.run(["sh", "-c", machine.CPU], capture_output=True, text=True,
                         check=False).stdout.partition(":")[2].strip()
    compiler = [line.partition("=")[2]
                for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
                if line.startswith(("CMAKE_CXX_COMPILER:", "CMAKE_BUILD_TYPE:"))]
    mpi = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True,
                         check=False).stdout.splitlines()
    return {"cpu": cpu or "unknown", "cores": len(os.sched_getaffinity(0)),
            "mpi": mpi[0] if mpi else "none", "build": " ".join(compiler)}


def measure(name, row, build, arguments):
    """{figure: [median, least, most]} of `runs` runs of the command."""
    count = arguments.runs or int(row.get("runs", 1))
    found = {figure: [] for figure in row["figures"]}
    for run in range(count):
        print(f"run {run + 1} of {count}" if run else row["command"].rstrip(), flush=True)
        with out_folder(name, arguments.keep) as folder:
            execute(name, row, build, folder)
            for figure, how in row["figures"].items():
                found[figure].append(rows.figure_of(folder, how))
            for picture, made in row.get("pictures", {}).items() if arguments.record else ():
                shutil.copyfile(pathlib.Path(folder, made), ROOT / "docs" / "img" / picture)
    return {figure: [float(f"{one:.6g}") for one in rows.together(values)]
            for figure, values in found.items()}


def out_folder(name, keep):
    """$OUT of a command: a new one that goes, or that of the row in the folder `keep`."""
    if not keep:
        (ROOT / "build").mkdir(exist_ok=True)
        # /tmp may be memory
        return tempfile.TemporaryDirectory(prefix=f"nunatak-{name}-", dir=ROOT / "build",
                                           ignore_cleanup_errors=True)
    folder = pathlib.Path(keep).resolve() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return contextlib.nullcontext(str(folder))


def execute(name, row, build, folder):
    """In a group of processes of its own, which ends with it, and with an emulated cluster of its
    own."""
    absent = [word for word in re.findall(r"\$BUILD/([\w./-]+)", row["command"])
              if not (build / word).is_file()]
    if absent:  # the loader goes on without a library
        raise StudyError(f"{name}: expected {', '.join(absent)} in '{build}', found none; cmake "
                         f"--build '{build}' makes it")
    words = ["/bin/bash", "-e", "-o", "pipefail", "-c",
             f". scripts/environment.sh\n{row['command']}"]
    path = os.pathsep.join(
        [*(str(build / sub) for sub in ("miniapp", "perf")), str(ROOT / "perf"),
         str(ROOT / "perf" / "cluster"), os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "OUT": folder, "BUILD": str(build),
                   "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", plots.ROW: name}
    if "cluster" in row["needs"]:
        environment["NUNATAK_CLUSTER"] = machine.cluster_folder(folder)
    limit = 60 * (5 + 4 * minutes(row))
    with open(os.path.join(folder, "log"), "w", encoding="utf-8") as log:
        job = subprocess.Popen(words, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                               stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = job.wait(limit)
            status = f"status {code}" if code else ""
        except subprocess.TimeoutExpired:
            status = f"not at its end after {limit / 60:.0f} min"
        finally:
            for word in (signal.SIGTERM, signal.SIGKILL):
                if job.poll() is None:
                    os.killpg(job.pid, word)
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        job.wait(60)
            if "cluster" in row["needs"]:
                subprocess.run([ROOT / "perf" / "cluster" / "cluster", "down"], env=environment,
                               stdin=subprocess.DEVNULL, capture_output=True, check=False,
                               timeout=120)
    if status:
        tail = pathlib.Path(folder, "log").read_text(encoding="utf-8",
                                                     errors="replace").splitlines()[-15:]
        raise StudyError(f"{name}: {status}\n" + "\n".join(tail))


def compare(name, row, values, before, here):
    """Prints old, new, their ratio and the verdict; how many figures have which verdict, and which
    are worse or differ."""
    old = before["rows"].get(name)
    there = before["machines"].get(old["machine"], {}) if old else {}
    same = all(there.get(key) == here[key] for key in ("cpu", "cores"))
    verdicts, worse = Counter(), []
    print(f"{'':44s} {'before':>10s} {'now':>10s} {'ratio':>7s}  verdict")
    for figure, new in values.items():
        was = old["values"].get(figure) if old else None
        said = rows.verdict(row["figures"][figure], was, new, same) if was else "new"
        ratio = number(new[0] / was[0]) if was and was[0] else "-"
        verdicts[said] += 1
        worse += ([f"{figure}: {number(was[0])}, now {number(new[0])}"]
                  if said in ("DIFFERS", "worse") else [])
        print(f"{figure:44s} {number(was[0]) if was else '-':>10s} {number(new[0]):>10s} "
              f"{ratio:>7s}  {said}", flush=True)
    return "; ".join([", ".join(f"{times} {said}" for said, times in verdicts.items()), *worse])


def keep(path, what):
    replace(pathlib.Path(path), yaml.safe_dump(what, sort_keys=False, allow_unicode=True,
                                               default_flow_style=None, width=140))


def record(here, found):
    """Replaces the rows, and gives the machine a letter."""
    before = rows.measured()
    letter = next(
        (name for name, there in before["machines"].items() if here.items() <= there.items()), None)
    if letter is None:
        letter = next(chr(code) for code in range(ord("A"), ord("Z") + 1)
                      if chr(code) not in before["machines"])
        before["machines"][letter] = here
    before["rows"].update({name: {**row, "machine": letter} for name, row in found.items()})
    used = {row["machine"] for row in before["rows"].values()}
    before["machines"] = {name: there for name, there in before["machines"].items() if name in used}
    keep(rows.MEASURED, before)
