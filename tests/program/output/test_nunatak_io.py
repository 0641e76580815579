"""nunatak-io as a user meets it: every workload, read back value by value; what its JSON promises;
clear errors."""
import functools
import hashlib
import json
import pathlib
import re
import shutil

import netCDF4
import numpy as np
import pytest

METHODS = ("pnetcdf", "serial", "pnetcdf/order=yxz", "pnetcdf/order=zyx/header=0/buffer=1KiB",
           "netcdf4", "netcdf4/order=zyx/deflate=1", "hybrid", "direct", "direct/box:1",
           "direct/calls=mpiio", "pnetcdf/zslab", "netcdf4/box:1",
           "direct/morton:2/stripe=4KiB/ranks_per_node=2",
           "pnetcdf/file-per-aggregator:1/ranks_per_node=2", "null")
WORKLOADS = {  # options; the file of two records; runs of the ranks of 1, 3 and 6
    "pism:A10km": ("-scale 0.03,z=0.03", "c8cbcf693ed1", 31, 1674, 1674),
    "cam:FV-B": ("-scale 0.06,lev=0.06 -variables 9", "714b180c68d3", 9, 45, 45),
    "mom:0.25": ("-scale 0.015,st_ocean=0.015", "96024216ddbc", 10, 768, 768),
    "gcrm:5": ("-scale 0.125", "0e7395ee37c2", 9, 27, 54),
    "e3sm:F": ("-scale 0.02,lev=0.02 -variables 4", "2fc2a13eacf3", 4, 1080, 1090),
    "e3sm:G": ("-scale 0.004,nVertLevels=0.004,nVertLevelsP1=0.004 -variables 4",
               "fcc0c90228cc", 4, 236, 236),
    "e3sm:I": ("-scale 0.05 -variables 4", "1f602f258de4", 360, 1880, 3100),
    "icon:R2B2": ("-scale 0.5,height=0.5 -variables 4", "fd1e4b2aa249", 4, 1664, 3224),
}
INPUTS = pathlib.Path(__file__).parents[3] / "inputs"
PHASES = ["open", "define", "reserve", "post", "exchange", "stall", "wait", "flush", "close",
          "checksum", "fsync"]


@pytest.fixture
def bench(tool):
    """bench(*arguments, ranks=n): nunatak-io in a fresh folder."""
    return functools.partial(tool, "io")


def report(folder, name="out.json"):
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("ranks", [1, 3, 6])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_value_of_every_workload(bench, tmp_path, workload, ranks):
    scattered = workload[:4] in ("e3sm", "icon")  # thousands of collective calls take long
    methods = tuple(m
                    for m in METHODS if not (scattered and ("buffer=1KiB" in m or "deflate" in m)))
    options, digest, *runs = WORKLOADS[workload]
    run = bench("-workload", workload, *options.split(), "-methods", ",".join(methods), "-repeat",
                1, "-records", 2, "-keep", "-card_rate", 1e30, "-servers", 1, "-server_rate", 1e9,
                "-report", "out.json", ranks=ranks, status=0)
    written_report = report(tmp_path)
    assert hashlib.sha256(
        (tmp_path / "nunatak-io.files" / "method0.nc").read_bytes()).hexdigest().startswith(digest)
    assert written_report["workload"]["runs_per_rank"]["sum"] == runs[[1, 3, 6].index(ranks)]
    written = (written_report["workload"]["fixed_bytes"] +
               2 * written_report["workload"]["bytes_per_record"])
    assert written == written_report["raw"]["bytes"] > 1000
    assert [method["method"] for method in written_report["methods"]] == list(methods)
    written_values = {method["verified_values"]
                      for method in written_report["methods"] if not method["not_read"]}
    assert len(written_values) == 1 and written_values.pop() * 8 > written / 2
    for method in written_report["methods"]:
        assert method["payload_bytes"] == written
        has_plan = (method["options"]["layout"] in ("native", "default") or
                    method["method"].startswith("direct"))
        # all of it, and the number of records
        if has_plan and method["options"]["format"] in ("serial", "pnetcdf", "hybrid", "direct"):
            assert -0.5 < method["limit_s"] * 1e9 - written < 20
        else:
            assert "limit_s" not in method
        if method["options"]["format"] == "null":
            assert (method["verified_values"] == method["file_bytes"] == 0 and
                    method["not_read"] == {"each": "there is no file"})
        elif "aggregator" in method["method"]:
            # read from the joined file
            assert method["verified_values"] > 0 and method["join_seconds"]["median"] > 0
        elif method["options"]["format"] in ("serial", "pnetcdf", "hybrid", "direct"):
            assert written < method["file_bytes"] < written + 60000
        else:
            assert method["file_bytes"] > 1000
    if ranks == 6:  # land is there to leave a rank without cells
        assert (written_report["workload"]["memory_per_rank"]["min"] == 0) == (
            workload == "mom:0.25")
        assert written_report["host"]["oversubscribed"] == (
            "for correctness, not for times" in run.out)


FILES = {  # a header: scale, dimensions, a variable of floats and its dimensions
    "cesm.cdl": ("0.1,lev=0.2,ilev=0.2", {"lat": 19, "lon": 29, "lev": 6, "ilev": 7, "nbnd": 2,
                                          "chars": 8}, "T", ("time", "lev", "lat", "lon")),
    "mom6.cdl": ("0.05,zl=0.1", {"xh": 36, "yh": 29, "xq": 37, "yq": 29, "zl": 9, "zi": 76,
                                 "nv": 2}, "RV", ("time", "zl", "yq", "xq")),
    "fesom.cdl": ("0.05,nz=0.1", {"nod2": 317, "elem": 612, "nz": 5, "nz1": 47}, "v",
                  ("time", "nz1", "elem")),
    "partition.nc": ("0.5", {"nod2": 31715, "elem": 61165, "cell": 200, "height": 5}, "ta",
                     ("time", "height", "cell")),
}


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("model", FILES)
def test_the_output_of_any_model(bench, tmp_path, model, ranks):
    """Headers of CESM, MOM6, FESOM and a NetCDF file: every value as the tool verifies it, and of
    one variable as its formula says."""
    scale, dimensions, name, order = FILES[model]
    shutil.copytree(INPUTS / "workloads", tmp_path, dirs_exist_ok=True)
    ranks_of = np.arange(244659) // 7 % 16  # seven cells each in turn
    with netCDF4.Dataset(tmp_path / "partition.nc", "w") as file:
        for dimension, length in (("time", None), ("height", 5), ("nod2", 126858), ("elem", 244659),
                                  ("cell", 800)):
            file.createDimension(dimension, length)
        for variable, dimension in (("node_rank", "nod2"), ("elem_rank", "elem"),
                                    ("owner", "cell")):
            file.createVariable(variable, "i4",
                                (dimension,))[:] = ranks_of[:len(file.dimensions[dimension])]
        file.createVariable("ta", "f4", ("time", "height", "cell"))
        # an attribute without a value
        file.createVariable("cell", "f8", ("cell",)).spacing = np.zeros(0)
    own = {"partition.nc": ["-decomposition", "blocks nod2|elem; owners cell owner"],
           "fesom.cdl": ["-decomposition", "owners nod2 partition.nc:node_rank; owners elem "
                         "partition.nc:elem_rank; levels nz nz1"][:2 if ranks == 3 else 0],
           }.get(model, [])  # fesom.cdl itself has runs
    bench("-workload", f"file:{model}", *own, "-scale", scale, "-records", 2, "-repeat", 1,
          "-methods", "serial,direct,pnetcdf,netcdf4/box:1",
          "-keep", "-report", "out.json", ranks=ranks, status=0)
    out = report(tmp_path)
    assert (out["workload"]["dimensions"] == dimensions and
            all(method["verified_values"] > 1000 for method in out["methods"]))
    if model == "partition.nc" and ranks > 1:
        assert out["workload"]["runs_per_rank"]["sum"] == 5 * (
            1 + np.count_nonzero(np.diff(ranks_of[:800:4] * ranks // 16)))
    for path in (tmp_path / "nunatak-io.files").glob("method*.nc"):
        with netCDF4.Dataset(path) as file:
            assert file[name].dimensions == order and file[name].dtype == np.float32
            place = np.arange(file[name][1].size, dtype=np.uint64).reshape(file[name][1].shape)
            code = ((1 << 43) + (list(file.variables).index(name) - 1 << 33) + place +
                    np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
            code = (code ^ code >> np.uint64(32)) * np.uint64(0x9e3779b97f4a7c15)
            assert np.array_equal(file[name][1].filled(), (
                (code ^ code >> np.uint64(29)) >> np.uint64(40)).astype(np.float32))


def write_header(folder, *lines):
    (folder / "a.cdl").write_text("\n".join(["netcdf a {", "dimensions:", *lines, "}"]))


def test_a_second_unlimited_dimension_has_its_length(bench, tmp_path):
    write_header(tmp_path, "time = UNLIMITED ; // (2 currently)",
                 "station = UNLIMITED ; // (5 currently)", "x = 8 ;", "variables:",
                 "float a(time, station, x) ;", ':nunatak_io = "blocks x" ;')
    bench("-workload", "file:a.cdl", "-repeat", 1, "-methods", "direct,serial", "-report",
          "out.json", ranks=2, status=0)
    out = report(tmp_path)
    assert out["workload"]["dimensions"] == {"station": 5, "x": 8}
    assert out["workload"]["bytes_per_record"] == 4 * 5 * 8


def test_blocks_of_three_dimensions(bench, tmp_path):
    """The six with the least surface: two parts of z, three of x."""
    write_header(tmp_path, "time = UNLIMITED ;", "z = 6 ;", "y = 5 ;", "x = 7 ;", "variables:",
                 "double a(time, z, y, x) ;", "float b(time, y, x) ;",
                 ':nunatak_io = "blocks z y x; ghosts 1" ;')
    methods = "serial,direct,direct/zslab,pnetcdf,netcdf4/box:1"
    bench("-workload", "file:a.cdl", "-records", 1, "-repeat", 1, "-methods", methods, "-report",
          "out.json", ranks=6, status=0)
    out = report(tmp_path)
    assert all(method["verified_values"] == 6 * 5 * 7 + 5 * 7 for method in out["methods"])
    runs = {"a": 6 * 5 * 3, "b": 5 * 3}
    assert out["workload"]["runs_per_rank"]["sum"] == sum(runs.values())


OWNER = np.array([0, 0, 0, 2, 1, 1, 1, 1, 2, 2, 2, 0])


def write_map(path, shape, **changed):
    """Lists D.nreqs, D.offsets, D.lengths of a map of cells with levels behind or before."""
    behind = len(shape) > 1 and shape[0] == OWNER.size
    owner = np.broadcast_to(OWNER[:, None] if behind else OWNER, shape).ravel()
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    by_rank = np.argsort(owner[begins], kind="stable")
    lists = {"nreqs": np.bincount(owner[begins]), "offsets": begins[by_rank],
             "lengths": np.diff(begins, append=owner.size)[by_rank], "dims": shape, **changed}
    with netCDF4.Dataset(path, "w") as file:
        file.setncattr("D.dims", np.array(lists.pop("dims"), "i4"))
        for name, values in lists.items():
            file.createDimension(name, len(values))
            file.createVariable(f"D.{name}", "f8", (name,))[:] = values


def test_owners_by_the_runs_that_e3sm_io_publishes(bench, tmp_path):
    """As many as of a map of owners; of a map with levels, in any order, the first."""
    write_header(tmp_path, "time = UNLIMITED ;", "lev = 3 ;", "cells = 12 ;", "variables:",
                 "double a(time, lev, cells) ;")

    def run(name, status, ranks=3):
        return bench("-workload", "file:a.cdl", "-decomposition", f"owners cells map.nc:{name}",
                     "-repeat", 1, "-methods", "direct,serial", "-report", "out.json",
                     ranks=ranks, status=status)
    runs = []
    for shape in (None, (12,), (12, 5), (5, 12)):
        write_map(tmp_path / "map.nc", shape or (12,))
        if shape is None:
            with netCDF4.Dataset(tmp_path / "map.nc", "a") as file:
                file.createDimension("cells", 12)
                file.createVariable("owner", "i4", ("cells",))[:] = OWNER
        run("D" if shape else "owner", status=0)
        out = report(tmp_path)
        assert all(method["verified_values"] == 36 for method in out["methods"])
        runs.append(out["workload"]["runs_per_rank"])
    assert runs[0]["sum"] == 3 * 5 and all(found == runs[0] for found in runs)
    for broken in ({"lengths": [2, 1, 4, 1, 4]}, {"lengths": [4, 1, 4, 1, 3]},
                   {"lengths": [3, -1, 4, 3, 3]}, {"nreqs": [2.5, 1, 1.5]}, {"nreqs": [1, 1, 1]},
                   {"offsets": [0, 11, 4, 3]}, {"offsets": [0, 11, 1e17, 3, 8]},
                   {"lengths": [3, np.nan, 4, 1, 3]}):
        write_map(tmp_path / "map.nc", (12,), **broken)
        assert "lengths that have each of 12 cells once, found" in run(
            "D", status=2, ranks=None).err  # mpiexec takes ten seconds to end with an error
    for dims in ((13,), (), (3, 4), (12, 2**31 - 1, 2**31 - 1)):
        write_map(tmp_path / "map.nc", (12,), dims=dims)
        assert "expected lengths D.dims of the map that begin or end with (12)" in run(
            "D", status=2, ranks=None if dims else 3).err


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("number, line, words", [
    (2, "dimensions", "line 2: expected 'dimensions:', "),
    (3, "x = many ;", "line 3: expected a whole number from 1 to"),
    (5, "float a(y) ;", "line 5: expected a dimension above for 'y', found 'float a(y) ;'"),
    (5, "complex a(x) ;", "line 5: expected a type"),
    (6, "b:units = 1 ;", "line 6: expected an attribute of the file or of a variable above"),
    (8, "]", "line 8: expected 'dim"),
    (6, "a:units = metres ;", "line 6: expected a text in quotes"),
    (7, "", "expected a decomposition such as 'blocks y x'"),
    (7, "boxes x", "'boxes x': expected blocks"),
    (7, "blocks z", "expected a dimension, found 'z'"),
    (7, "runs x", "expected dimensions, at most 7"),
    (7, "owners x m.nc:short", "of 4 cells, found '1."),
    (7, "owners x m.nc:low", "of 4 cells, found '-1.")])
def test_bad_headers_and_decompositions(bench, tmp_path, number, line, words, ranks):
    lines = ["netcdf a {", "dimensions:", "x = 4 ;", "variables:", "float a(x) ;", "a:units = 1 ;",
             ':nunatak_io = "blocks x" ;', "}"]
    lines[number - 1] = f':nunatak_io = "{line}" ;' if number == 7 else line
    (tmp_path / "a.cdl").write_text("\n".join(lines))
    with netCDF4.Dataset(tmp_path / "m.nc", "w") as maps:
        maps.createDimension("x", 4)
        maps.createVariable("low", "i4", ("x",))[:] = [0, 1, 2, -1]
        maps.createVariable("short", "i4", ())[:] = 0
    run = bench("-workload", "file:a.cdl", "-repeat", 1, ranks=ranks, status=2)
    assert "error: file 'a.cdl'" in run.err and words in run.err, run.err


@pytest.mark.parametrize("workload, scale", [("e3sm:F", "0.034,lev=0.034"), ("e3sm:I", "0.034")])
def test_many_small_blocks_fill_the_same_file(bench, tmp_path, workload, scale):
    """Servers get them together in messages; layouts move a variable that is larger than their
    buffers as a whole."""
    methods = (
        "serial/transport=sync,direct,direct/auto/transport=sync/ranks_per_node=1/buffer=4KiB,"
        "pnetcdf/transport=sync")
    bench("-workload", workload, "-scale", scale, "-variables", 8, "-methods", methods, "-repeat",
          1, "-records", 2,
          "-io_transport", "async:1", "-keep", "-report", "out.json", ranks=4, status=0)
    out = report(tmp_path)
    files = [(tmp_path / "nunatak-io.files" / f"method{k}.nc").read_bytes() for k in (0, 1, 2)]
    assert files[1] == files[0] and files[2] == files[0]
    servers = out["methods"][1]
    assert servers["messages"] <= 3 * 2 * 2 * 8 and servers["verified_values"] > 0


def test_each_method_comes_after_each_other_once(bench, tmp_path):
    """What comes before a method costs it time. 0: raw writes."""
    bench("-workload", "pism:A10km", "-scale", "0.01,z=0.01", "-methods", "direct,serial,null",
          "-repeat", 3, "-report", "out.json", status=0)
    rows = report(tmp_path)["sequence"]
    assert [sorted(row) for row in rows] == 4 * [[0, 1, 2, 3]]
    assert len({pair for row in rows for pair in zip(row, row[1:])}) == 12


def test_too_many_collective_calls_are_refused(bench):
    run = bench("-workload", "e3sm:F", "-scale", 0.05, "-methods", "netcdf4", "-repeat", 1, ranks=2)
    assert (run.status == 2 and "expected at most 20000 blocks" in run.err and
            "netcdf4/box:1" in run.err), run.text


def test_the_report(bench, tmp_path):
    bench("-workload", "pism:G5km", "-scale", "0.05,z=0.05", "-methods",
          "serial,pnetcdf/hints=cb_nodes=1,cb_buffer_size=65536,null", "-repeat", 3, "-records", 2,
          "-compute", "50ms", "-read", "each,serial,parallel", "-io_header", "64KiB", "-report",
          "out.json", ranks=2, status=0)
    written_report = report(tmp_path)
    assert written_report["workload"]["runs_per_rank"]["sum"] > 0
    # 561, 301 and 201 are odd
    assert written_report["workload"]["dimensions"] == {"y": 29, "x": 15, "z": 11}
    assert written_report["repetitions"] == 3 and written_report["warm_up_dropped"] is True
    assert (written_report["host"]["ranks"] == 2 and
            {"NetCDF-C", "PnetCDF"} <= set(written_report["host"]["libraries"]))
    assert written_report["file_system"]["free_bytes"] > 0 and written_report["file_system"]["type"]
    raw = written_report["raw"]["seconds"]
    assert (raw["min"] <= raw["q1"] <= raw["median"] <= raw["q3"] <= raw["max"] and
            len(raw["all"]) == 3)
    serial, pnetcdf, null = written_report["methods"]
    assert (pnetcdf["options"]["hints"] == "cb_buffer_size=65536,cb_nodes=1" and
            serial["options"]["header"] == "64KiB")
    assert pnetcdf["hints"]["mpi_io"] in ("ROMIO", "OMPIO")
    for method in written_report["methods"]:
        assert (list(method["phases"]) == PHASES and
                all(method["phases"][p]["max_s"] >= 0 for p in PHASES))
        assert method["fraction_of_raw"] == pytest.approx(
            raw["median"] / method["seconds"]["median"], rel=1e-12)
        assert method["fraction_of_raw_paired"]["all"] == pytest.approx(
            [a / b for a, b in zip(raw["all"], method["seconds"]["all"])], rel=1e-12)
        assert method["compute_seconds"] > 0.02  # one pause of 50 ms, on a busy machine
        for key in ("written_bytes", "written_operations", "moved_bytes", "messages",
                    "message_bytes", "off_node_bytes"):
            assert method[key] >= 0
    for by in ("each", "serial", "parallel"):
        assert (serial["reads"][by]["bytes"] == pnetcdf["reads"][by]["bytes"] > 100000 and
                serial["reads"][by]["seconds"]["min"] > 0)
    assert list(serial["reads"]) == ["each", "parallel", "serial"] and "reads" not in null
    assert serial["phases"]["post"]["bytes"] == serial["payload_bytes"]


def limits(bench, tmp_path, card, server):
    """{method: report} of 18 x 18 points and 9 levels on two nodes of a rank, with two storage
    servers."""
    bench("-workload", "pism:A10km", "-scale", "0.03,z=0.03", "-methods",
          "direct/native,serial,direct/zslab,netcdf4,null", "-repeat", 1,
          "-io_ranks_per_node", 1, "-io_stripe", 4096, "-servers", 2, "-card_rate", card,
          "-server_rate", server, "-report", "out.json", ranks=2, status=0)
    return {method["method"]: method for method in report(tmp_path)["methods"]}


def test_the_limit_of_cards_and_servers_by_hand(bench, tmp_path):
    cards = limits(bench, tmp_path, 1e6, 1e12)
    points, levels = 18 * 18, 9
    # by rank 0: with the time and the number of records
    coordinates = 8 * (18 + 18 + levels) + 8 + 4
    # of each rank: two fixed maps, a mask of bytes, 28 maps, 2 columns
    halves = points * (2 * 8 + 1 + 28 * 8 + 2 * levels * 8) / 2
    assert cards["direct/native"]["limit_s"] * 1e6 == pytest.approx(halves + coordinates)
    # rank 0 sends all to the servers
    assert cards["serial"]["limit_s"] * 1e6 == pytest.approx(2 * halves + coordinates, abs=4)
    for method in ("direct/native", "serial", "direct/zslab"):
        one = cards[method]
        assert one["limit_s"] <= (2 * halves + coordinates) / 1e6
        assert one["fraction_of_limit"] == pytest.approx(one["limit_s"] / one["seconds"]["median"])
    assert "limit_s" not in cards["netcdf4"] and "limit_s" not in cards["null"]
    servers = limits(bench, tmp_path, 1e12, 1e6)
    # stripes in turn: half of the bytes each, but for a stripe
    for method in ("direct/native", "serial", "direct/zslab"):
        assert servers[method]["limit_s"] * 1e6 == pytest.approx(halves + coordinates / 2,
                                                                 abs=4096 + coordinates)


@pytest.mark.parametrize("name, paper", [("G1km", 28), ("A10km", 1.8), ("G5km", 1.1)])
def test_the_bytes_of_a_grid_are_those_of_its_paper(name, paper):
    """GB of Dickens and Morey, table 1, and the table of perf/README.md, from the header by
    hand."""
    text = next(path for path in (INPUTS / "workloads" / f"pism{end}.cdl"
                                  for end in (f"_{name}", "")) if path.exists()).read_text()
    size = (re.search(rf"size {name} (.*?)[;\"]", text) or
            re.search(r"dimensions:(.*?)variables:", text, re.S))
    lengths = {axis: int(n) for axis, n in re.findall(r"(\w) ?= ?(\d+)", size[1])}
    fixed, record = 0, 0
    for kind, axes, copies in re.findall(
        r"^\t(byte|double) \w+\((.*)\) ;(?:\n\t\t\w+:copies = (\d+))?", text, re.M):
        n = (8 if kind == "double" else 1) * int(copies or 1) * np.prod(
            [lengths[axis] for axis in axes.split(", ") if axis != "time"], dtype=int)
        fixed, record = (fixed, record + n) if "time" in axes else (fixed + n, record)
    assert float(f"{(fixed + record) / 1e9:.2g}") == paper
    assert str(record) in (INPUTS.parent / "perf" / "README.md").read_text()


def test_raw_writes_alone(bench, tmp_path):
    run = bench("-workload", "pism:G5km", "-scale", "0.03,z=0.03", "-methods", "null", "-repeat", 1,
                status=0)
    assert ("scale 0.03,z=0.03 (not the size of that name): y = 17, x = "
            "9, z = 7," in run.out.splitlines()[0])
    bench("-raw", 5000001, "-repeat", 2, "-report", "out.json", ranks=3, status=0)
    raw = report(tmp_path)["raw"]
    assert raw["bytes"] == 5000001 and len(raw["seconds"]["all"]) == 2 and raw["seconds"]["min"] > 0
    assert (len(raw["ways"]) == 3 and
            raw["seconds"]["median"] == min(way["seconds"]["median"] for way in raw["ways"]))
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    (tmp_path / "nunatak-io.files").mkdir()
    (tmp_path / "nunatak-io.files" / "raw").touch()  # as a run leaves it
    for words in (("-raw", 500), ("-workload", "pism:G5km", "-scale", 0.03, "-methods", "null")):
        refused = bench(*words, "-report", "nunatak-io.files/out.json", status=2).err
        assert "option -report: expected a file outside of" in refused, refused
        assert (tmp_path / "nunatak-io.files" / "raw").exists()
    (tmp_path / "nunatak-io.files" / "raw").unlink()
    (tmp_path / "nunatak-io.files").rmdir()
    (tmp_path / "mine").mkdir()
    (tmp_path / "nunatak-io.files").symlink_to("mine")
    assert "found a symbolic link" in bench("-raw", 500, status=2).err
    (tmp_path / "nunatak-io.files").unlink()
    (tmp_path / "mine").rename(tmp_path / "nunatak-io.files")
    (tmp_path / "nunatak-io.files" / "thesis.nc").touch()
    assert ("found 'thesis.nc' there" in bench("-raw", 500, status=2).err and
            (tmp_path / "nunatak-io.files" / "thesis.nc").exists())


@pytest.mark.parametrize("arguments, words", [
    ("-workload pism:G2km", ["-workload", "pism:G1km", "or file:NAME", "'pism:G2km'"]),
    ("-workload file:none.nc", ["file 'none.nc': no such file"]),
    ("-scale 0", ["option -scale: expected a number from 1e-6 to 100, found '0'"]),
    ("-scale w=0.5", ["option -scale: expected a dimension, found 'w'"]),
    ("-methods pnetcdf/slabs=2",
     ["pnetcdf/slabs=2", "one of order, format, layout", "stripe, buffer", "; found 'slabs'"]),
    ("-methods serial/zslab", ["option -io_layout", "format serial", "expected native"]),
    ("-methods serial/order=xyz", ["order", "yxz or zyx", "'xyz'"]),
    ("-read backwards", ["-read", "each, serial", "'backwards'"]),
    ("-verify yes", ["-verify", "first|all|no", "'yes'"]),
    ("-workload pism:G1km -scale 100", ["bytes free on the disk", "found", "-scale"]),
    ("-io_formt null", ["unknown option", "did you mean -io_format?"]),
    ("-raw 1e30", ["option -raw", "at most 1e+18"]),
    ("-io_header 3GiB -methods hybrid",
     ["option -io_header: expected a number of bytes", "to 1GiB, found '3GiB'"]),
    ("-io_hints " + 300 * "k" + "=1", ["option -io_hints", "characters"]),
    ("-report nowhere/out.json", ["-report", "nowhere/out.json"]),
    *[(f"-o {place}", [f"option -o: expected a folder, found '{place}'"])
      for place in ("nowhere/deep", "/dev/null")],])
def test_errors(bench, tmp_path, arguments, words):
    run = bench(*arguments.split())
    assert run.status == 2 and run.err.startswith("nunatak-io: error: "), run.text
    for word in words:
        assert word in run.err, (word, run.err)
    assert list(tmp_path.iterdir()) == []
