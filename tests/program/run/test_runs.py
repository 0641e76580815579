"""Runs of the program: the same answer on any number of ranks, restarts, the report."""
import json
import resource

import numpy as np
import pytest
from conftest import assert_same_bits, refused, variables

MARINE = ("-init", "marine", "-grid_dx", "48km", "-grid_Mz", "11")


def test_all_ghost_exchanges_give_the_same_bits(nunatak, tmp_path):
    """Ten SIA and PICO steps, -halo packed, dmda and loops: every variable, bit for bit; dmda has
    more messages, and the same bytes."""
    for ranks in (1, 3, 6):
        for halo in ("packed", "dmda", "loops"):
            nunatak(*MARINE, "-stress", "sia", "-run_steps", "10", "-halo", halo, "-o",
                    f"{halo}.nc", "-report", f"{halo}.json", ranks=ranks, status=0)
        assert variables(tmp_path / "packed.nc")["pico_basal_melt_rate"].max() > 0
        for other in ("dmda", "loops"):
            assert_same_bits(tmp_path / "packed.nc", tmp_path / f"{other}.nc")
        counts = [json.loads((tmp_path / f"{halo}.json").read_text())["messages"]["halo"]
                  for halo in ("packed", "dmda", "loops")]
        assert all(counts[2][key] == counts[0][key]
                   for key in ("messages", "bytes", "exchanges_per_rank"))
        assert counts[0]["bytes"] == counts[1]["bytes"]
        assert counts[0]["exchanges_per_rank"] < counts[1]["exchanges_per_rank"]
        assert ranks == 1 or 0 < counts[0]["messages"] < counts[1]["messages"]


def test_options_of_a_dmda_are_heard(nunatak):
    text = nunatak("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-da_refine", "1",
                   "-grid_px", "4", "-dm_view", ranks=4, status=0).text
    assert "41 x 41 x 5 points" in text and "(4 x 1)" in text
    assert "DM Object" in text and "M 41 N 41 m 4 n 1" in text


@pytest.mark.parametrize("solver", [[], ["-grid_cut", "ice", "-pico_distance", "sweep"],
                                    ["-ssa_multigrid_precision", "double", "-halo", "dmda"]],
                         ids=lambda words: " ".join(words) or "default")
def test_ten_hybrid_steps_are_the_same_bits_on_any_number_of_ranks(nunatak, tmp_path, solver):
    """Everything that is written, the velocities of the SSA included."""
    for ranks in (1, 2, 3, 4, 6):
        nunatak(*MARINE, "-run_steps", "10", *solver, "-o", f"r{ranks}.nc", ranks=ranks, status=0)
    one = variables(tmp_path / "r1.nc")
    assert one["velsurf_mag"].max() > 100 and one["pico_basal_melt_rate"].max() > 0
    for ranks in (2, 3, 4, 6):
        assert_same_bits(tmp_path / "r1.nc", tmp_path / f"r{ranks}.nc")


def test_who_solves_the_ssa(nunatak, tmp_path):
    """Ours by default; PETSc's where one of its options is given; an unused option is an error."""
    run = (*MARINE, "-run_years", "0", "-ssa_view", "-o", "o.nc")
    assert "conjugate gradients until 0.1, with multigrid" in nunatak(*run, status=0).out
    for words in (["-ssa_solver", "petsc"], ["-ssa_ksp_rtol", "0.05"]):
        assert "cg until 0.05; multigrid" in nunatak(*run, *words, status=0).out
    for words, told in ((["-ssa_solver", "own", "-ssa_pc_type", "gamg"], "-ssa_pc_type"),
                        (["-grid_cut", "ice", "-da_refine", "1"], "-grid_cut ice and -da_refine")):
        run_ = nunatak(*run, *words, ranks=2)
        assert run_.status != 0 and told in run_.text, run_.text


def test_processor_time_of_the_parts(nunatak, tmp_path):
    """POP's metrics beside the processor time of the whole process; PETSc's waiting counts as ours;
    CPMIP's figures of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    nunatak("-init", "marine", "-grid_dx", "16km", "-run_years", "1", "-o", "none", "-report",
            "one.json", status=0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads((tmp_path / "one.json").read_text())
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    parts = {name: timer for name, timer in report["timers"].items() if timer["depth"] == 0}
    assert 0.5 * whole < sum(timer["pop"]["useful_seconds"]["mean"]
                             for timer in parts.values()) <= whole
    pop = report["pop"]
    inside = [timer["pop"]["useful_seconds"]["mean"]
              for name, timer in parts.items() if name != "init" and not name.startswith("output")]
    assert (pop["useful_seconds"]["mean"] == pytest.approx(sum(inside)) and
            pop["load_balance"] == 1.0)
    assert report["cpmip"]["SYPD"] == pytest.approx(86400 / report["wall_seconds"])
    assert report["cpmip"]["memory_bloat"] == pytest.approx(
        report["peak_resident_MiB"] / report["state_MiB"]) and report["cpmip"]["memory_bloat"] > 1
    assert (report["cpmip"]["CHSY"] == pytest.approx(report["wall_seconds"] / 3600) and
            report["cpmip"]["SYPD_loop"] > report["cpmip"]["SYPD"])

    for solver in ("own", "petsc"):
        run = nunatak(*MARINE, "-run_years", "0.1", "-o", "none", "-ssa_solver", solver, "-report",
                      "two.json", ranks=2, status=0)
        ssa = json.loads((tmp_path / "two.json").read_text())["timers"]["stress balance: SSA"]
        assert (0 < ssa["pop"]["in_mpi_seconds"]["min"] <= ssa["pop"]["in_mpi_seconds"]["max"] <
                ssa["max"])
        assert ssa["pop"]["parallel_efficiency"] == pytest.approx(
            ssa["pop"]["load_balance"] * ssa["pop"]["communication_efficiency"])
        assert ssa["pop"]["parallel_efficiency"] < 1
        assert "simulated years per day" in run.out


def test_output_budget(nunatak, tmp_path):
    """A line warns if output takes more than its share of the run; the report has the share,
    waiting between the phases included."""
    run = (*MARINE, "-stress", "sia", "-o", "out.nc", "-report", "out.json")
    tight = nunatak(*run, "-io_budget", "0.01%", status=0)
    assert "warning: output took" in tight.out and "budget -io_budget 0.01 %" in tight.out
    whole = json.loads((tmp_path / "out.json").read_text())
    report, seen = whole["output"], sum(
        timer["mean"] for name, timer in whole["timers"].items() if name.startswith("output: "))
    assert (report["seconds"] == pytest.approx(seen) and
            seen > sum(phase["mean"] for phase in report["phases"].values()))
    assert 100 * seen / whole["wall_seconds"] <= report["percent_of_run"]
    assert 0.01 < report["percent_of_run"] < 100 and report["budget_percent"] == 0.01
    assert "warning: output" not in nunatak(*run, "-io_budget", "0", status=0).out


def test_a_run_with_velocities_at_its_edge_cannot_be_continued(nunatak):
    nunatak("-init", "shelf", "-grid_Mx", "31", "-o", "s.nc", status=0)
    refused(nunatak("-i", "s.nc"), "s.nc", "a run of -init shelf cannot be continued")


@pytest.mark.parametrize("stress", ["sia", "ssa+sia"])
def test_restart_continues_bit_for_bit(nunatak, tmp_path, stress):
    """Six steps at once, and three and three with another number of ranks and another format."""
    run = (*MARINE[2:], "-stress", stress)
    nunatak("-init", "marine", *run, "-run_steps", "6", "-o", "six.nc", ranks=2, status=0)
    nunatak("-init", "marine", *run, "-run_steps", "3", "-o", "three.nc", ranks=3, status=0)
    nunatak("-i", "three.nc", "-stress", stress, "-run_steps", "3", "-io_format", "serial", "-o",
            "rest.nc", ranks=4, status=0)
    assert_same_bits(tmp_path / "six.nc", tmp_path / "rest.nc")


def test_restart_keeps_the_physics(nunatak, tmp_path):
    """-i continues a run whose stress balance and rheology were chosen by -init, too."""
    dome = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5")
    for arguments in ((*dome, "-run_steps", "4", "-o", "four.nc"),
                      (*dome, "-run_steps", "2", "-o", "two.nc"),
                      ("-i", "two.nc", "-run_steps", "2", "-o", "two_and_two.nc")):
        nunatak(*arguments, status=0)
    assert_same_bits(tmp_path / "four.nc", tmp_path / "two_and_two.nc")


def test_zero_years_is_one_step_and_changes_nothing(nunatak, tmp_path, island):
    path = island()
    nunatak("-i", "island.nc", "-run_years", "0", "-o", "out.nc", "-report", "out.json", ranks=2,
            status=0)
    np.testing.assert_array_equal(variables(path)["thk"], variables(tmp_path / "out.nc")["thk"][0])
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["steps"] == 1
    assert report["ssa"]["solves"] == 1
    assert report["timers"]["mass transport"]["calls"] == 1


def test_spatial_and_snapshots(nunatak, tmp_path):
    nunatak(*MARINE, "-stress", "sia", "-run_years", "4", "-spatial_file", "s.nc", "-spatial_vars",
            "thk,mask,temp", "-spatial_every", "2",
            "-snapshot_file", "snap.nc", "-snapshot_every", "2", "-o", "end.nc", ranks=2, status=0)
    spatial = variables(tmp_path / "s.nc")
    np.testing.assert_allclose(spatial["time"], [0, 730, 1460])
    assert set(spatial) >= {"thk", "mask", "temp"} and "usurf" not in spatial
    names = sorted(p.name for p in tmp_path.glob("snap_*.nc"))
    assert names == ["snap_00002.000.nc", "snap_00004.000.nc"]
    np.testing.assert_array_equal(variables(tmp_path / names[1])["thk"],
                                  variables(tmp_path / "end.nc")["thk"])
    manifest = [json.loads(line)["name"]
                for line in (tmp_path / "manifest.jsonl").read_text().splitlines()]
    assert set(manifest) == {"s.nc", "end.nc", *names}


def test_regridding_takes_nearest_basins_and_keeps_the_margin(nunatak, tmp_path, island):
    def add_basins(data):
        v = data.createVariable("basins", "i4", ("y", "x"))
        v[:] = np.where(np.arange(21)[None, :] < 11, 3, 7) * np.ones((21, 1), dtype=int)
    island(add_basins)
    nunatak("-i", "island.nc", "-grid_dx", "8km", "-stress", "sia", "-o", "fine.nc", ranks=3,
            status=0)
    fine = variables(tmp_path / "fine.nc")
    assert fine["thk"].shape == (1, 51, 51)
    assert set(np.unique(fine["basins"])) == {3, 7}
    ice = fine["thk"][fine["thk"] > 0]
    # the thinnest ice of the source is 900 m: margins are not averaged with ice-free cells
    assert ice.min() > 850


def test_flipped_axes_and_kilometres(nunatak, tmp_path, island):
    def flip(data):
        for name in ("thk", "topg"):
            data[name][:] = data[name][::-1, :]
        data["y"][:] = data["y"][::-1] / 1e3
        data["y"].units = "km"
        data["thk"][5, 7] = 123.0
    island(flip, name="flipped.nc")
    nunatak("-i", "flipped.nc", "-stress", "sia", "-o", "out.nc", ranks=2, status=0)
    out = variables(tmp_path / "out.nc")
    assert np.all(np.diff(out["y"]) > 0)
    assert out["thk"][0, 20 - 5, 7] == 123.0


def test_report_names_what_a_reader_needs(nunatak, tmp_path):
    run = nunatak(*MARINE, "-run_steps", "1", "-o", "out.nc", "-report", "r.json", ranks=2,
                  status=0)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["ranks"]["size"] == 2
    assert set(report["versions"]) >= {"nunatak", "MPI", "PETSc", "Kokkos", "NetCDF-C", "PnetCDF"}
    assert report["ssa"]["linear_iterations"] > 0
    assert report["ocean"]["collectives"] <= 10
    assert report["output"]["written_bytes"] >= (tmp_path / "out.nc").stat().st_size * 0.9
    for timer in report["timers"].values():
        assert 0 <= timer["min"] <= timer["mean"] <= timer["max"]
    assert "stress balance: SSA" in run.out


def test_no_ice_at_all(nunatak, tmp_path, island):
    def melt(data):
        data["thk"][:] = 0.0
    island(melt)
    for solver in ("own", "pism"):  # with PETSc's an option that it would read, if there were ice
        nunatak("-i", "island.nc", "-run_years", "1", "-climatic_mass_balance", "0", "-ssa_solver",
                solver, "-o", f"{solver}.nc", ranks=2, status=0)
        assert variables(tmp_path / f"{solver}.nc")["thk"].max() == 0.0
    run = nunatak("-i", "island.nc", "-run_steps", "1", "-ssa_typo", "1", "-o", "x.nc", ranks=2)
    assert run.status == 2 and "unknown option -ssa_typo" in run.err, run.text


def test_without_sliding_the_velocity_of_a_file_does_not_slide(nunatak, tmp_path):
    nunatak(*MARINE, "-run_steps", "1", "-o", "a.nc", status=0)
    nunatak("-i", "a.nc", "-stress", "sia", "-run_steps", "1", "-o", "b.nc", ranks=2, status=0)
    assert (abs(variables(tmp_path / "a.nc")["u_ssa"]).max() > 0 and
            abs(variables(tmp_path / "b.nc")["u_ssa"]).max() == 0)


@pytest.mark.parametrize("ranks", [1, 3])
def test_kept_geometries_give_the_same_file(nunatak, tmp_path, ranks):
    """Whole updates, and geometries that are kept: every variable, bit for bit."""
    ocean = {}
    for skip in ("false", "true"):
        nunatak(*MARINE, "-stress", "sia", "-run_steps", "3", "-pico_skip_unchanged", skip, "-o",
                f"{skip}.nc", "-report", "r.json", ranks=ranks, status=0)
        ocean[skip] = json.loads((tmp_path / "r.json").read_text())["ocean"]
    assert_same_bits(tmp_path / "false.nc", tmp_path / "true.nc")
    assert ocean["false"]["updates"] == 4 and ocean["false"]["updates_with_kept_geometry"] == 0
    assert 0 < ocean["true"]["updates_with_kept_geometry"] < 3
    assert (ocean["true"]["shelf_cells_imbalance"] >= 1 and
            (ocean["true"]["domain_cells_imbalance"] > 1) == (ranks > 1))


@pytest.mark.parametrize(
    "units, factor", [("kg m-2 year-1", 910.0), ("m/year", 1.0), ("mm day-1", 1000.0 / 365.2422)])
def test_a_mass_balance_of_ice_in_any_unit_of_speed(nunatak, island, tmp_path, units, factor):
    """m/year once could not be converted to kg m-2 s-1; only what began with 'm ' was taken for
    metres of ice."""
    def change(data):
        v = data.createVariable("climatic_mass_balance", "f8", ("y", "x"))
        v[:] = 0.25 * factor
        v.units = units
    island(change)
    nunatak("-i", "island.nc", "-grid_Mz", "3", "-run_years", "0", "-stress", "sia", "-o", "out.nc",
            ranks=2, status=0)
    found = variables(tmp_path / "out.nc")["climatic_mass_balance"]
    np.testing.assert_allclose(found, 0.25 * 910.0 / 31556926.0, rtol=1e-6)
