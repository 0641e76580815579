"""-help of every program: folded, with an example that runs; and the tools need no PETSc."""
import fcntl
import os
import pathlib
import struct
import subprocess
import termios

import pytest

FOLDER = pathlib.Path(os.environ["NUNATAK"]).parent
PROGRAMS = [name for name in ("nunatak", *(f"nunatak-{tool}" for tool in ("check", "distance", "io", "join", "labels", "step", "verify")))
            if (FOLDER / name).exists()]


def help_of(program):
    return subprocess.run([FOLDER / program, "-help"], capture_output=True, text=True, timeout=60, check=False)


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
    run = help_of(program)
    assert run.returncode == 0 and run.stderr == ""
    assert not [line for line in run.stdout.splitlines() if len(line) > 100]
    narrow = help_in_terminal(program, 70)
    rows = [line for line in narrow if line.startswith(("  -", " " * 20))]
    assert rows and not [line for line in rows if len(line) > 70 and " " in line[60:].strip()]  # one word cannot be folded
    words = " ".join(" ".join(narrow).split()).replace("| ", "|")
    assert words == " ".join(run.stdout.split()).replace("| ", "|")


@pytest.mark.parametrize("program", ["nunatak-distance", "nunatak-labels", "nunatak-step"])
def test_the_example_runs(program, tmp_path):
    example = help_of(program).stdout.splitlines()[2].split()
    assert example[0] == program
    done = subprocess.run([FOLDER / program, *example[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stderr == "", done


def libraries(program):
    run = subprocess.run(["ldd", FOLDER / program], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in run.stdout.splitlines() if line.strip()]
    assert any(name.startswith("libstdc++") for name in names), run.stdout
    return names


@pytest.mark.parametrize("program", PROGRAMS)
def test_only_the_model_loads_petsc(program):
    """What the loader would load (ldd)."""
    assert any("petsc" in name.lower() for name in libraries(program)) == (program == "nunatak")
