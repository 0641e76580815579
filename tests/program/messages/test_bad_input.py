"""Bad input and bad options: a message that names the culprit, a non-zero status, no hang, no file
left under a final name."""
import json
import os
import subprocess

import numpy as np
import pytest
from conftest import refused

QUICK = ("-run_years", "0", "-stress", "sia")

OPTIONS = [
    (("-grid_Nx", "30"), ("unknown option -grid_Nx", "-grid_Mx")),
    (("-ssa_multigrid_smothing", "3"),
     ("unknown option -ssa_multigrid_smothing; did you mean -ssa_multigrid_smoothing?",)),
    (("-pico_continental_shelf_depth", "800"), ("-pico_continental_shelf_depth", "at most 0")),
    (("-run_wall", "soon", "-o", "o.nc"),
     ("option -run_wall: expected a time such as 3h50m", "'soon'")),
    (("-options_file", "missing.yaml"), ("-options_file", "missing.yaml")),
    (("-snapshot_file", "s"), ("-snapshot_every",)),
    (("-spatial_file", "s.nc", "-spatial_vars", "thk,speed"), ("speed", "unknown variable")),
    (("-i", "a.nc", "-init", "dome"), ("-i and -init",)),
    (("-i", "nowhere.nc"), ("nowhere.nc",)),
    (("-init", "shelf", "-ocean", "pico"), ("-init shelf and -ocean pico", "not periodic")),
    (("-grid_Lz", "1000"),
     ("option -grid_Lz: expected at least the thickness of the thickest ice", "found 1000")),
    (("-grid_dx", "1e-8"), ("option -grid_dx", "at least 1 m")),
    (("-grid_Mx", "1000000"), ("1000000 x 1000000 points", "expected at most")),
    (("-da_refine", "-1"), ("option -da_refine", "expected a whole number", "found '-1'")),
    (("-da_refine", "14"), ("327681 x 327681 points", "-da_refine", "expected at most")),
    (("-spatial_every", "2"), ("-spatial_every", "expected -spatial_file")),
    (("-spatial_file", "s.nc", "-spatial_vars", "ssa_residual_x"),
     ("option -spatial_vars: ssa_residual_x is not computed in this run",)),
    (("-run_until", "5"), ("-run_years and -run_until",)),
    (("-spatial_file", "s.nc", "-spatial_vars", "thk,,topg"), ("-spatial_vars",)),
    (("-options_file",), ("-options_file",)),
    (("-ssa_ksp_tipe", "cg"), ("-ssa_ksp_tipe",)),
    (("-run_wall", 400 * "9", "-o", "o.nc"), ("option -run_wall", "expected")),
    (("-spatial_file", "s.nc", "-spatial_every", "1e-9"),
     ("option -spatial_every", "at least 1e-6")),
    (("-io_align", "16GiB", "-o", "o.nc"),
     ("option -io_align: expected a number of bytes", "to 1GiB, found '16GiB'")),
    (("-io_format", "netcdf4", "-io_chunk", "q=3", "-o", "o.nc"), ("option -io_chunk", "'q'")),
    (("-io_format", "netcdf4", "-io_chunk", "x", "-o", "o.nc"), ("option -io_chunk", "'x'")),
    (("-io_deflate", "1", "-o", "o.nc"), ("option -io_deflate",)),
    (("-io_define", "interleaved", "-o", "o.nc"), ("option -io_define",)),
    (("-io_align", "6", "-o", "o.nc"), ("option -io_align", "multiple of 4")),
]


@pytest.mark.parametrize("options, words", OPTIONS, ids=[" ".join(o[0]) for o in OPTIONS])
def test_bad_option(nunatak, tmp_path, options, words):
    refused(nunatak("-init", "dome", "-grid_Mx", "21", *QUICK, *options,
                    ranks=2) if "-i" not in options else nunatak(*options, ranks=2), *words)
    assert not any(tmp_path.iterdir())


def rename(name):
    return lambda data: data.renameVariable(name, "other")


def attributes(name, **values):
    return lambda data: data[name].setncatts(values)


def has(name, value, where=(10, 10)):
    """A variable with this value at one point; everywhere if the island has none of the name."""
    def change(data):
        if name not in data.variables:
            data.createVariable(name, "f8", ("y", "x"))[:] = value
        data[name][where] = value
    return change


def thickness_on(*dimensions):
    def change(data):
        data.renameVariable("thk", "old")
        data.createVariable("thk", "f8", dimensions)[:] = 1.0
    return change


def levels(*z):
    def change(data):
        data.createDimension("z", len(z))
        data.createVariable("z", "f8", ("z",))[:] = z
        data.createVariable("temp", "f8", ("y", "x", "z"))[:] = 260.0
    return change


def spacing(d):
    return has("x", d * np.arange(21), slice(None))


def mapping(**values):
    polar = dict(grid_mapping_name="polar_stereographic", latitude_of_projection_origin=-90.0,
                 standard_parallel=-71.0, straight_vertical_longitude_from_pole=0.0)
    return lambda data: data.createVariable("mapping", "i4", ()).setncatts({**polar, **values})


def time(seconds):
    return lambda data: data.setncattr("model_time_seconds", seconds)


SPOILED = {  # what is done to the island; words of the error
    **{f"no {name}": (rename(name), (f"'{name}'", "missing")) for name in ("thk", "topg", "x")},
    "no temp, which its state has": (lambda data: data.setncattr("model_state_variables",
                                                                 "thk topg temp"),
                                     ("'temp'", "missing", "model_state_variables")),
    "transposed": (thickness_on("x", "y"), ("'thk'", "(y, x)", "(x, y)")),
    **{units: (attributes("thk", units=units), ("'thk'", units)) for units in ("kg", "bananas")},
    "NaN on the last rank": (has("topg", np.nan, (20, 20)), ("'topg'", "NaN", "1 points")),
    "negative": (has("thk", -1.0), ("'thk'", "negative", "1 points")),
    "irregular": (has("x", 0.0, 5), ("'x'", "equally spaced")),
    **{f"spacing {d}": (spacing(d), ("coordinate 'x'", "unit")) for d in (1e-8, 1e30)},
    **{f"{name} {value}": (attributes("thk", **{name: value}), ("'thk'", name))
       for name, value in (("scale_factor", 0.0), ("scale_factor", np.nan),
                           ("add_offset", np.inf))},
    "below its valid range": (attributes("thk", valid_min=500.0),
                              ("'thk'", "valid range", "found 0")),
    **{f"no {name}": (mapping(**{name: np.nan}), (f"mapping:{name}", "finite"))
       for name in ("standard_parallel", "semi_major_axis", "latitude_of_projection_origin")},
    **{f"time {seconds}": (time(seconds), ("model_time_seconds",))
       for seconds in (1e300, np.nan, -np.inf)},
    **{f"{name} {value}": (has(name, value), (f"'{name}'",))
       for name, value in (("thk", 1e12), ("topg", 1e30), ("theta_ocean", -1.0),
                           ("ice_surface_temp", -20.0), ("hardav", 0.0),
                           ("tauc", -1e5), ("basins", -5), ("basins", 2e9), ("basins", 1.5))},
    **{f"levels {z}": (levels(*z), ("'z'",))
       for z in ((10, 500, 1000, 2000), (2000, 1000, 500, 0), (0, 500, 500, 2000))},
    "more levels than a column holds": (levels(*range(0, 6000, 10)),
                                        ("'z'", "at most 512", "found 600")),
    "a bed that lies where data ends": (has("topg", -9999.0, (3, slice(0, 5))),
                                        ("'topg'", "-9999", "_FillValue")),
    "a choice of no run": (lambda data: data.setncattr("option_energy", "On"),
                           ("option_energy", "one of on|off", "'On'")),
}


@pytest.mark.parametrize("case", SPOILED)
def test_spoiled_input(nunatak, island, case):
    change, words = SPOILED[case]
    island(change)
    refused(nunatak("-i", "island.nc", ranks=2), "island.nc", *words)


def test_database_of_units(nunatak, tmp_path):
    """UDUNITS2_XML_PATH names a file that is not there (an environment of Spack): the library reads
    its own. One that is there counts."""
    def run(path):
        return nunatak("-init", "dome", "-grid_dx", "100km", *QUICK,
                       environment={"UDUNITS2_XML_PATH": str(path)})
    assert run(tmp_path / "missing.xml").status == 0
    broken = tmp_path / "units.xml"
    broken.write_text("<unit-system>")
    refused(run(broken), "UDUNITS", str(broken))


def test_grid_too_small_for_the_ranks(nunatak):
    refused(nunatak("-init", "dome", *QUICK, "-grid_px", "3", ranks=4), "-grid_px",
            "product of 4 ranks", "3 x 1")
    refused(nunatak("-init", "dome", *QUICK, "-da_gird_x", "30"), "unknown option -da_gird_x",
            "DMDA")
    refused(nunatak("-init", "dome", "-grid_Mx", "3", "-grid_My", "3", *QUICK, "-grid_px", "4",
                    "-grid_py", "1", ranks=4), "grid too small", "3 x 3")


@pytest.mark.parametrize("io_format", ["serial", "pnetcdf"])
@pytest.mark.parametrize("option", ["-o", "-timeseries_file", "-spatial_file", "-report"])
def test_unwritable_output(nunatak, tmp_path, io_format, option):
    run = nunatak("-init", "dome", "-grid_Mx", "21", *QUICK, "-io_format", io_format, option,
                  "no/such/folder/out.nc", ranks=2)
    refused(run, "no/such/folder/out.nc")
    assert not any(tmp_path.iterdir())


def test_help_into_a_pipe_that_closes(tmp_path):
    """PETSc's handler of SIGPIPE once took that for a crash."""
    read, write = os.pipe()
    os.close(read)
    with open("/dev/full", "w") as full:
        for out, status, words in ((write, 0, ""), (full, 2, "nunatak: error: standard output: not "
                                                    "all of it could be written\n")):
            done = subprocess.run([os.environ["NUNATAK"], "-help"], cwd=tmp_path, stdout=out,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            assert done.returncode == status and done.stderr == words, done
    os.close(write)


@pytest.mark.parametrize("content, words", [
    ("", ("found none",)), ("# nothing\n\n", ("found none",)),
    (b"\x7fELF\x02\x00\x00", ("expected text",)), (b"init: d\xf6me\n", ("expected text",)),
    ("init:\nstress: sia\n", ("option -init: expected a value, found none",)),
    ("stress: sia\ngrid:\n  Mx: ~\n", ("option -grid_Mx", "'~'")),
    ("init: dome\ngrid:\n\tMx: 21\n", ("expected YAML",)),
    ("init: dome\nhelp: true\n", ("-help on the command line",)),
    ("INIT: dome\n", ("unknown option -INIT",)),
    ("init: dome\n  grid_Mx: [21\n", ("expected YAML",)), ("o: " + 20000 * "[", ("expected YAML",)),
    (5000 * "{a: ", ("expected YAML",)), ("init: dome\nINIT: marine\n", ("option -init once",)),
    ("init\n", ("option: value",)), (70000 * "#", ("at most 64 KiB",))],
                         ids=["empty", "comments", "binary", "latin 1", "no value", "null", "a tab",
                              "help", "in another case", "indented", "nested lists",
                              "nested names", "twice", "no name", "too long"])
def test_options_file_of_no_sense(nunatak, tmp_path, content, words):
    (tmp_path / "run.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(nunatak("-options_file", "run.yaml", ranks=2, timeout=20), "run.yaml", *words)


@pytest.mark.parametrize("name, content, words", [
    ("bad.opts", "grid_Mx 21\n-init dome\n", "expected lines of '-option value'"),
    ("run.yaml", None, "regular file"), ("far.opts", 60000 * " " + "-Options_File far.opts\n",
                                         "expected -options_file on the command line"),
    ("own.opts", "-options_file own.opts\n", "expected -options_file on the command line"),
    (".petscrc", "foo bar\n", "hold '-option value'")])
def test_malformed_options_file(nunatak, tmp_path, name, content, words):
    """PETSc fails on rank 0 only: the others must not wait for it. A file in itself it reads until
    the stack is full. None: a pipe."""
    (tmp_path / name).write_text(content) if content else os.mkfifo(tmp_path / name)
    run = nunatak("-options_file", name, ranks=2, timeout=20)
    assert run.status == 2 and name in run.text and words in run.text, run.text


@pytest.mark.parametrize("name, content, more, words", [
    ("run.yaml", "init: dome\ngrid:\n  Mz: 5\n  Nx: 21\n", (),
     ("unknown option -grid_Nx; did you mean -grid_Mx?", "('run.yaml')")),
    ("run.yaml", "grid: # of cells\n  dx: 16kg\n", (),
     ("option -grid_dx: units 'kg'", "('run.yaml')")),
    ("run.opts", "-init dome\n-grid_Mz many\n", (), ("option -grid_Mz", "'many'", "('run.opts')")),
    ("run.yaml", "grid:\n  dx: 16kg\n", ("-grid_dx", "16g"), ("option -grid_dx: units 'g'",))],
                         ids=["unknown", "wrong unit", "PETSc's format", "given anew"])
def test_an_option_of_a_file_is_told_with_its_file(nunatak, tmp_path, name, content, more, words):
    (tmp_path / name).write_text(content)
    refused(nunatak("-options_file", name, *more, ranks=2), *words)


def test_warnings_of_what_was_hardly_meant(nunatak, island):
    """Ice that races, and melt of what is not there: a line each, at the end."""
    island(has("thk", 5000.0))
    sia = ("-i", "island.nc", "-stress", "sia", "-ocean", "none", "-grid_Mz", "5", "-sia_e")
    racing = nunatak(*sia, "100", "-run_steps", "2", ranks=2)
    assert (racing.status == 0 and
            racing.out.count("faster than 100 km/a in up to") == 1), racing.text
    melting = nunatak(*sia, "0.01", "-run_years", "6", "-climatic_mass_balance", "-300000",
                      "-climatic_mass_balance_halving", "0", ranks=2)
    assert (melting.status == 0 and
            melting.out.count("of ice where there was no more") == 1), melting.text
    calm = nunatak(*sia, "0.01", "-run_steps", "1")
    assert "warning: mass" not in calm.out and "faster than" not in calm.out, calm.text


def test_failed_run_leaves_no_empty_report(nunatak, island, tmp_path):
    island()
    run = nunatak("-i", "island.nc", "-stress", "sia", "-grid_Mz", "5", "-run_steps", "2",
                  "-climatic_mass_balance", "1e7", "-report", "r.json")
    assert run.status == 2 and "nunatak: error:" in run.err, run.text
    assert not (tmp_path / "r.json").exists() or json.loads((tmp_path / "r.json").read_text())


def test_a_byte_order_mark_is_named(nunatak, tmp_path):
    """PETSc's options would begin with it; YAML allows it."""
    (tmp_path / "run.opts").write_text("\ufeff-init dome\n", encoding="utf-8")
    refused(nunatak("-options_file", "run.opts", ranks=2, timeout=20), "run.opts",
            "byte order mark")
    (tmp_path / "run.yaml").write_text("\ufeffinit: dome\nrun_steps: 0\n", encoding="utf-8")
    run = nunatak("-options_file", "run.yaml", ranks=2, timeout=20)
    assert run.status == 0 and "grid: 61 x 61" in run.out, run.text


def test_options_without_effect_are_told(nunatak, island):
    island()
    run = nunatak("-i", "island.nc", "-grid_Mz", "3", *QUICK, "-seed", "2", "-o", "first.nc")
    assert run.status == 0 and "option -seed has no effect" in run.out, run.text
    run = nunatak("-i", "first.nc", *QUICK, "-grid_z_spacing", "equal")
    assert (run.status == 0 and
            "option -grid_z_spacing has no effect: first.nc has levels" in run.out), run.text
    run = nunatak("-i", "first.nc", *QUICK, "-grid_z_spacing", "equal", "-grid_Mz", "4")
    assert run.status == 0 and "no effect" not in run.out, run.text
