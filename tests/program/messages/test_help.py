"""-help of every program: folded, with an example that runs."""
import fcntl
import os
import struct
import subprocess
import termios

import pytest
from conftest import FOLDER, run_program

PROGRAMS = [name for name in ("nunatak", *(f"nunatak-{tool}" for tool in (
    "check", "distance", "io", "join", "labels", "step", "verify"))) if (FOLDER / name).exists()]


def help_in_terminal(program, columns):
    main, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([FOLDER / program, "-help"], stdout=terminal) as process:
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(main, 65536):
                text += piece
        except OSError:  # the program has ended
            pass
        assert process.wait(timeout=60) == 0
    os.close(main)
    return text.decode().splitlines()


@pytest.mark.parametrize("program", PROGRAMS)
def test_lines_have_an_end(program):
    run = run_program(program, "-help", status=0)
    assert run.err == ""
    assert not [line for line in run.out.splitlines() if len(line) > 100]
    narrow = help_in_terminal(program, 70)
    rows = [line for line in narrow if line.startswith(("  -", " " * 20))]
    # one word cannot be folded
    assert rows and not [line for line in rows if len(line) > 70 and " " in line[60:].strip()]
    words = " ".join(" ".join(narrow).split()).replace("| ", "|")
    assert words == " ".join(run.out.split()).replace("| ", "|")


@pytest.mark.parametrize("program", sorted({"nunatak", "nunatak-io"}.intersection(PROGRAMS)))
def test_without_arguments_it_says_what_to_type(program, tmp_path):
    run = run_program(program, cwd=tmp_path, status=0)
    assert (f"{program} -" in run.out and "-help lists all options" in run.out and
            len(run.out.splitlines()) < 8 and run.err == "")
    if program == "nunatak":
        assert "-init marine" in run.out
        assert "step" in run_program(program, cwd=tmp_path,
                                     environment={"PETSC_OPTIONS": "-init dome -run_steps 1"},
                                     status=0).out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("program", ["nunatak-distance", "nunatak-labels", "nunatak-step"])
def test_the_example_runs(program, tmp_path):
    name, *arguments = run_program(program, "-help", status=0).out.splitlines()[2].split()
    assert name == program
    assert run_program(program, *arguments, cwd=tmp_path, status=0).err == ""
