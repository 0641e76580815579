"""PICO in the program: kept geometry and the count of collectives, on any number of ranks."""
import json

from conftest import assert_same_bits

RUN = ("-init", "marine", "-grid_dx", "48km", "-grid_Mz", "11", "-stress", "sia", "-run_steps", "3")


def test_options_and_ranks_give_the_same_file(nunatak, tmp_path):
    """Whole updates on one rank, and geometries that are kept on several: every variable, bit for bit."""
    def run(name, *options, ranks):
        nunatak(*RUN, *options, "-o", f"{name}.nc", "-report", f"{name}.json", ranks=ranks, status=0)
        return json.loads((tmp_path / f"{name}.json").read_text())["ocean"]

    whole = run("whole", "-pico_skip_unchanged", "false", ranks=1)
    assert whole["updates"] == 4
    assert whole["updates_with_kept_geometry"] == 0
    assert whole["collectives"] == 4  # labels are gathered only where there is another rank
    for ranks in (1, 2, 3, 4):
        ocean = run(f"r{ranks}", ranks=ranks)
        assert_same_bits(tmp_path / "whole.nc", tmp_path / f"r{ranks}.nc")
        kept = ocean["updates_with_kept_geometry"]
        assert 0 < kept < 3
        first = 4 if ranks == 1 else 8
        assert ocean["collectives_of_all_updates"] == first + 2 * kept + (first + 1) * (3 - kept)
        assert ocean["shelf_cells_imbalance"] >= 1
        assert (ocean["domain_cells_imbalance"] > 1) == (ranks > 1)
