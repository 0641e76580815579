"""What the tests of the program share: running nunatak on some ranks, and small input files.

Environment (set by CTest): NUNATAK (the program), NUNATAK_MPIEXEC (mpiexec and its flags), NUNATAK_SHARED_DATA.
"""
import os
import pathlib
import shlex
import subprocess

import netCDF4
import numpy as np
import pytest


class Run:
    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr
        self.text = completed.stdout + completed.stderr


def run_nunatak(*arguments, ranks=1, cwd=None, timeout=120, environment=None):
    """Run the program; a hang is a failure (subprocess.TimeoutExpired)."""
    env = {**os.environ, **(environment or {})}
    command = shlex.split(env["NUNATAK_MPIEXEC"]) + [str(ranks), env["NUNATAK"]] + [str(a) for a in arguments]
    return Run(subprocess.run(command, cwd=cwd, timeout=timeout, capture_output=True, text=True, env=env))


@pytest.fixture
def nunatak(tmp_path):
    """nunatak(*arguments, ranks=n): run in a fresh folder; returns status, out, err, text."""
    def call(*arguments, **keywords):
        keywords.setdefault("cwd", tmp_path)
        return run_nunatak(*arguments, **keywords)
    return call


@pytest.fixture
def shared():
    folder = pathlib.Path(os.environ.get("NUNATAK_SHARED_DATA", "/nonexistent"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no data in {folder} (CMake: NUNATAK_SHARED_DATA)")
    return folder


def write_island(path, change=None, points=21, file_format="NETCDF3_CLASSIC"):
    """A small dome with a shelf around it, as a user might have it; `change(dataset)` spoils it before it is closed."""
    x = np.linspace(-200e3, 200e3, points)
    xx, yy = np.meshgrid(x, x)
    r = np.hypot(xx, yy) / 200e3
    with netCDF4.Dataset(path, "w", format=file_format) as data:
        for name in ("y", "x"):
            data.createDimension(name, points)
            v = data.createVariable(name, "f8", (name,))
            v[:] = x
            v.units = "m"
        for name, values, units in (("thk", np.where(r < 0.8, 1500 * (1 - 0.5 * r), 0.0), "m"),
                                    ("topg", 500 - 1500 * r, "m")):
            v = data.createVariable(name, "f8", ("y", "x"))
            v[:] = values
            v.units = units
        if change:
            change(data)
    return path


@pytest.fixture
def island(tmp_path):
    def make(change=None, name="island.nc", **keywords):
        return write_island(tmp_path / name, change, **keywords)
    return make
