"""Python scripts know their options."""

import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def test_python_scripts_know_their_options(tmp_path):
    """By argparse: --help once made the picture --help.png."""
    scripts = [p for top in ("scripts", "perf", "inputs") for p in (SOURCE / top).rglob("*") if p.is_file() and os.access(p, os.X_OK)]
    scripts = [p for p in scripts if p.read_bytes().split(b"\n")[0].endswith(b"python3")]
    assert len(scripts) > 10
    assert not [p.name for p in scripts if "ArgumentParser(" not in p.read_text()]
    done = subprocess.run([sys.executable, SOURCE / "scripts/draw_course.py", "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "usage:" in done.stdout and not list(tmp_path.iterdir()), done
