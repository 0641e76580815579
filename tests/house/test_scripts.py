"""Python scripts know their options, and keep the width of the C++."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_python_scripts_know_their_options(tmp_path):
    """By argparse: --help once made the picture --help.png."""
    scripts = [p for top in ("scripts", "perf", "inputs")
               for p in (SOURCE / top).rglob("*") if p.is_file() and os.access(p, os.X_OK)]
    scripts = [p for p in scripts if p.read_bytes().split(b"\n")[0].endswith(b"python3")]
    assert len(scripts) > 10
    assert not [p.name for p in scripts if "ArgumentParser(" not in p.read_text()]
    done = subprocess.run([sys.executable, SOURCE / "scripts/draw_course.py", "--help"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "usage:" in done.stdout and not list(tmp_path.iterdir()), done


def test_python_keeps_100_columns():
    """As the C++ does by .clang-format."""
    files = [path for top in ("course", "inputs", "perf", "scripts", "share", "tests")
             for path in (SOURCE / top).rglob("*") if path.suffix == ".py"]
    files += [SOURCE / "perf/study", SOURCE / "perf/cluster/cluster"]
    assert len(files) > 100
    assert not [f"{path.relative_to(SOURCE)}:{n}" for path in files
                for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
                if len(line) > 100]
