"""What the tests of the program share: running programs on some ranks, comparing files, and small
input files.

Environment (set by CTest): NUNATAK (the program), NUNATAK_MPIEXEC (mpiexec and its flags),
NUNATAK_SHARED_DATA.
"""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import time

import netCDF4
import numpy as np
import pytest


FOLDER = pathlib.Path(os.environ.get("NUNATAK", "nunatak")).parent  # of the programs
os.environ["PATH"] = f"{FOLDER}:{os.environ['PATH']}"


class Run:
    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr
        self.text = completed.stdout + completed.stderr


def command_of(name, *arguments, ranks=None, inside=()):
    """Of a program, by mpiexec if `ranks` is given, each rank started by `inside`. Its name in
    `history` is as long on every machine."""
    start = [] if ranks is None else [*shlex.split(os.environ["NUNATAK_MPIEXEC"]), str(ranks)]
    return [*start, *inside, str(FOLDER / name) if "/" in name else name, *map(str, arguments)]


def run_program(name, *arguments, ranks=None, environment=None, status=None, timeout=120, inside=(),
                **keywords):
    """Run a program; a hang is a failure, and so is another status than one that is given."""
    command = command_of(name, *arguments, ranks=ranks, inside=inside)
    run = Run(subprocess.run(command, timeout=timeout, capture_output=True, text=True,
                             env={**os.environ, **(environment or {})}, **keywords))
    # below 0: a signal to the program itself, or to mpiexec; 128 and more: to one of its ranks
    assert status is None or run.status == status, (
        f"status {run.status} of {shlex.join(command)}\n{run.text}")
    return run


def run_nunatak(*arguments, ranks=1, **keywords):
    return run_program("nunatak", *arguments, ranks=ranks, **keywords)


def start_nunatak(folder, *arguments, ranks=None, environment=None, stderr=subprocess.PIPE):
    """A run that goes on while the test looks at it."""
    return subprocess.Popen(command_of("nunatak", *arguments, ranks=ranks), cwd=folder,
                            stdout=subprocess.PIPE, stderr=stderr, text=True,
                            env={**os.environ, **(environment or {})})


def wait_for_file(process, path):
    """Until a run that goes on has made it."""
    while not pathlib.Path(path).exists():
        assert process.poll() is None
        time.sleep(0.05)


def slow_disk(folder, seconds):
    """The environment of a run each of whose writes to the folder takes as long; FOLDER.disk is
    there from the first one on."""
    return {"LD_PRELOAD": os.environ["NUNATAK_SLOW_DISK"],
            "NUNATAK_DISK": f"1e9 {folder}/ {folder}.disk 0 65536 {seconds}"}


def wait_for_steps(process, steps=1):
    """Read lines until some steps are done; all that was read."""
    lines = []
    while steps > 0:
        lines.append(process.stdout.readline())
        assert lines[-1], "".join(lines)
        steps -= lines[-1].startswith("step")
    return "".join(lines)


@pytest.fixture
def nunatak(tmp_path):
    """nunatak(*arguments, ranks=n): run in a fresh folder; returns status, out, err, text."""
    return lambda *arguments, **keywords: run_nunatak(*arguments, **{"cwd": tmp_path, **keywords})


@pytest.fixture
def tool(tmp_path):
    """tool("distance", *arguments, ranks=n): nunatak-distance in a fresh folder."""
    return lambda name, *arguments, **keywords: run_program(f"nunatak-{name}", *arguments,
                                                            cwd=tmp_path, **keywords)


def ranks_of(process):
    """{rank: process} of what mpiexec has started."""
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                              text=True).stdout.split()
    ranks = {}
    for pid in map(int, children):
        with contextlib.suppress(OSError):  # of one that has just ended
            text = pathlib.Path(f"/proc/{pid}/environ").read_text().replace("\0", "\n")
            ranks.update({int(rank): pid for rank in re.findall(
                r"^(?:OMPI_COMM_WORLD|PMI)_RANK=(\d+)", text, re.M)})
    return ranks


def processes_of(folder):
    """Those that have the folder among their words."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if str(folder).encode() in path.read_bytes():
                found.append(path.parent.name)
    return found


def refused(run, *words, program="nunatak"):
    """The run failed with status 2, said every word in one error, and left no stack trace."""
    assert run.status == 2, run.text
    error = run.err.partition(f"{program}: error:")[2]
    for word in words:
        assert word in error, f"expected {word!r} in the error of:\n{run.text}"
    assert run.text.count(f"{program}: error:") == 1 and "PETSC ERROR" not in run.text, run.text


def bits(path):
    """Dimensions and bytes of each variable of a file."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        return {name: (data[name].dimensions, data[name][:].tobytes()) for name in data.variables}


def assert_same_bits(one, other):
    """Two files have the same variables, bit for bit."""
    a, b = bits(one), bits(other)
    assert a.keys() == b.keys()
    for name in a:
        assert a[name] == b[name], f"{name} of {other}"


def attributes_of(thing, *without):
    """Of a dataset or a variable; not the history, which tells the time and the options of the
    run."""
    return {name: np.asarray(thing.getncattr(name)).tolist()
            for name in thing.ncattrs() if name not in ("history", *without)}


def attributes(path):
    """Global ones under "", and those of each variable."""
    with netCDF4.Dataset(path) as data:
        return {"": attributes_of(data),
                **{name: attributes_of(variable) for name, variable in data.variables.items()}}


@pytest.fixture
def shared():
    folder = pathlib.Path(os.environ.get("NUNATAK_SHARED_DATA", "/nonexistent"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no data in {folder} (CMake: NUNATAK_SHARED_DATA)")
    return folder


def variables(path):
    """{name: all values}, as they are stored or unpacked, none masked."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        return {name: data[name][:] for name in data.variables}


def write_arrays(path, **arrays):
    """A file of arrays on (y, x), without coordinates."""
    with netCDF4.Dataset(path, "w") as data:
        for name, n in zip("yx", next(iter(arrays.values())).shape):
            data.createDimension(name, n)
        for name, values in arrays.items():
            data.createVariable(name, values.dtype, ("y", "x"))[:] = values


def write_maps(path, x, y, maps, change=None, **keywords):
    """A file of maps {name: (values on (y, x), units)}; `change(dataset)` spoils it before it is
    closed."""
    with netCDF4.Dataset(path, "w", **keywords) as data:
        for name, axis in (("y", y), ("x", x)):
            data.createDimension(name, len(axis))
        for name, (values, units) in {"y": (y, "m"), "x": (x, "m"), **maps}.items():
            values = np.asarray(values)
            v = data.createVariable(name, values.dtype, (name,) if values.ndim == 1 else ("y", "x"))
            v[:] = values
            if units:
                v.units = units
        if change:
            change(data)
    return path


def write_island(path, change=None, points=21, file_format="NETCDF3_CLASSIC"):
    """A small dome with a shelf around it, as a user might have it."""
    x = np.linspace(-200e3, 200e3, points)
    r = np.hypot(*np.meshgrid(x, x)) / 200e3
    maps = {"thk": (np.where(r < 0.8, 1500 * (1 - 0.5 * r), 0.0), "m"),
            "topg": (500 - 1500 * r, "m")}
    return write_maps(path, x, x, maps, change, format=file_format)


@pytest.fixture
def island(tmp_path):
    def make(change=None, name="island.nc", **keywords):
        return write_island(tmp_path / name, change, **keywords)
    return make
