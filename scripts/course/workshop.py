"""What scripts/lab.py builds and runs: the programs of tests/course/CMakeLists.txt, in build/course
(or NUNATAK_COURSE_BUILD)."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "perf"), str(SOURCE / "course/tiny")]
import check as tiny  # noqa: E402
import limits  # noqa: E402
import launcher  # noqa: E402  (sets what lets ranks outnumber cores)

MPIEXEC = launcher.MPIEXEC
BUILD = pathlib.Path(os.environ.get("NUNATAK_COURSE_BUILD", SOURCE / "build/course")).absolute()
DEPS = SOURCE / "build/deps"
# the one with the packages of scripts/requirements.txt
PYTHON = next(p for p in (DEPS / "python/bin/python", pathlib.Path(sys.executable)) if p.exists())
# limit for a check of one submission
RUN_SECONDS = float(os.environ.get("NUNATAK_COURSE_SECONDS", 60))
# bytes of a program of a check: Catch2 holds in memory what a test writes to std::cout
MEMORY = 2 << 30
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def run(command, seconds, cwd=None):
    """limits.run() with what MPI needs here."""
    return limits.run(command, seconds, cwd, {**ENVIRONMENT, **os.environ})


class Problem(Exception):
    """Something that the user can put right."""


@contextlib.contextmanager
def build_folder(labs):
    """The configured build folder, for this process alone. CMake finds the sources of all labs in
    it."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (BUILD / "tests").exists():
            print("the first time Kokkos, if need be, and the checks are built in "
                  f"{BUILD}: minutes", flush=True)
        for lab in labs:
            place(lab, {path: (SOURCE / path).read_text() for path in lab["holes"]
                        if not (BUILD / f"labs/{lab['number']}" / path).exists()})
        if not (DEPS / "lib/cmake/Kokkos").exists() and "Kokkos_ROOT" not in os.environ:
            subprocess.run([SOURCE / "scripts/setup.sh", "kernels"], check=True)
        ninja = (["-G", "Ninja"] if shutil.which("ninja") and
                 not (BUILD / "Makefile").exists() else [])
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        words = ["cmake", "-S", SOURCE, "-B", BUILD, *ninja, *launcher, "-DNUNATAK_BUILD=kernels",
                 "-DNUNATAK_COURSE=ON", "-DNUNATAK_TESTS=OFF",
                 "-DNUNATAK_PCH=ON", "-DNUNATAK_UNITY=ON", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DCMAKE_PREFIX_PATH={DEPS}"]
        said, configured = " ".join(map(str, words)), BUILD / "configured.txt"
        # what changes in CMake's lists later, the build sees
        if not configured.exists() or configured.read_text() != said:
            status, output = run(words, 900)
            if status != 0:
                raise Problem(f"cmake failed:\n{output[-3000:]}")
            configured.write_text(said)
        yield


def place(lab, files):
    """Lay files where the compiler looks first. What has not changed keeps its time, and is not
    compiled again."""
    for path, text in files.items():
        target = BUILD / f"labs/{lab['number']}" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)


def program(name):
    return BUILD / ("miniapp" if name.startswith("nunatak-") else "tests/course") / name


def build(names, seconds):
    """{name: what the compiler said} of the programs that could not be built."""
    if not names:
        return {}
    keep_going = ["-k", "0"] if (BUILD / "build.ninja").exists() else ["-k"]
    command = ["cmake", "--build", BUILD, "-j", str(os.cpu_count()), "--target", *names, "--",
               *keep_going]
    status, output = run(command, seconds)
    if status == 0:
        return {}
    if status is None:
        return dict.fromkeys(
            names, f"none within {seconds} s: on a busy machine check again, what is built is kept")
    for name in names:  # which of them?
        program(name).unlink(missing_ok=True)
    run(command, seconds)
    said = "\n    ".join(re.findall(r"[^\n]*(?:error:|Error|undefined reference)[^\n]*",
                                    output)[:3] or [output[-500:]])
    said = re.sub(rf"(\.\./|{re.escape(str(BUILD))}/)*labs/\d+/", "", said)
    return {name: said for name in names if not program(name).exists()}


def has(need):
    if need == "mpi4py":
        return run([PYTHON, "-c", "import mpi4py.MPI"], 60)[0] == 0
    return need != "MPI" or "mpiexec" in (BUILD / "mpiexec.txt").read_text()


def compiled(checks):
    """The programs of these checks; a check by a script has none."""
    return [c["program"] for c in checks if "script" not in c]


def run_tiny(check):
    """Failures of lab 11: of each file in which something has been written, as course/tiny/check.py
    finds them."""
    placed = [BUILD / "labs/11" / path for path in check["script"]]
    said = {p: re.sub(r"\| stub:.*", "", p.read_text()) for p in placed}
    begun = [p
             for p, text in said.items() if "not written yet" not in text or "LAB_MUTANTS" in text]
    if not begun:
        return [{"test": "tiny", "expected": "your code", "found": "lab 11: not written yet"}]
    if any(path.suffix == ".py" for path in begun) and not has("mpi4py"):
        return [{"test": "tiny.py", "expected": f"mpi4py, numpy and netCDF4 in {PYTHON}",
                 "found": "none: run lab.py by a Python that has them"}]
    return [{"test": path.name, "expected": e, "found": f} for path in begun
            for e, f in tiny.failures(path.name, path, str(PYTHON))]


SIGNALS = {
    "SIGABRT": "an exception that nothing caught, or memory overwritten beyond the end of an array",
    "SIGSEGV": "an access outside of an array", "SIGFPE": "a division of integers by zero"}


def failure_of(kind, text, values):
    """(where, expected, found) of a failure: an element of Catch2's XML, its text, and of an
    expression the text with the values in it."""
    if kind == "Exception":
        return "", "no exception", text
    if kind == "FatalErrorCondition":
        signal = text.split()[0]
        return "", "an end of the test", f"the program stopped: {SIGNALS.get(signal, signal)}"
    if kind == "Failure":  # of the checks: "where: expected a, found b"
        said = re.fullmatch(r"(?:(.*?): )?expected (.*), found (.*)", text)
        return said.groups("") if said else ("", "a test that passes", text)
    near = re.fullmatch(r"(\S+) and (\S+) are within (\S+) of each other", values)
    if near:
        return "", f"{text.split(', Within')[0]} = {near[2]} to {near[3]}", near[1]
    words, sides = (re.fullmatch(r"(.+?) (==|<=|>=|<|>) (.+)", side) for side in (text, values))
    if not words or not sides:
        return "", text, values if values != text else "the opposite"
    expected, found = f"{words[1]} {'=' if words[2] == '==' else words[2]} {sides[3]}", sides[1]
    if "{?}" in values:  # lists whose entries Catch2 does not print
        expected, found = (f"{words[1]} = a list of {sides[3].count('{?}')}",
                           f"a list of {found.count('{?}')}, or other entries")
    return "", expected, found


def failures_in(said):
    """(failures {expected, found, where} in what Catch2 has written as XML, the last test case if
    it has not ended)."""
    failures, running = [], ""
    parser = ElementTree.XMLPullParser(["start"])
    parser.feed(said)
    with contextlib.suppress(ElementTree.ParseError):
        for case in (e for _, e in parser.read_events() if e.tag == "TestCase"):
            name, notes = re.sub(r"lab \d+: ", "", case.get("name")), []
            for e in case.iter():
                text = " ".join((e.findtext("Original") or e.text or "").split())[:1000]
                if e.tag == "Info":
                    notes.append(text.replace(" := ", " = "))
                elif (e.tag in ("Failure", "Exception", "FatalErrorCondition") or
                      e.tag == "Expression" and len(e) == 2):
                    where, expected, found = failure_of(
                        e.tag, text, " ".join((e.findtext("Expanded") or "").split())[:1000])
                    failures.append({"expected": expected, "found": found,
                                     "where": ", ".join(filter(None, [name, *notes, where]))})
                    notes = []
            running = "" if case.find("OverallResult") is not None else name
    return failures, running


def run_check(check, seconds=RUN_SECONDS):
    """Failures of one check: a list of {test, expected, found}, empty if it passes. `seconds`: the
    limit for each number of ranks."""
    if "script" in check:
        return run_tiny(check)
    limited = f'ulimit -d {MEMORY >> 10} 2>/dev/null; exec "$0" "$@" --out $$.xml'
    words = ["sh", "-c", limited, program(check["program"]), check["tests"], "--reporter", "xml",
             "--order", "decl"]
    failures = []
    for ranks in check.get("ranks", [0]):
        # a rank that stopped at its third failure would leave others alone
        on_ranks = [*(BUILD / "mpiexec.txt").read_text().split(";"), ranks, *words]
        with tempfile.TemporaryDirectory() as folder:
            status, output = run(on_ranks if ranks else [*words, "--abortx", "3"], seconds, folder)
            files = list(pathlib.Path(folder).glob("*.xml"))
            if sum(path.stat().st_size for path in files) > limits.MOST:
                status, files = limits.TOO_MUCH, []
            said = [failures_in(path.read_bytes()) for path in files]
        for line in re.findall(r"^measured: .*", output, re.M):
            print(f"  {line}")
        running = ", ".join(sorted({case for _, case in said if case}))
        # mpiexec ends the other ranks
        found = [f for of_rank, _ in said for f in of_rank if "SIGTERM" not in f["found"]]
        of_mpi = re.search(r"\*\*\* (MPI_ERR_\w+: .*)", output)
        if of_mpi:
            found.insert(0, {"expected": "calls of MPI that fit each other", "found": of_mpi[1]})
        empty = re.search(r"lab \d+: not written yet", f"{found}{output}")
        if empty:
            found = [{"expected": "your code", "found": empty[0]}]
        if status is None:
            found.append({"expected": f"an end within {seconds:g} s", "found": "none: a loop that "
                          "does not end, or a message that no rank sends", "where": running})
        elif status == limits.TOO_MUCH:
            found.append({"expected": f"at most {limits.MOST >> 20} MB of output",
                          "found": "more: a loop that prints and does not end", "where": running})
        elif not found and (status != 0 or running or not said):
            found = [{"expected": "an end of all tests",
                      "found": f"status {status} {output[-200:].strip()}", "where": running}]
        failures = [f for n, f in enumerate(found) if f not in found[:n]][:3]
        if failures:
            break
    return [{"expected": f["expected"], "found": f["found"],
             "test": ": ".join(filter(None, [check["program"], f.get("where")]))} for f in failures]
