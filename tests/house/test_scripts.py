"""Shell scripts with pipefail: no pipe ends in a command that stops reading early. What writes to it would die of SIGPIPE now and then,
and with it the script (scripts/setup.sh on Debian 13, of "apt-cache policy | grep -q"). Python scripts know their options."""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STOPS_EARLY = re.compile(r"\|\s*(grep\s+(-\w*q|--quiet)|head\b|awk\b[^|]*\bexit\b|sed\s[^|]*\d+q\b)")


def complaints(name, text):
    if "pipefail" not in text:
        return []
    lines = enumerate(text.splitlines(), 1)
    return [f"{name}:{n}: {line.strip()}" for n, line in lines if not line.lstrip().startswith("#") and STOPS_EARLY.search(line)]


def test_no_pipe_ends_early():
    scripts = [p for top in ("scripts", "tests", "perf", "inputs") for p in (SOURCE / top).rglob("*.sh")]
    assert len(scripts) > 4
    found = [c for p in sorted(scripts) for c in complaints(p.relative_to(SOURCE).as_posix(), p.read_text())]
    assert not found, "\n" + "\n".join(found)


def test_an_early_end_is_seen():
    head = "set -euo pipefail\n"
    assert complaints("x", head + "if apt-cache policy catch2 | grep -q 'Candidate: 3'; then")
    assert complaints("x", head + "m=$(apt-get indextargets | awk '{print $1; exit}')")
    assert complaints("x", head + "cmake --version | head -1")
    assert not complaints("x", head + "grep -q x file || sort x | sed -n 1,5p")
    assert not complaints("x", "ls | head -1")


def test_cores_are_counted_without_openmp():
    """nproc answers OMP_NUM_THREADS where that is set, and scripts/environment.sh sets it."""
    calls = [(p.name, line) for p in (SOURCE / "scripts").glob("*.sh") for line in p.read_text().splitlines() if re.search(r"\bnproc\)", line)]
    assert len(calls) > 2
    assert all("env -u OMP_NUM_THREADS nproc" in line for _, line in calls), calls


def test_python_scripts_know_their_options(tmp_path):
    """By argparse: --help once made the picture --help.png."""
    scripts = [p for top in ("scripts", "perf", "inputs") for p in (SOURCE / top).rglob("*") if p.is_file() and os.access(p, os.X_OK)]
    scripts = [p for p in scripts if p.read_bytes().split(b"\n")[0].endswith(b"python3")]
    assert len(scripts) > 10
    assert not [p.name for p in scripts if "ArgumentParser(" not in p.read_text()]
    for script in ("scripts/draw_course.py", "perf/upsample.py"):
        done = subprocess.run([sys.executable, SOURCE / script, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "usage:" in done.stdout and not list(tmp_path.iterdir()), (script, done)
