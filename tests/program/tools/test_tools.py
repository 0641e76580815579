"""nunatak-distance and nunatak-labels as a user meets them: equal answers and equal counts on
processes and virtual ranks."""
import json

import netCDF4
import numpy as np
import pytest
from conftest import variables, write_arrays

MASKS = ("percolation:0.65:3", "serpentine", "spiral", "comb", "checkerboard", "shelves:2:0.8",
         "empty", "full")
COUNTS = ("messages", "bytes", "exchanges", "collectives", "lagged", "work")


def runs(path):
    return json.loads(path.read_text())["runs"]


@pytest.mark.parametrize("mask", MASKS)
def test_every_mask_on_processes_and_virtual_ranks(tool, tmp_path, mask):
    grid = ("-mask", mask, "-grid_Mx", 41, "-grid_My", 37, "-compare")
    ranks = 1 + MASKS.index(mask) % 3
    for name, first in (("distance", "d.nc"), ("labels", "l.nc")):
        run = tool(name, *grid, "-virtual_ranks", "1,2,3,8x8", "-o", first)
        assert run.status == 0 and "all equal" in run.out, run.text
        if name == "distance" or ":" in mask:
            run = tool(name, *grid, "-expect", first, ranks=ranks)
            assert run.status == 0 and "all equal" in run.out, run.text


@pytest.mark.parametrize("name", ["distance", "labels"])
def test_virtual_ranks_send_what_processes_send(tool, tmp_path, name):
    grid = ("-mask", "shelves:1", "-grid_Mx", 60, "-report")
    assert tool(name, *grid, "virtual.json", "-virtual_ranks", "2,3,4").status == 0
    virtual = runs(tmp_path / "virtual.json")
    for ranks in (2, 3, 4):
        assert tool(name, *grid, "real.json", ranks=ranks).status == 0
        real = runs(tmp_path / "real.json")
        expected = [r for r in virtual if r["ranks"] == ranks]
        assert len(real) == len(expected) > 0
        for a, b in zip(real, expected):
            assert not a["virtual"] and b["virtual"] and a["loggp_s"] is None and b["loggp_s"] > 0.0
            for key in COUNTS + (("rounds", "solver") if name == "distance" else ()):
                assert a[key] == b[key], (key, a, b)
        assert real[0]["messages"] > 0


@pytest.mark.parametrize("name, mask", [("distance", "shelves"), ("labels", "percolation:0.65")])
def test_measured_work_is_that_of_all_loops(tool, tmp_path, name, mask):
    """On one virtual rank, which sends nothing: most of the time of this process, in one of three
    trials: other programs may take the core between two loops."""
    def strange():
        tool(name, "-mask", mask, "-grid_Mx", 1500, "-virtual_ranks", 1, "-work", "measured",
             "-repeat", 9, "-report", "r.json", status=0)
        return [run for run in runs(tmp_path / "r.json")
                if not 0.5 * run["wall_min_s"] < run["loggp_s"] < 1.05 * run["wall_max_s"]]
    found = strange() and strange() and strange()
    assert not found, found


def test_cell_types_have_the_distances_of_pico(tool, tmp_path):
    """By default: to grounded ice and to the ocean, as the rules of seeds name them."""
    grid = ("-mask", "shelves:4", "-grid_Mx", 50, "-o")
    found = []
    for rule in ((), ("-seeds", "near:0+2"), ("-seeds", "beside:4")):
        tool("distance", *grid, "d.nc", *rule, status=0)
        found += [values for name, values in variables(tmp_path / "d.nc").items()
                  if name.startswith("distance")]
    both, near, beside = found[:2], found[2], found[3]
    np.testing.assert_array_equal(both, (near, beside))
    assert near.max() > 3 and (near != beside).any()


@pytest.mark.parametrize("seeds, cells", [
    ("left", [(0, 0), (1, 0), (2, 0)]), ("corner", [(0, 0)]), ("at:2:3", [(2, 3)]),
    ("boundary", [(j, i) for j in range(3) for i in range(4) if (j, i) not in ((1, 1), (1, 2))]),
    ("beside:0", [(1, 1), (0, 2)]),
    ("near:0+7", [(1, 1), (0, 2), (1, 0), (1, 2), (1, 3), (0, 3), (2, 2), (2, 3)])])
def test_seeds(tool, tmp_path, seeds, cells):
    """4 x 3 cells of value 1; some of value 0 and 7 for those rules that ask for them."""
    values = np.ones((3, 4), "i4")
    if ":0" in seeds:
        values[0, 1] = 0
        values[1, 3] = 7 if "7" in seeds else 1
        cells = {
            "beside:0": [(0, 0), (0, 2), (1, 1)],
            "near:0+7": [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (2, 2), (2, 3)]}[seeds]
    write_arrays(tmp_path / "m.nc", v=values)
    tool("distance", "-i", "m.nc", "-variable", "v", "-seeds", seeds, "-virtual_ranks", "1,2x3",
         "-compare", "-o", "d.nc", status=0)
    with netCDF4.Dataset(tmp_path / "d.nc") as data:
        assert sorted(map(tuple, np.argwhere(data["distance"][:] == 1))) == sorted(cells)
        np.testing.assert_array_equal(data["distance"][:] == -1, values != 1)


def test_straight_distances_are_compared_with_straight_ones(tool, tmp_path):
    """fmm gives other values than steps: not a difference. The default does not run it."""
    grid = ("-mask", "full", "-grid_Mx", 21, "-seeds", "at:10:10", "-virtual_ranks", "1,3x3",
            "-report", "r.json")
    run = tool("distance", *grid, "-solvers", "bfs,fmm", "-compare")
    assert run.status == 0 and "all equal (comparisons: 2)" in run.out, run.text
    assert tool("distance", *grid).status == 0
    solvers = [r["solver"] for r in runs(tmp_path / "r.json")]
    assert "fmm" not in solvers and solvers[:2] == ["sweep", "bfs"]


def test_random_and_given_seeds(tool, tmp_path):
    random = ("-mask", "percolation:0.5", "-grid_Mx", 40, "-seeds")
    assert tool("distance", *random, "random:7:20", "-virtual_ranks", "1,5x5", "-compare", "-o",
                "a.nc").status == 0
    found = variables(tmp_path / "a.nc")["distance"]
    assert 15 <= np.count_nonzero(found == 1) <= 20
    write_arrays(tmp_path / "start.nc", start=np.where(found > 1, 0, found))
    run = tool("distance", "-i", "start.nc", "-variable", "start", "-seeds", "given", "-expect",
               "a.nc", ranks=2)
    assert run.status == 0 and "all equal" in run.out, run.text
    assert tool("distance", *random, "random:8:20", "-expect", "a.nc").status == 1


def test_the_machine_counts(tool, tmp_path):
    """The time of a modelled machine is made of L, o, g, G, in any unit, and of work."""
    grid = ("-mask", "full", "-grid_Mx", 32, "-virtual_ranks", "2x2", "-solvers", "sweep",
            "-report", "r.json")
    zero = [word for name in "LogG" for word in (f"-loggp_{name}", "0")]
    for more, latency in ((), 0.0), (("-loggp_L", "1.5us"), 1.5e-6):
        assert tool("distance", *grid, *zero, *more).status == 0
        run, = runs(tmp_path / "r.json")
        assert run["loggp_s"] - run["loggp_work_s"] == pytest.approx(
            latency * (run["rounds"] + 2 * run["collectives"]), abs=1e-15)
        assert run["loggp_work_s"] > 0.0


@pytest.mark.parametrize("name, variable, ranks",
                         [("distance", "distance", 3), ("labels", "label", None)])
def test_a_planted_difference_is_found(tool, tmp_path, name, variable, ranks):
    grid = ("-mask", "spiral", "-grid_Mx", 30, "-grid_My", 20)
    assert tool(name, *grid, "-o", "good.nc").status == 0
    with netCDF4.Dataset(tmp_path / "good.nc", "a") as data:
        true = int(data[variable][12, 4])
        data[variable][12, 4] = 777
        data[variable][15, 2] = 778
    run = tool(name, *grid, "-expect", "good.nc", "-compare", "-report", "r.json", ranks=ranks)
    assert run.status == 1, run.text
    assert "error:" not in run.text and run.err.startswith(f"nunatak-{name}: "), run.text
    assert (f"differ in {variable}, first in row 12, column 4: expected 777, "
            f"found {true}" in run.err), run.text
    assert "row 12" in json.loads((tmp_path / "r.json").read_text())["difference"]


@pytest.mark.parametrize("name, arguments, message", [
    ("distance", ("-mask", "full", "-sovlers", "bfs"),
     "unknown option -sovlers; did you mean -solvers?"),
    ("distance", ("-mask", "full", "-solvers", "sweep,dfs"),
     "distance solver 'dfs': expected one of sweep, bfs"),
    ("distance", ("-mask", "fool"), "option -mask: expected percolation"),
    ("distance", ("-mask", "percolation:1.5"), "expected a number from 0 to 1, found '1.5'"),
    ("distance", ("-mask", "shelves:x"), "expected a whole number"),
    ("distance", ("-mask", "full", "-seeds", "top"), "option -seeds: expected near:VALUES"),
    ("distance", ("-mask", "full", "-seeds", "at:3:201"),
     "expected a whole number from 0 to 200, found '201'"),
    ("distance", ("-i", "nowhere.nc"), "nowhere.nc"),
    ("labels", (), "options -i and -mask: expected one of them, found none"),
    ("labels", ("-i", "m.nc", "-mask", "full"), "found both"),
    ("labels", ("-mask", "full", "-domain", "one"), "option -domain: expected a whole number"),
    ("labels", ("-mask", "full", "-grid_Mx", 4, "-virtual_ranks", "2x2,5x1"),
     "4 x 4 cells cannot be cut into 5 x 1"),
    ("labels", ("-mask", "full", "-virtual_ranks", "2x"), "expected a whole number"),
    ("labels", ("-mask", "full", "-report", "nowhere/r.json"),
     "option -report: cannot write 'nowhere/r.json'"),
    ("labels", ("-mask", "full", "-refine", "2147483647"), "option -refine: expected at most"),
    ("distance", ("-mask", "full", "-expect", "m.nc"),
     "file 'm.nc', variable 'distance': expected such a variable, found topg"),
    ("distance", ("-mask", "full", "-solvers", "bfs", "-compare"),
     "expected at least two results")])
def test_errors(tool, tmp_path, name, arguments, message):
    write_arrays(tmp_path / "m.nc", topg=np.zeros((3, 4)))
    run = tool(name, *arguments, ranks=2 if "nowhere" in message else None)
    assert run.status == 2, run.text
    assert run.err.count("error:") == 1 and message in run.err, run.text


def test_virtual_ranks_of_one_process(tool):
    run = tool("labels", "-mask", "full", "-grid_Mx", 4, "-virtual_ranks", "2x2", ranks=2)
    assert (run.status == 2 and
            "option -virtual_ranks: expected one process, found 2" in run.err), run.text


def test_antarctica(tool, shared, tmp_path):
    """Cell types that follow from thickness and bed, refined."""
    data = shared / "data" / "antarctica_32km.nc"
    tool("distance", "-i", data, "-refine", 2, "-virtual_ranks", "1,8x8", "-compare", "-report",
         "r.json", status=0)
    assert all(r["domain_cells"] > 1000 for r in runs(tmp_path / "r.json"))
    assert tool("labels", "-i", data, "-domain", "0+2", "-compare", ranks=2).status == 0
