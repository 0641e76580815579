"""No direction is special: a mirrored, rotated or transposed marine ice sheet gives the mirrored,
rotated or transposed answer.

Whole steps of the program with PICO, temperature and transport, without the SSA, to the bit. The
SSA: tests/verification/test_ssa_symmetry.cpp.
"""
import json

import netCDF4
import numpy as np
import pytest
from conftest import variables, write_maps

# The eight ways to lay a square on itself: (flip x, flip y, exchange x and y). The first is the
# identity.
WAYS = [(bool(n & 1), bool(n & 2), bool(n & 4)) for n in range(8)]
GIVEN = ["thk", "topg", "climatic_mass_balance", "ice_surface_temp", "bheatflx", "theta_ocean",
         "salinity_ocean", "basins"]
SAME_BITS = ["thk", "usurf", "temp", "tauc", "hardav", "wvel", "velsurf_mag", "mask",
             "pico_distance_gl", "pico_distance_cf", "pico_box_mask", "pico_lake_mask",
             "pico_ice_rise_mask", "pico_contshelf_mask", "pico_ocean_mask",
             "pico_basal_melt_rate", "pico_temperature", "pico_salinity", "pico_overturning"]


def turn(way, field):
    """A field (y, x, ...) laid on itself in this way."""
    flip_x, flip_y, transpose = way
    field = field[:, ::-1] if flip_x else field
    field = field[::-1] if flip_y else field
    return np.swapaxes(field, 0, 1) if transpose else field


def turn_back(way, field):
    flip_x, flip_y, transpose = way
    return turn((flip_x, flip_y, False), np.swapaxes(field, 0, 1) if transpose else field)


def turn_vector_back(way, u, v):
    """The components (u, v) in the frame before it was turned."""
    flip_x, flip_y, transpose = way
    u, v = turn_back(way, u), turn_back(way, v)
    if transpose:
        u, v = v, u
    return (-u if flip_x else u), (-v if flip_y else v)


@pytest.fixture
def turned(nunatak, tmp_path):
    """turned(way): the name of an input file with the synthetic marine ice sheet at 64 km, laid on
    itself in this way."""
    nunatak("-init", "marine", "-seed", "3", "-grid_dx", "64km", "-grid_Mz", "11", "-o", "start.nc",
            status=0)

    def write(way):
        with netCDF4.Dataset(tmp_path / "start.nc") as start:
            start.set_auto_mask(False)
            maps = {name: (turn(way, start[name][0]), getattr(start[name], "units", ""))
                    for name in GIVEN}
            write_maps(tmp_path / "turned.nc", start["x"][:], start["y"][:], maps)
        return "turned.nc"
    return write


def same_partition(a, b):
    """Are the labels a and b the same sets of cells under other numbers?"""
    pairs = set(zip(a.ravel().tolist(), b.ravel().tolist()))
    return len(pairs) == len({p[0] for p in pairs}) == len({p[1] for p in pairs})


def test_forty_steps_without_the_ssa_to_the_bit(nunatak, tmp_path, turned):
    for n, way in enumerate(WAYS):
        nunatak("-i", turned(way), "-stress", "sia", "-grid_Mz", "11", "-run_steps", "40",
                "-dt_max", "100", "-o", "out.nc", "-report", "out.json", ranks=1 + n % 3, status=0)
        answer = {name: values[0]
                  for name, values in variables(tmp_path / "out.nc").items() if values.ndim > 2}
        budget = json.loads((tmp_path / "out.json").read_text())["mass_budget"]
        assert abs(budget["closure"]) < 1e-13
        if n == 0:
            straight, straight_budget = answer, budget
            assert straight["pico_shelf_mask"].max() > 5
            assert straight["pico_box_mask"].max() > 2
            assert budget["basal_melt_km3"] > 0 and budget["melted_inside_km3"] > 0
        for name in SAME_BITS:
            np.testing.assert_array_equal(turn_back(way, answer[name]), straight[name],
                                          err_msg=f"{name}, {way}")
        for u, v in (("uvel", "vvel"), ("ubar", "vbar")):
            turned_u, turned_v = turn_vector_back(way, answer[u], answer[v])
            np.testing.assert_array_equal(turned_u, straight[u], err_msg=f"{u}, {way}")
            np.testing.assert_array_equal(turned_v, straight[v], err_msg=f"{v}, {way}")
        assert same_partition(turn_back(way, answer["pico_shelf_mask"]),
                              straight["pico_shelf_mask"]), way
        assert budget == straight_budget, way
