"""What scripts/lab.py builds and runs: the programs of tests/course/CMakeLists.txt, in build/course (or NUNATAK_COURSE_BUILD)."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(SOURCE / "perf"), str(SOURCE / "course/tiny")]
import check as tiny  # noqa: E402
import launcher  # noqa: E402  (sets what lets ranks outnumber cores)

MPIEXEC = launcher.MPIEXEC
BUILD = pathlib.Path(os.environ.get("NUNATAK_COURSE_BUILD", SOURCE / "build/course")).absolute()
DEPS = SOURCE / "build/deps"
PYTHON = next(p for p in (DEPS / "python/bin/python", pathlib.Path(sys.executable)) if p.exists())  # with the packages of scripts/requirements.txt
RUN_SECONDS = float(os.environ.get("NUNATAK_COURSE_SECONDS", 60))  # limit for a check of one submission
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


def run(command, seconds, cwd=None):
    """(status, output) of a command; status None: it was stopped at its time limit, with all that it had started."""
    with subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env={**ENVIRONMENT, **os.environ}, start_new_session=True) as process:
        try:
            output = process.communicate(timeout=seconds)[0]
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


class Problem(Exception):
    """Something that the user can put right."""


@contextlib.contextmanager
def build_folder(labs):
    """The configured build folder, for this process alone. CMake finds the sources of all labs in it."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (BUILD / "tests").exists():
            print(f"the first time Kokkos, if need be, and the checks are built in {BUILD}: minutes", flush=True)
        for lab in labs:
            place(lab, {path: (SOURCE / path).read_text() for path in lab["holes"] if not (BUILD / f"labs/{lab['number']}" / path).exists()})
        if not (DEPS / "lib/cmake/Kokkos").exists() and "Kokkos_ROOT" not in os.environ:
            subprocess.run([SOURCE / "scripts/setup.sh", "kernels"], check=True)
        ninja = ["-G", "Ninja"] if shutil.which("ninja") and not (BUILD / "Makefile").exists() else []
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        words = ["cmake", "-S", SOURCE, "-B", BUILD, *ninja, *launcher, "-DNUNATAK_BUILD=kernels", "-DNUNATAK_COURSE=ON", "-DNUNATAK_TESTS=OFF",
                 "-DNUNATAK_PCH=ON", "-DNUNATAK_UNITY=ON", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1", f"-DCMAKE_PREFIX_PATH={DEPS}"]
        said, configured = " ".join(map(str, words)), BUILD / "configured.txt"
        if not configured.exists() or configured.read_text() != said:  # what changes in CMake's lists later, the build sees
            status, output = run(words, 900)
            if status != 0:
                raise Problem(f"cmake failed:\n{output[-3000:]}")
            configured.write_text(said)
        yield


def place(lab, files):
    """Lay files where the compiler looks first. What has not changed keeps its time, and is not compiled again."""
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
    command = ["cmake", "--build", BUILD, "-j", str(os.cpu_count()), "--target", *names, "--", *keep_going]
    status, output = run(command, seconds)
    if status == 0:
        return {}
    if status is None:
        return dict.fromkeys(names, f"stopped after {seconds} s")
    for name in names:  # which of them?
        program(name).unlink(missing_ok=True)
    run(command, seconds)
    said = "\n".join(re.findall(r"[^\n]*(?:error|Error)[^\n]*", output)[:3] or [output[-500:]]).replace(str(BUILD) + "/", "")
    return {name: said for name in names if not program(name).exists()}


def has(need):
    if need == "mpi4py":
        return run([PYTHON, "-c", "import mpi4py.MPI"], 60)[0] == 0
    return need != "MPI" or "mpiexec" in (BUILD / "mpiexec.txt").read_text()


def compiled(checks):
    """The programs of these checks; a check by a script has none."""
    return [c["program"] for c in checks if "script" not in c]


def run_tiny(check):
    """Failures of lab 11: of each file in which something has been written, as course/tiny/check.py finds them."""
    placed = [BUILD / "labs/11" / path for path in check["script"]]
    begun = [p for p in placed if not any("not written yet" in line and "| stub:" not in line for line in p.read_text().splitlines())]
    if not begun:
        return [{"test": "tiny", "expected": "your code", "found": "lab 11: not written yet"}]
    if any(path.suffix == ".py" for path in begun) and not has("mpi4py"):
        return [{"test": "tiny.py", "expected": f"mpi4py, numpy and netCDF4 in {PYTHON}", "found": "none: run lab.py by a Python that has them"}]
    return [{"test": path.name, "expected": e, "found": f} for path in begun for e, f in tiny.failures(path.name, path, str(PYTHON))]


SIGNALS = {"SIGABRT": "an exception that nothing caught, or a failed check of bounds", "SIGSEGV": "an access outside of an array",
           "SIGFPE": "a division of integers by zero"}


def failure_of(said):
    """{expected, found, where} of a failure in the words of Catch2's compact reporter, after 'failed: '."""
    said = re.sub(r"\(0x\w+\)|test cases: .*", "", " ".join(said.split()))[:1500].strip()
    expression, notes = re.fullmatch(r"(.*?)(?: with \d+ messages?: (.*))?", said).groups()
    notes = re.findall(r"'(.*?)'(?= and '|$)", notes or "")
    expression, _, values = expression.partition(" for: ")
    if expression.startswith("explicitly") and notes:  # FAIL_CHECK(...) of the checks: "where: expected a, found b"
        where, expected, found = re.fullmatch(r"(?:(.*?): )?expected (.*), found (.*)|(?:.*)", notes.pop()).groups()
        notes.append(where or "")
        if found is None:  # words of several ranks, mixed
            expected, found = "explicitly", expression
    elif "fatal error condition" in said:
        signal = re.search(r"SIG\w+", said)
        expected, found = "an end of the test", f"the program stopped: {SIGNALS.get(signal[0], signal[0]) if signal else said}"
    elif "unexpected exception" in said:
        expected, found = "no exception", notes.pop() if notes else expression
    else:
        near = re.fullmatch(r"(\S+) and (\S+) are within (\S+) of each other", values)
        sides, words = re.fullmatch(r"(.+?) == (.+)", values), re.fullmatch(r"(.+?) == (.+)", expression)
        expected, found = (f"{words[1]} = {sides[2]}", sides[1]) if sides and words else (expression, values or "the opposite")
        if near:
            expected, found = f"{expression.split(',')[0]} = {near[2]} to {near[3]}", near[1]
    if "{?}" in found:  # lists whose entries Catch2 does not print
        expected, found = (f"{expected.split(' = ')[0]}: a list of {side.count('{?}')}" for side in (expected, found))
    return {"expected": expected, "found": found, "where": ", ".join(note.replace(" := ", " = ") for note in notes if note)}


def failed_lines(output):
    """The first three failures of a check, each with what was expected, what was found, and where; one for a hole that is empty."""
    empty = re.search(r"lab \d+: not written yet", output)
    if empty:
        return [{"expected": "your code", "found": empty[0]}]
    failures = []
    for said in re.split(r"^(?=[^\n]+?\.[ch]pp:\d+: |Failed )", output, flags=re.M):
        found = re.match(r"([^\n]+?):(\d+): failed: (.*)", said, re.S)
        if found:
            failure = failure_of(found[3])
            line = re.sub(rf"^(\.\./\.\.|{re.escape(str(BUILD))}/labs/\d+|{re.escape(str(SOURCE))})/", "", found[1]) + ":" + found[2]
            failures.append({**failure, "where": ", ".join(filter(None, [failure["where"], line]))})
    of_mpi = re.search(r"\*\*\* (MPI_ERR_\w+: .*)", output)
    if of_mpi:
        failures.insert(0, {"expected": "calls of MPI that fit each other", "found": of_mpi[1]})
    useful = [f for f in failures if f["expected"] != "explicitly" and "SIGTERM" not in f["found"]]  # output of ranks is mixed, mpiexec ends the others
    return (useful or failures)[:3]


def run_check(check, seconds=RUN_SECONDS):
    """Failures of one check: a list of {test, expected, found}, empty if it passes. `seconds`: the limit for each number of ranks."""
    if "script" in check:
        return run_tiny(check)
    words = [program(check["program"]), check["tests"], "--reporter", "compact", "--order", "decl", "--colour-mode", "none"]
    mpiexec = (BUILD / "mpiexec.txt").read_text().split(";")
    failures = []
    for ranks in check.get("ranks", [0]):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run(([*mpiexec, ranks] if ranks else []) + words, seconds, folder)
        failures += failed_lines(output)
        if status is None:
            failures.append({"expected": f"an end within {seconds:g} s", "found": "none: a loop that does not end, or a message that no rank sends"})
            break
        elif status != 0 and not failures:
            failures.append({"expected": "status 0", "found": f"status {status}: {output[-200:].strip()}"})
        elif status == 0 and "Passed" not in output and "passed" not in output:
            failures.append({"expected": "tests that pass", "found": output[-200:].strip() or "no test"})
    return [{"expected": f["expected"], "found": f["found"], "test": ": ".join(filter(None, [check["program"], f.get("where")]))} for f in failures]
