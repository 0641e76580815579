"""The SSA on the DMDA of the grid: PETSc's geometric multigrid gives the velocities of the default
solver, on any number of ranks."""
import json

import numpy as np
import pytest
from conftest import variables

RUN = ("-init", "marine", "-grid_Mx", "97", "-grid_My", "97", "-grid_Mz", "5", "-ocean", "none",
       "-ssa_tolerance", "1e-9")
MG = ("-ssa_pc_type", "mg", "-ssa_pc_mg_levels", "4")


@pytest.fixture
def solve(nunatak, tmp_path):
    def call(*options, ranks=1):
        nunatak(*RUN, *options, "-o", "r.nc", "-report", "r.json", ranks=ranks, status=0)
        found = variables(tmp_path / "r.nc")
        return (np.array([found["u_ssa"][0], found["v_ssa"][0]]),
                json.loads((tmp_path / "r.json").read_text())["ssa"])
    return call


def test_multigrid_of_petsc_gives_the_same_velocities(solve):
    expected, default = solve()
    assert np.abs(expected).max() > 1e-5  # m/s: the ice moves
    iterations = set()
    for ranks in (1, 2, 4):
        for options in (MG, ("-ssa_solver", "petsc"),
                        MG[:2] + ("-ssa_pc_mg_levels", "6", "-ssa_pc_mg_galerkin", "both")):
            found, report = solve(*options, ranks=ranks)
            assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max(), (ranks, options)
            iterations.add((options, report["linear_iterations"]))
    assert len(iterations) == 3, "the iterations depend on the number of ranks"
    assert all(0 < n <= 2 * default["linear_iterations"] for _, n in iterations)


@pytest.mark.parametrize("name", ["bjacobi", "asm", "gamg", "sor"])
def test_preconditioners_of_petsc_give_the_same_velocities(solve, name):
    expected, _ = solve()
    for ranks in (1, 3):
        found, _ = solve("-ssa_pc_type", name, ranks=ranks)
        assert np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max(), ranks


@pytest.mark.parametrize("options, message", [
    (("-ssa_pc_type", "mg", "-ssa_pc_mg_levels", "9"), "1 plus a multiple of 256, found 97"),
    (("-ssa_pc_type", "mg", "-ssa_pc_mg_levels", "many"),
     "option -ssa_pc_mg_levels: expected a whole number from 1 to 30, found 'many'"),
    (("-ssa_snes_grid_sequence", "1"), "-ssa_snes_grid_sequence"),])
def test_what_does_not_fit_is_refused(nunatak, options, message):
    done = nunatak(*RUN, *options, ranks=2)
    assert done.status != 0
    assert message in done.text, done.text
    assert done.text.count("nunatak: error") == 1
