"""PICO in the program: kept geometry and the count of collectives, on any number of ranks."""
import json

import netCDF4

RUN = ("-init", "marine", "-grid_dx", "48km", "-grid_Mz", "11", "-stress", "sia", "-run_steps", "3")


def bits(path):
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        return {name: data[name][:].tobytes() for name in data.variables}


def test_options_and_ranks_give_the_same_file(nunatak, tmp_path):
    """Whole updates on one rank, and geometries that are kept on several: every variable, bit for bit."""
    def run(name, *options, ranks):
        done = nunatak(*RUN, *options, "-o", f"{name}.nc", "-report", f"{name}.json", ranks=ranks)
        assert done.status == 0, done.text
        return json.loads((tmp_path / f"{name}.json").read_text())["ocean"]

    whole = run("whole", "-pico_skip_unchanged", "false", ranks=1)
    assert whole["updates"] == 4
    assert whole["updates_with_kept_geometry"] == 0
    assert whole["collectives"] == 4  # labels are gathered only where there is another rank
    expected = bits(tmp_path / "whole.nc")
    for ranks in (1, 2, 3, 4):
        ocean = run(f"r{ranks}", ranks=ranks)
        found = bits(tmp_path / f"r{ranks}.nc")
        assert found.keys() == expected.keys()
        for name in expected:
            assert found[name] == expected[name], f"{name} on {ranks} ranks"
        kept = ocean["updates_with_kept_geometry"]
        assert 0 < kept < 3
        first = 4 if ranks == 1 else 8
        assert ocean["collectives_of_all_updates"] == first + 2 * kept + (first + 1) * (3 - kept)
        assert ocean["shelf_cells_imbalance"] >= 1
        assert (ocean["domain_cells_imbalance"] > 1) == (ranks > 1)
