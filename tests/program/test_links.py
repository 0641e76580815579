"""The tools need no PETSc: what the loader would load for them (ldd) has none."""
import os
import pathlib
import subprocess

import pytest

FOLDER = pathlib.Path(os.environ["NUNATAK"]).parent


def libraries(program):
    run = subprocess.run(["ldd", FOLDER / program], capture_output=True, text=True, check=True)
    names = [line.split()[0] for line in run.stdout.splitlines() if line.strip()]
    assert any(name.startswith("libstdc++") for name in names), run.stdout
    return names


@pytest.mark.parametrize("program", ["nunatak-distance", "nunatak-labels", "nunatak-step", "nunatak-check", "nunatak-io", "nunatak-join",
                                     "nunatak-verify"])
def test_tools_load_no_petsc(program):
    assert not [name for name in libraries(program) if "petsc" in name.lower()]


def test_the_model_loads_petsc():
    """The test above can fail."""
    if not (FOLDER / "nunatak").exists():
        pytest.skip("no model in this build")
    assert [name for name in libraries("nunatak") if "petsc" in name.lower()]
