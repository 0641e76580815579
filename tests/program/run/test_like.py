"""-like: PISM's methods give the results of the default with the same drag, at PISM's numbers of
messages; each of its options can be replaced."""
import json
import os
import pathlib
import sys

import numpy as np
import pytest
from conftest import assert_same_bits, refused, variables

MARINE = ("-init", "marine", "-grid_dx", "48km", "-grid_Mz", "5", "-run_steps", "3")


@pytest.fixture
def run(nunatak, tmp_path):
    def call(name, *options, ranks=1, **keywords):
        nunatak(*MARINE, *options, "-o", f"{name}.nc", "-report", f"{name}.json", ranks=ranks,
                status=0, **keywords)
        return json.loads((tmp_path / f"{name}.json").read_text())
    return call


@pytest.mark.parametrize("ranks", [1, 3])
def test_all_but_the_ssa_is_the_same_bits(run, tmp_path, ranks):
    default = run("default", ranks=ranks)
    for like in ("pism", "pism2026"):
        report = run("own", "-like", like, "-ssa_solver", "own", "-till_subgrid", "yes",
                     ranks=ranks)
        assert_same_bits(tmp_path / "default.nc", tmp_path / "own.nc")
        assert (report["ocean"]["updates_with_kept_geometry"] == 0 and
                report["ocean"]["updates"] == default["ocean"]["updates"])
        assert (report["messages"]["halo"]["exchanges_per_rank"] > 1.5 *
                default["messages"]["halo"]["exchanges_per_rank"])
        assert report["output"]["format"] == "netcdf4"


def test_the_ssa_is_the_same_up_to_its_tolerance(run, tmp_path):
    """Bits of masks and distances; velocities as near as residuals of 1e-9."""
    run("default", "-ssa_tolerance", "1e-9")
    for ranks in (1, 3):
        report = run("pism", "-like", "pism", "-till_subgrid", "yes", "-ssa_snes_rtol", "1e-10",
                     ranks=ranks)
        assert ("Newton, until |residual| <= 1e-10 |first residual|; gmres until 1e-05; "
                "PETSc's bjacobi" in report["ssa"]["solver"])
        one, other = variables(tmp_path / "default.nc"), variables(tmp_path / "pism.nc")
        for name, values in one.items():
            assert np.abs(values - other[name]).max() <= (1e-6 * np.abs(values).max()
                                                          if values.dtype.kind == "f" else 0), name


def test_collectives_are_those_of_pism(run):
    """Of an update of PICO: 10 gathers of five labellings, 48 reductions, and those of the
    distances, two fields one after the other."""
    for like in ("pism", "pism2026"):
        ocean = run("pism", "-like", like, "-grid_dx", "32km", "-run_steps", "1", ranks=3)["ocean"]
        assert ocean["collectives"] == 58 + ocean["distance_rounds"]
    assert ocean["collectives"] == 62  # as counted in PISM 2.3.2 with bfs
    kept = run("kept", "-like", "pism", "-pico_skip_unchanged", "yes", "-run_steps", "1", "-dt_max",
               "0.0001", ranks=3)["ocean"]
    assert kept["updates_with_kept_geometry"] == 1 and kept["collectives"] == 8 + 28


def test_counts_of_a_step_are_those_of_pism(run, tmp_path):
    """On four ranks, part by part, those of counts.json, which another grid has, too: bytes go with
    the subdomain boundary, and the SSA with its iterations."""
    library, source = (os.environ.get(name) for name in ("NUNATAK_COUNT_LIBRARY", "NUNATAK_SOURCE"))
    if not library:
        pytest.skip("this build has no libnunatak_count.so")
    sys.path.insert(0, f"{source}/perf")
    import compare_counts  # noqa: PLC0415
    stored = json.loads(
        (pathlib.Path(source) / "tests" / "program" / "pism" / "counts.json").read_text())
    found = []
    for steps in (1, 3):
        report = run("counted", "-like", "pism2026", "-run_steps", steps, ranks=4, environment={
            "LD_PRELOAD": library, "NUNATAK_COUNTS": str(tmp_path / "c.csv")})
        found.append((compare_counts.counts_of(tmp_path / "c.csv", "nunatak", 4),
                      report["ssa"]["steps"], report["ssa"]["linear_iterations"]))
    (few, *first), (many, *last) = found
    # a reduction more for each use of the preconditioner
    if tuple(int(n) for n in report["versions"]["PETSc"].split(".")[:2]) >= (3, 22):
        stored["parts"]["SSA, linear solves"]["reductions"] += (stored["linear"] +
                                                                stored["nonlinear"])
    narrower = sum(report["grid"][axis] for axis in ("Mx", "My")) / sum(stored["grid"])
    for part, parent in stored["parts"].items():
        as_often = {"SSA": (last[0] - first[0]) / stored["nonlinear"],
                    "SSA, linear solves": (last[1] - first[1]) / stored["linear"]}.get(part, 2)
        levels = (report["grid"]["Mz"] / stored["levels"] if part in ("SIA, velocity", "energy")
                  else 1)
        for column, size in (("messages", 1), ("reductions", 1), ("kB", narrower * levels)):
            ratio = (many[part][column] - few[part][column]) / (as_often * size * parent[column])
            assert 0.85 <= ratio <= 1.15, (part, column, ratio)


def test_every_option_can_be_replaced(run, tmp_path):
    """On the command line, in a file, in PETSC_OPTIONS; the report says which options are those of
    -like."""
    whole = run("whole", "-like", "pism")["set_by_like"]
    assert whole == {"halo": "pism", "ssa_solver": "pism", "till_subgrid": "no",
                     "pico_distance": "sweep", "pico_batch": "no", "pico_skip_unchanged": "no",
                     "io_format": "netcdf4", "io_transport": "sync"}
    (tmp_path / "mine.yaml").write_text("pico: {batch: yes, skip_unchanged: yes}\nlike: pism2026\n")
    report = run("mine", "-options_file", "mine.yaml", "-io_format", "direct", "-ssa_pc_type",
                 "asm", ranks=2, environment={"PETSC_OPTIONS": "-halo packed"})
    assert report["set_by_like"] == {"ssa_solver": "pism", "till_subgrid": "no",
                                     "pico_distance": "bfs", "io_transport": "sync"}
    options = report["options"]
    assert (options["halo"], options["io_format"], options["pico_batch"],
            options["like"]) == ("packed", "direct", True, "pism2026")
    assert "gmres until 1e-05; PETSc's asm" in report["ssa"]["solver"]
    assert run("none")["set_by_like"] == {}


def test_help_and_errors(nunatak):
    told = " ".join(nunatak("-help", status=0).out.split())
    assert ("-halo pism, -ssa_solver pism, -till_subgrid no, -pico_distance sweep, "
            "-pico_batch no" in told and "none|pism|pism2026" in told)
    refused(nunatak("-like", "cism"),
            "option -like: expected one of none|pism|pism2026, found 'cism'")
