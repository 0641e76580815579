"""Runs under tests/kernels/as_if_gpu.cpp: no host code of the program touches an array between a
loop and a fence, so that nothing is read before it is there where loops run on a GPU. Wherever a
run reads or writes: files, ghosts, PETSc's vectors, PICO's geometry."""
import os

import pytest

LIBRARY = os.environ.get("NUNATAK_AS_IF_GPU", "")
MARINE = ("-init", "marine", "-grid_dx", "64km", "-grid_Mz", "9", "-run_steps", "2")
PETSC = ("-ssa_multigrid_smoothing", "1", "-ssa_tolerance", "1e-3")
RUNS = {
    "own solver": (1, *MARINE),
    "series": (3, *MARINE, "-spatial_file", "s.nc", "-spatial_every", "0.01", "-timeseries_file",
               "t.nc", "-snapshot_file", "p.nc", "-snapshot_every", "0.01", "-grid_cut", "ice"),
    "server": (2, *MARINE, "-spatial_file", "s.nc", "-spatial_every", "0.01", "-io_transport",
               "async:1"),
    "loops": (3, *MARINE, "-halo", "loops"),
    "scatters": (3, *MARINE, "-halo", "dmda", "-pico_distance", "bfs"),
    "double": (2, *MARINE, "-ssa_multigrid_precision", "double", "-pico_distance", "sweep"),
    "petsc": (2, *MARINE, *PETSC, "-ssa_solver", "petsc"),
    "shelf": (1, "-init", "shelf", "-run_steps", "1"),
    "dome": (2, "-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-run_steps", "2"),
}


@pytest.fixture
def as_if_gpu(nunatak):
    if not LIBRARY:
        pytest.skip("no library as_if_gpu in this build")

    def call(ranks, *options, status=0, **environment):
        done = nunatak(*options, ranks=ranks, environment={
            "LD_PRELOAD": LIBRARY, "KOKKOS_TOOLS_LIBS": LIBRARY, **environment})
        assert ("as_if_gpu" in done.text) == (status == 86) and done.status == status, done.text
    return call


@pytest.mark.parametrize("name", RUNS)
def test_no_fence_is_missing(as_if_gpu, name):
    as_if_gpu(*RUNS[name], "-o", "r.nc")


def test_nor_in_a_restart(as_if_gpu, island):
    """From a file of a user, with another grid and its own climate, then from what that run has
    written."""
    as_if_gpu(1, "-i", island(), "-grid_Mx", "31", "-grid_Mz", "5", "-run_steps", "1", "-o", "r.nc")
    as_if_gpu(2, "-i", "r.nc", "-run_steps", "1", "-o", "again.nc")


def test_nor_where_a_solve_fails(as_if_gpu):
    for solver in ("own", "petsc"):
        as_if_gpu(1, *MARINE, "-ssa_solver", solver, "-ssa_max_steps", "1", "-ssa_failed_file",
                  "failed.nc", status=2)


def test_an_access_of_the_host_is_seen(as_if_gpu):
    """The library is loaded: this program was not built for memory of the device alone."""
    as_if_gpu(1, *MARINE, status=86, AS_IF_GPU_DEVICE_MEMORY="1")
