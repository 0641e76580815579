"""nunatak-check as a user meets it: the references of PISM are equal, a changed cell is named,
files of PISM 2.3.2 (pism/) are read as it writes them, and what it computes otherwise is
recognised."""
import json
import pathlib
import shutil

import netCDF4
import numpy as np
import pytest
from conftest import FOLDER, run_program

REFERENCE = ("-pico_gamma_T", 1e-5, "-pico_overturning", 0.8e6, "-pico_continental_shelf_depth",
             -2500)
EXACT = ("mask", "pico_ice_rise_mask", "pico_ocean_mask", "pico_lake_mask", "pico_contshelf_mask",
         "pico_shelf_mask", "pico_distance_gl", "pico_distance_cf", "pico_box_mask")
WATER = ("pico_temperature_box0", "pico_salinity_box0", "pico_temperature", "pico_salinity",
         "pico_overturning", "pico_basal_melt_rate", "shelfbmassflux", "shelfbtemp")
GENUINE = pathlib.Path(__file__).parents[1] / "pism"
SMALL = ("1000001", "1011101", "1110111")  # one component, which PISM 2.3 splits in two


def check(*arguments, folder, **keywords):
    return run_program("nunatak-check", *arguments, cwd=folder, **keywords)


@pytest.fixture
def reference(shared, tmp_path):
    """reference(change): a copy of the 50 km file, changed, that a test may check."""
    def make(change=None, name="50km"):
        path = tmp_path / f"{name}.nc"
        shutil.copy(shared / "reference" / f"pico_antarctica_{name}.nc", path)
        path.chmod(0o644)
        if change:
            with netCDF4.Dataset(path, "a") as data:
                data.set_auto_mask(False)
                change(data)
        return path
    return make


def write(path, mask, shelves=None, d_gl=None, basins=None):
    """A file by PISM's names with cells of 10 km; `mask` has its cell types."""
    rows, columns = np.shape(mask)
    with netCDF4.Dataset(path, "w") as data:
        data.createDimension("time", None)
        for name, n in (("y", rows), ("x", columns)):
            data.createDimension(name, n)
            data.createVariable(name, "f8", (name,))[:] = 10e3 * np.arange(n)
            data[name].units = "m"
        fields = {"thk": np.where(np.isin(mask, (2, 3)), 100.0, 0.0),
                  "topg": np.select([mask == 2, mask == 0], [0.0, 10.0], -500.0),
                  "mask": mask, "basins": np.ones_like(mask) if basins is None else basins,
                  "pico_shelf_mask": shelves, "pico_distance_gl": d_gl}
        for name, values in fields.items():
            if values is not None:
                data.createVariable(name, "f8", ("time", "y", "x"))[0] = values
        data.createVariable("pism_config", "i1").setncatts({
            "ocean.pico.heat_exchange_coefficent": 3e-5, "ocean.pico.maximum_ice_rise_area": 50.0,
            "ocean.pico.exclude_ice_rises": "yes", "ocean.pico.number_of_boxes": 4})
        data.createVariable("pism_overrides", "i1").setncattr("ocean.pico.number_of_boxes", 3.0)
    return path


def changed(run_json):
    return {f["field"]: f for f in json.loads(run_json.read_text())["fields"] if f["different"]}


@pytest.mark.parametrize("name", ["50km", "50km_merged", "16km"])
def test_references_are_equal_on_any_ranks(shared, tmp_path, name):
    path = shared / "reference" / f"pico_antarctica_{name}.nc"
    reports = [check(path, *REFERENCE, folder=tmp_path, ranks=ranks) for ranks in (1, 2, 3, 6)]
    assert all(r.status == 0 and "all equal (fields: 17)" in r.out
               for r in reports), reports[0].text
    assert len({report.out for report in reports}) == 1


@pytest.mark.parametrize("name", EXACT + WATER)
def test_a_changed_cell_is_named(reference, tmp_path, name):
    cell = []

    def change(data):
        cell.extend(map(int, np.argwhere(
            (data["pico_shelf_mask"][:] > 0) & (data["pico_overturning"][:] > 0))[17]))
        values = data[name][:]
        values[tuple(cell)] += 1 if name in EXACT else 1e-7 * abs(values[tuple(cell)])
        data[name][:] = values

    path = reference(change)
    ranks = (None, None, None, 3)[(EXACT + WATER).index(name) % 4]
    run = check(path, *REFERENCE, "-report", "r.json", "-fields", name, folder=tmp_path,
                ranks=ranks)
    assert run.status == 1 and "different: 1 of 1 fields" in run.out, run.text
    different = changed(tmp_path / "r.json")[name]
    assert (different["different"], different["j"], different["i"]) == (1, *cell)
    with netCDF4.Dataset(path) as data:
        assert (different["x_m"], different["y_m"]) == (data["x"][cell[1]], data["y"][cell[0]])
        assert different["found"] != different["expected"]
        if name not in ("pico_basal_melt_rate",):
            assert different["found"] == pytest.approx(data[name][tuple(cell)], rel=1e-12)


def test_numbers_of_shelves_do_not_matter(reference, tmp_path):
    def renumber(data):
        data["pico_shelf_mask"][:] = np.where(data["pico_shelf_mask"][:] > 0,
                                              1000 - data["pico_shelf_mask"][:], 0)
    check(reference(renumber), *REFERENCE, folder=tmp_path, status=0)

    def join(data):  # two shelves become one: the cells of the smaller one differ
        numbers = data["pico_shelf_mask"][:]
        sizes = sorted((np.sum(numbers == s), s) for s in np.unique(numbers[numbers > 0]))
        data["pico_shelf_mask"][:] = np.where(numbers == sizes[-2][1], sizes[-1][1], numbers)
        data.cells = sizes[-2][0]
    path = reference(join)
    for ranks in (None, 3):
        assert check(path, *REFERENCE, "-report", "r.json", folder=tmp_path,
                     ranks=ranks).status == 1
        with netCDF4.Dataset(path) as data:
            assert changed(tmp_path / "r.json")["pico_shelf_mask"]["different"] == data.cells


def test_a_value_that_is_missing_or_no_whole_number_differs(reference, tmp_path):
    def change(data):
        data.renameVariable("pico_box_mask", "old")
        values = data["old"][:].astype(float)
        values[60, 34], values[3, 5] = np.nan, 0.25
        data.createVariable("pico_box_mask", "f8", ("y", "x"))[:] = values
    run = check(reference(change), *REFERENCE, "-report", "r.json", folder=tmp_path)
    assert run.status == 1, run.text
    different = changed(tmp_path / "r.json")
    assert list(different) == ["pico_box_mask"] and different["pico_box_mask"]["different"] == 2
    assert different["pico_box_mask"]["largest"] == "none"


def test_distances_that_saturate(tmp_path):
    """A shelf one cell wide in open ocean, of 798 cells in a row: PISM 2.3 counts to 83 on 41 x 41
    cells."""
    path = [(j, i) for n, j in enumerate(range(1, 40, 2))
            for i in (range(1, 40) if n % 2 == 0 else range(39, 0, -1))]
    path = [cell for n, cell in enumerate(path) for cell in
            ([cell, (cell[0] + 1, cell[1])] if n % 39 == 38 and n < len(path) - 1 else [cell])]
    true, mask = np.full((41, 41), -1), np.full((41, 41), 4)
    for d, cell in enumerate(path):
        mask[cell], true[cell] = (3, d) if d else (2, -1)  # the first one is the grounding line
    assert true.max() == 798
    run = check(write(tmp_path / "true.nc", mask, d_gl=true), folder=tmp_path)
    assert run.status == 0 and "all equal (fields: 2)" in run.out, run.text
    for parameter in ("pico_gamma_T = 3e-05 m s-1 (pism_config)", "pico_boxes = 3 (pism_overrides)",
                      "-800 m (default)"):
        assert parameter in run.out, run.text
    file = write(tmp_path / "pism.nc", mask, d_gl=np.minimum(true, 83))
    for ranks in (None, 3):
        run = check(file, "-report", "r.json", folder=tmp_path, ranks=ranks)
        assert (run.status == 1 and "saturate explain all of it; with -pism_2.3 all fields "
                "are equal" in run.out), run.text
        different = changed(tmp_path / "r.json")["pico_distance_gl"]
        assert (different["different"], different["found"],
                different["largest"]) == (np.sum(true > 83), 83, 798 - 83)
        assert check(file, "-pism_2.3", folder=tmp_path, ranks=ranks).status == 0


def test_labels_that_split(tmp_path):
    """One shelf in the form of SMALL, of which PISM 2.3 makes two: in open ocean, with land in a
    corner."""
    mask = np.full((7, 11), 4)
    mask[2:5, 2:9] = [[3 if c == "1" else 4 for c in row] for row in SMALL]
    mask[0, 0] = 2
    whole, split = np.where(mask == 3, 1, 0), np.where(mask == 3, 2, 0)
    split[2:4, 2] = split[4, 2:5] = 1
    whole, split = (write(tmp_path / "whole.nc", mask, whole),
                    write(tmp_path / "split.nc", mask, split))
    run = check(split, "-report", "r.json", folder=tmp_path)
    assert (run.status == 1 and
            "labels that lose equivalences explain all of it" in run.out), run.text
    assert changed(tmp_path / "r.json")["pico_shelf_mask"]["different"] == 5
    for file, more, status in ((whole, (), 0), (split, ("-pism_2.3",), 0),
                               (whole, ("-pism_2.3",), 1),
                               # a rank for each cell loses nothing
                               (whole, ("-pism_2.3", "-virtual_ranks", "11x7"), 0)):
        assert check(file, *more, folder=tmp_path).status == status, (file, more)
    for ranks in (2, 3):  # virtual ranks lose what processes lose
        virtual = check(split, "-pism_2.3", "-virtual_ranks", ranks, folder=tmp_path)
        assert check(split, "-pism_2.3", folder=tmp_path, ranks=ranks).out == virtual.out


# docs/pism.md shows each of them alone, and how the files were made
SHELVES = ("labels that lose equivalences, distances that saturate, lakes that become shelves, "
           "neighbours across the edge of the grid, basin 0 as a main basin")


@pytest.mark.parametrize("name, ranks, fields, different, behaviours",
                         [("one_rank", 1, 13, 11, SHELVES + ", continental shelf below ice"),
                          ("three_ranks", 3, 3, 2, SHELVES.partition(", ")[2]),
                          ("bay", 1, 13, 5, "ties between boxes that are rounded")])
def test_genuine_files(tmp_path, name, ranks, fields, different, behaviours):
    """PISM's fill values of 0 are values; what it computes otherwise is named, and reproduced on
    its number of ranks alone."""
    path = GENUINE / f"pism_{name}.nc"
    run = check(path, "-virtual_ranks", ranks, "-report", "r.json", folder=tmp_path)
    assert run.status == 1 and f"different: {different} of {fields} fields" in run.out, run.text
    remark = f"PISM 2.3's {behaviours} explain all of it; with -pism_2.3 all fields are equal"
    assert (remark in run.out and
            json.loads((tmp_path / "r.json").read_text())["remarks"] == [remark]), run.text
    for start in ({"ranks": ranks}, {}):
        more = () if start else ("-virtual_ranks", ranks)
        run = check(path, "-pism_2.3", *more, folder=tmp_path, **start)
        assert run.status == 0 and f"all equal (fields: {fields})" in run.out, run.text
    other = check(path, "-pism_2.3", "-virtual_ranks", 4 - ranks, folder=tmp_path)
    assert other.status == (0 if name == "bay" else 1), other.text


def test_basins_that_pism_regridded_are_rounded(tmp_path):
    path = shutil.copy(GENUINE / "pism_bay.nc", tmp_path / "a.nc")
    with netCDF4.Dataset(path, "a") as data:
        data["basins"][:] += np.where(np.arange(13) % 2, 0.49, -0.5)
    run = check(path, "-pism_2.3", folder=tmp_path)
    assert (run.status == 0 and "basins: 299 cells have no whole number and are rounded, "
            "as in PISM" in run.out), run.text


def test_a_parameter_that_the_file_lacks_is_named(shared, tmp_path):
    run = check(shared / "reference/pico_antarctica_50km.nc", *REFERENCE[2:], folder=tmp_path)
    assert run.status == 1, run.text
    assert ("pico_gamma_T is not in the file: 2e-05 m s-1 assumed; 6 fields that depend on "
            "it differ" in run.out), run.text


def test_water_of_box0_or_of_another_file(reference, shared, tmp_path):
    """PISM's output has no theta_ocean: what enters a shelf is taken from the file, or from
    -forcing. Without a mask flotation decides."""
    def drop(data):
        for name in ("theta_ocean", "salinity_ocean", "mask"):
            data.renameVariable(name, "no_" + name)
    path = reference(drop)
    run = check(path, *REFERENCE, folder=tmp_path, ranks=2)
    assert (run.status == 0 and "water of box 0 is the file's" in run.out and
            "all equal (fields: 16)" in run.out), run.text
    assert ("cell types follow from thk and topg" in run.out and
            "not in the file" not in run.out), run.text
    assert check(path, *REFERENCE[2:], folder=tmp_path).status == 1  # another gamma_T
    run = check(path, *REFERENCE, "-forcing", shared / "reference/pico_antarctica_50km.nc",
                folder=tmp_path, ranks=2)
    assert run.status == 0 and "water of box 0" not in run.out, run.text


@pytest.mark.parametrize("arguments, message", [
    ((), "expected a file: nunatak-check FILE.nc, found none"),
    (("none.nc",), "none.nc"),
    (("f.nc", "-fields", "pico_box"), "'pico_box' is not a field of PICO"),
    (("f.nc", "-fields", "pico_box_mask"), "expected fields of PICO"),
    (("f.nc", "-fields", "pico_distance_gl,pico_box_mask"), "expected 'pico_box_mask' (-fields)"),
    (("f.nc", "-virtual_ranks", "99x99"), "99 x 99"),
    (("no_thk.nc",), "file 'no_thk.nc', variable 'thk': expected such a variable, found "),
    (("half.nc",), "file 'half.nc', variable 'basins': expected a number in cell 0, found nan"),
    (("below.nc", "-pism_2.3"),
     "file 'below.nc', variable 'basins': expected a number from 0 to 1000 in cell 0, found -1"),
    (("wide.nc",), "variable 'topg': expected 7 x 3 cells, found 8 x 3")])
def test_errors_have_status_2(tmp_path, arguments, message):
    mask = np.array([[3 if c == "1" else 4 for c in row] for row in SMALL])
    write(tmp_path / "f.nc", mask, d_gl=np.where(mask == 3, 0, -1))
    write(tmp_path / "half.nc", mask, basins=np.where(mask == 3, np.nan, 1.0))
    write(tmp_path / "below.nc", mask, basins=np.full_like(mask, -1))
    for name, variable in (("no_thk.nc", "thk"), ("wide.nc", "topg")):
        with netCDF4.Dataset(write(tmp_path / name, mask), "a") as data:
            data.renameVariable(variable, "old")
            if name == "wide.nc":
                data.createDimension("wide", 8)
                data.createVariable(variable, "f8", ("time", "y", "wide"))[0] = np.zeros((3, 8))
    run = check(*arguments, folder=tmp_path)
    assert run.status == 2 and message in run.err, run.text


@pytest.mark.skipif(not (FOLDER / "nunatak").exists(), reason="no model in this build")
def test_a_run_of_nunatak(nunatak, tmp_path):
    """What the model writes of one moment is what the tool finds."""
    nunatak("-init", "marine", "-grid_dx", "32km", "-stress", "sia", "-o", "o.nc", ranks=2,
            status=0)
    check("o.nc", folder=tmp_path, status=0)
