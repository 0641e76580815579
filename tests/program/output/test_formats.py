"""Gates for the files of every format: the tools that users have open them and agree, nothing in
them breaks a convention, and they are read in every way.

No network: the table of standard names comes with compliance-checker. Of area types and regions
there is no copy; no file of nunatak names one (asserted), so the checker gets empty tables.
"""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import xarray as xr

from conftest import assert_same_bits, attributes_of, run_nunatak, variables

# The ways to write that are checked: name -> options. The first is what the others are compared
# with.
FORMATS = {
    "serial": ("-io_format", "serial"),
    "pnetcdf": ("-io_format", "pnetcdf"),
    "netcdf4": ("-io_format", "netcdf4"),
    "hybrid": ("-io_format", "hybrid"),
    "direct": ("-io_format", "direct"),
    "zyx": ("-io_order", "zyx"),
}
FILES = ("result.nc", "snap_00002.000.nc", "spatial.nc", "series.nc")
RUN = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "4", "-stress", "sia", "-run_years", "2",
       "-verbose", "false", "-o", "result.nc", "-snapshot_file", "snap", "-snapshot_every", "2",
       "-timeseries_file", "series.nc",
       "-spatial_file", "spatial.nc", "-spatial_vars", "thk,mask,temp,velsurf_mag")
FIRST = next(iter(FORMATS))
# a checker that fetches fails
OFFLINE = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
each_format = pytest.mark.parametrize("name", FORMATS)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Every format's folder with the files of the same run."""
    folders = {name: tmp_path_factory.mktemp(name) for name in FORMATS}
    for name, options in FORMATS.items():
        run_nunatak(*RUN, *options, ranks=3, cwd=folders[name], status=0)
        assert {p.name for p in folders[name].glob("*.nc")} == set(FILES)
    return folders


def tool(*command, cwd):
    """What a program prints; skipped if it is not installed (in the PATH, or next to this
    Python)."""
    path = (shutil.which(command[0]) or
            shutil.which(command[0], path=pathlib.Path(sys.executable).parent))
    if path is None:
        pytest.skip(f"no {command[0]} (scripts/setup.sh installs it)")
    done = subprocess.run([path, *map(str, command[1:])], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, **OFFLINE})
    return done.returncode, done.stdout + done.stderr


def is_classic(path):
    with netCDF4.Dataset(path) as data:
        return data.data_model.startswith("NETCDF3")


def kinds(written):
    """The first format of every kind of file and order of dimensions: the others write the same, as
    is tested here."""
    first = {}
    for name, folder in written.items():
        first.setdefault((is_classic(folder / FILES[0]), "zyx" in FORMATS[name]), name)
    return list(first.values())


def checked(written):
    """What the CF checkers look at: all files of the first format, the maps of other kinds. Path ->
    format."""
    return {written[name] / file: name for name in kinds(written)
            for file in (FILES if name == FIRST else ["spatial.nc"])}


def attributes(thing):
    """Without the digest of the maps, which is that of their order."""
    return attributes_of(thing, "model_spatial_series")


@each_format
def test_opened_by_tools(written, name):
    for file in FILES:
        for command in (("ncdump", "-h"), ("cdo", "sinfo")):
            status, text = tool(*command, file, cwd=written[name])
            assert status == 0 and "arning" not in text and "rror" not in text, text
        assert "NetCDF" in text and "365_day" in text, text  # of cdo
        if is_classic(written[name] / file):
            status, text = tool("ncvalidator", file, cwd=written[name])
            assert status == 0 and "is a valid NetCDF" in text, text
        with xr.open_dataset(written[name] / file, decode_times=True) as data:
            data.load()
            years = [t.year for t in data.time.values]
        assert (years == {"spatial.nc": [1, 2, 3]}.get(file, [3]) or
                (file == "series.nc" and years[-1] == 3))


@each_format
def test_opened_by_gdal(written, name):
    """Hence by QGIS and rasterio: size, place, projection and values of a map."""
    rasterio = pytest.importorskip("rasterio", reason="no rasterio (scripts/setup.sh installs it)")
    path = written[name] / "spatial.nc"
    with rasterio.open(f"netcdf:{path}:thk") as image, netCDF4.Dataset(path) as data:
        x, y = data["x"][:], data["y"][:]
        assert (image.width, image.height, image.count) == (len(x), len(y), len(data["time"]))
        assert image.bounds == (x[0] - 48e3, y[0] - 48e3, x[-1] + 48e3, y[-1] + 48e3)
        projection = {"proj": "stere", "lat_0": -90, "lat_ts": -71, "lon_0": 0, "x_0": 0, "y_0": 0,
                      "ellps": "WGS84", "units": "m"}
        assert image.crs.to_dict() == {**projection, "no_defs": True}
        for record in range(image.count):
            # images begin in the north
            assert np.array_equal(image.read(record + 1), data["thk"][record][::-1])


@pytest.mark.parametrize("name", [n for n in FORMATS if n != FIRST])
def test_same_in_every_format(written, tmp_path, name):
    for file in FILES:
        one, other = written[FIRST] / file, written[name] / file
        with netCDF4.Dataset(one) as a, netCDF4.Dataset(other) as b:
            a.set_auto_maskandscale(False), b.set_auto_maskandscale(False)
            assert list(a.variables) == list(b.variables) and attributes(a) == attributes(b)
            assert {
                d: (len(a.dimensions[d]), a.dimensions[d].isunlimited()) for d in a.dimensions} == {
                    d: (len(b.dimensions[d]), b.dimensions[d].isunlimited()) for d in b.dimensions}
            for v in a.variables:
                assert (a[v].dtype, attributes(a[v])) == (b[v].dtype, attributes(b[v])), v
                turned = "zyx" in FORMATS[name] and {"x", "z"} <= set(a[v].dimensions)
                assert turned == (a[v].dimensions != b[v].dimensions), v
                in_order = b[v][:].transpose([b[v].dimensions.index(d) for d in a[v].dimensions])
                assert a[v][:].tobytes() == in_order.tobytes(), v
        status, text = tool("cdo", "-s", "diffn", one, other, cwd=tmp_path)
        assert status == 0 and not text.strip(), text
        if is_classic(one) and is_classic(other) and "zyx" not in FORMATS[name]:
            copies = [tmp_path / f"{n}_{file}" for n in ("one", "other")]
            for source, copy in zip((one, other), copies):
                shutil.copy(source, copy)
                with netCDF4.Dataset(copy, "a") as data:
                    data.history = ""
            _, text = tool("ncmpidiff", *copies, cwd=tmp_path)
            assert "All variables of two files are the same" in text, text
            assert "DIFF" not in text, text


def test_cf_checker(written, tmp_path):
    if importlib.util.find_spec("compliance_checker") is None:
        pytest.skip("no compliance-checker, whose table of standard names is used "
                    "(scripts/requirements.txt)")
    names = (pathlib.Path(importlib.util.find_spec("compliance_checker").origin).parent / "data" /
             "cf-standard-name-table.xml")
    assert names.exists()
    tables = {"a": "area_type_table", "r": "standardized_region_list"}
    for option, root in tables.items():
        (tmp_path / f"{option}.xml").write_text(
            '<?xml version="1.0"?>\n'
            f'<{root}><version_number>0</version_number><date>none</date></{root}>\n')
    paths = checked(written)
    for path in paths:
        with netCDF4.Dataset(path) as data:
            for v in data.variables.values():
                assert getattr(v, "standard_name", "") not in ("area_type", "region"), v.name
                assert "where" not in getattr(v, "cell_methods", ""), v.name
    _, text = tool("cfchecks", "-s", names, "-a", tmp_path / "a.xml", "-r", tmp_path / "r.xml",
                   *paths, cwd=tmp_path)
    reports = text.split("CHECKING NetCDF FILE: ")[1:]
    assert len(reports) == len(paths), text
    for path, report in zip(paths, reports):
        assert (report.startswith(str(path)) and
                "Checking against CF Version CF-1.8" in report), report
        assert "ERRORS detected: 0" in report, report
        warnings = [line for line in report.splitlines() if line.startswith("WARN:")]
        if "zyx" not in FORMATS[paths[path]]:  # z last is what CF does not recommend
            warnings = [line for line in warnings
                        if line != "WARN: (2.4): space/time dimensions appear in incorrect order"]
        assert warnings == []


def test_ways_to_read_give_the_same_run(written, tmp_path):
    """A restart from files of each kind, levels last or first; the report says who has read."""
    results = []
    for folder in (written[name] for name in kinds(written)):
        report = {}
        for way in ("each", "serial", "parallel", "direct"):
            run_nunatak("-i", folder / "result.nc", "-stress", "sia", "-run_steps", "1", "-verbose",
                        "false", "-io_read", way, "-io_ranks_per_node", "2", "-o", f"{way}.nc",
                        "-report", f"{way}.json", ranks=3, cwd=tmp_path, status=0)
            report[way] = json.loads((tmp_path / f"{way}.json").read_text())["input"]
            assert report[way]["read"] == way and report[way]["file"] == str(folder / "result.nc")
            assert 0 < report[way]["open"]["min"] <= report[way]["open"]["max"]
            assert_same_bits(tmp_path / "each.nc", tmp_path / f"{way}.nc")
        results.append(variables(tmp_path / "each.nc"))
        # boxes of ranks overlap; rank 0 reads what two of them want once
        assert (report["each"]["bytes"] == report["parallel"]["bytes"] > report["serial"]["bytes"] >
                0)
        assert [report[way]["sent_bytes"] > 0 for way in report] == [False, True, False, True]
        assert [report[way]["opening_ranks"] for way in report] == [3, 1, 3, 2]
    for other in results[1:]:
        np.testing.assert_equal(results[0], other)
