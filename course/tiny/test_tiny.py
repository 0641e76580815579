"""reference.txt is nunatak's field, and tiny.cpp (both halos), tiny.py and tiny.f90 reproduce it to
round-off. Broken ones are found."""

import importlib.util
import os
import shlex
import subprocess
import sys

import netCDF4
import pytest

import check

sys.path.insert(0, str(check.HERE.parents[1] / "scripts/course"))
from holes import lab_of, skeletons  # noqa: E402


def test_the_reference_is_the_field_of_nunatak(tmp_path):
    options = ("-init dome -stress sia -energy off -ocean none -grid_dx 100km -run_years 1000 "
               "-dt_max 1000 -o n.nc")
    subprocess.run([*shlex.split(os.environ["NUNATAK_MPIEXEC"]), "2", os.environ["NUNATAK"],
                    *options.split()], cwd=tmp_path, check=True)
    with netCDF4.Dataset(tmp_path / "n.nc") as file:
        thk = file["thk"][0]
    assert check.compare({(j, i): float(thk[j, i]) for j in range(check.M) for i in range(check.M)},
                         check.reference()) is None
    assert len(check.reference()) > 200


@pytest.mark.parametrize("name", ["tiny.cpp", "tiny-dmda", "tiny.py", "tiny.f90"])
def test_it_reproduces_the_field(name):
    if name == "tiny.py" and importlib.util.find_spec("mpi4py") is None:
        pytest.skip("expected mpi4py (scripts/requirements.txt)")
    assert check.failures(name, check.HERE / name.replace("-dmda", ".cpp")) == []


@pytest.mark.parametrize("write", ["serial", "direct"])
def test_who_writes_does_not_matter(write, monkeypatch):
    monkeypatch.setitem(check.OPTIONS, "tiny.cpp",
                        ("-check", "-dx {dx} -years {years} -o {file} -write " + write))
    assert check.failures("tiny.cpp", check.HERE / "tiny.cpp") == []


@pytest.mark.parametrize("name", ["tiny.cpp", "tiny.f90"])
def test_a_skeleton_says_what_is_missing(name, tmp_path):
    (tmp_path / name).write_text(skeletons(lab_of(11))[f"course/tiny/{name}"])
    assert "lab 11: not written yet" in str(check.failures(name, tmp_path / name))
