"""nunatak-io as a user meets it: every workload, read back value by value; what its JSON promises; clear errors."""
import functools
import json

import netCDF4
import numpy as np
import pytest

METHODS = ("pnetcdf", "serial", "pnetcdf/order=yxz", "pnetcdf/order=zyx/header=0/buffer=1KiB", "netcdf4",
        "netcdf4/order=zyx/deflate=1", "hybrid", "direct", "direct/box:1", "direct/calls=mpiio", "pnetcdf/zslab", "netcdf4/box:1",
        "direct/morton:2/stripe=4KiB/ranks_per_node=2", "pnetcdf/file-per-aggregator:1/ranks_per_node=2", "null")
WORKLOADS = {
    "pism:A10km": "-scale 0.03 -scale_levels",
    "cam:FV-B": "-scale 0.06 -scale_levels -variables 9",
    "mom:0.25": "-scale 0.015 -scale_levels",
    "gcrm:5": "-scale 0.125",
    "e3sm:F": "-scale 0.02 -scale_levels -variables 4",
    "e3sm:G": "-scale 0.004 -scale_levels -variables 4",
    "e3sm:I": "-scale 0.05 -scale_levels -variables 4",
    "icon:R2B2": "-scale 0.5 -scale_levels -variables 4",
}
PHASES = ["open", "define", "reserve", "post", "exchange", "stall", "wait", "flush", "close", "checksum", "fsync"]


@pytest.fixture
def bench(tool):
    """bench(*arguments, ranks=n): nunatak-io in a fresh folder."""
    return functools.partial(tool, "io")


def report(folder, name="out.json"):
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("ranks", [None, 3, 6])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_value_of_every_workload(bench, tmp_path, workload, ranks):
    scattered = workload[:4] in ("e3sm", "icon")  # thousands of collective calls take long
    methods = tuple(m for m in METHODS if not (scattered and ("buffer=1KiB" in m or "deflate" in m)))
    run = bench("-workload", workload, *WORKLOADS[workload].split(), "-methods", ",".join(methods), "-repeat", 1, "-records", 2,
                "-card_rate", 1e30, "-servers", 1, "-server_rate", 1e9, "-report", "out.json", ranks=ranks, status=0)
    written_report = report(tmp_path)
    written = written_report["workload"]["fixed_bytes"] + 2 * written_report["workload"]["bytes_per_record"]
    assert written == written_report["raw"]["bytes"] > 1000
    assert [method["method"] for method in written_report["methods"]] == list(methods)
    written_values = {method["verified_values"] for method in written_report["methods"] if not method["not_read"]}
    assert len(written_values) == 1 and written_values.pop() * 8 > written / 2
    for method in written_report["methods"]:
        assert method["payload_bytes"] == written
        has_plan = method["options"]["layout"] in ("native", "default") or method["method"].startswith("direct")
        if has_plan and method["options"]["format"] in ("serial", "pnetcdf", "hybrid", "direct"):  # all of it, and the number of records
            assert -0.5 < method["limit_s"] * 1e9 - written < 20
        else:
            assert "limit_s" not in method
        if method["options"]["format"] == "null":
            assert method["verified_values"] == method["file_bytes"] == 0 and method["not_read"] == {"each": "there is no file"}
        elif "aggregator" in method["method"]:
            assert method["verified_values"] > 0 and method["join_seconds"]["median"] > 0  # read from the joined file
        elif method["options"]["format"] in ("serial", "pnetcdf", "hybrid", "direct"):
            assert written < method["file_bytes"] < written + 60000
        else:
            assert method["file_bytes"] > 1000
    assert not (tmp_path / "nunatak-io.files").exists()
    if ranks == 6:  # land is there to leave a rank without cells
        assert (written_report["workload"]["memory_per_rank"]["min"] == 0) == (workload == "mom:0.25")
        assert written_report["host"]["oversubscribed"] == ("for correctness, not for times" in run.out)


def test_runs_of_a_rank(bench, tmp_path):
    """Four elements a rank, as E3SM on 21600: 36 to 38 columns, each a run. ICON's pieces begin and end within runs of the file."""
    bench("-workload", "e3sm:F", "-scale", 2 / 120, "-methods", "null", "-repeat", 1, "-report", "f.json", ranks=6, status=0)
    f = report(tmp_path, "f.json")["workload"]
    maps = 321 + 63 * 72
    assert f["dimensions"]["ncol"] == 218 and f["runs_per_rank"]["sum"] == 218 * maps
    assert 35 * maps <= f["runs_per_rank"]["min"] <= f["runs_per_rank"]["max"] <= 38 * maps
    bench("-workload", "icon:R2B3", "-methods", "null", "-repeat", 1, "-report", "i.json", ranks=6, status=0)
    icon = report(tmp_path, "i.json")["workload"]
    assert icon["dimensions"]["ncells"] == 80 * 4**3
    assert 5 < icon["runs_per_rank"]["sum"] / 6 / (12 + 8 * 47) < 80 * 4**3 / 6 / 4


@pytest.mark.parametrize("workload", ["e3sm:F", "e3sm:I"])
def test_many_small_blocks_fill_the_same_file(bench, tmp_path, workload):
    """Servers get them together in messages; layouts move a variable that is larger than their buffers as a whole."""
    methods = ("serial/transport=sync,direct,direct/auto/transport=sync/ranks_per_node=1/buffer=4KiB,"
               "pnetcdf/transport=sync")
    bench("-workload", workload, "-scale", 0.034, "-scale_levels", "-variables", 8, "-methods", methods, "-repeat", 1, "-records", 2,
          "-io_transport", "async:1", "-keep", "-report", "out.json", ranks=4, status=0)
    out = report(tmp_path)
    files = [(tmp_path / "nunatak-io.files" / f"method{k}.nc").read_bytes() for k in (0, 1, 2)]
    assert files[1] == files[0] and files[2] == files[0]
    servers = out["methods"][1]
    assert servers["messages"] <= 3 * 2 * 2 * 8 and servers["verified_values"] > 0


def test_too_many_collective_calls_are_refused(bench):
    run = bench("-workload", "e3sm:F", "-scale", 0.05, "-methods", "netcdf4", "-repeat", 1, ranks=2)
    assert run.status == 2 and "expected at most 20000 blocks" in run.err and "netcdf4/box:1" in run.err, run.text


def test_the_report(bench, tmp_path):
    bench("-workload", "pism:G5km", "-scale", 0.05, "-scale_levels", "-methods", "serial,pnetcdf/hints=cb_nodes=1,cb_buffer_size=65536,null",
          "-repeat", 3, "-records", 2, "-compute", "50ms", "-read", "each,serial,parallel", "-io_header", "64KiB", "-report",
          "out.json", ranks=2, status=0)
    written_report = report(tmp_path)
    assert written_report["workload"]["runs_per_rank"]["sum"] > 0
    assert written_report["workload"]["dimensions"] == {"y": 29, "x": 15, "z": 11}  # 561, 301 and 201 are odd
    assert written_report["repetitions"] == 3 and written_report["warm_up_dropped"] is True
    assert written_report["host"]["ranks"] == 2 and {"NetCDF-C", "PnetCDF"} <= set(written_report["host"]["libraries"])
    assert written_report["file_system"]["free_bytes"] > 0 and written_report["file_system"]["type"]
    raw = written_report["raw"]["seconds"]
    assert raw["min"] <= raw["q1"] <= raw["median"] <= raw["q3"] <= raw["max"] and len(raw["all"]) == 3
    serial, pnetcdf, null = written_report["methods"]
    assert pnetcdf["options"]["hints"] == "cb_buffer_size=65536,cb_nodes=1" and serial["options"]["header"] == "64KiB"
    assert pnetcdf["hints"]["mpi_io"] in ("ROMIO", "OMPIO")
    for method in written_report["methods"]:
        assert list(method["phases"]) == PHASES and all(method["phases"][p]["max_s"] >= 0 for p in PHASES)
        assert method["fraction_of_raw"] == pytest.approx(raw["median"] / method["seconds"]["median"], rel=1e-12)
        assert method["fraction_of_raw_paired"]["all"] == pytest.approx(
            [a / b for a, b in zip(raw["all"], method["seconds"]["all"])], rel=1e-12)
        assert method["compute_seconds"] > 0.02  # one pause of 50 ms, on a busy machine
        for key in ("written_bytes", "written_operations", "moved_bytes", "messages", "message_bytes", "off_node_bytes"):
            assert method[key] >= 0
    for by in ("each", "serial", "parallel"):
        assert serial["reads"][by]["bytes"] == pnetcdf["reads"][by]["bytes"] > 100000 and serial["reads"][by]["seconds"]["min"] > 0
    assert list(serial["reads"]) == ["each", "parallel", "serial"] and "reads" not in null
    assert serial["phases"]["post"]["bytes"] == serial["payload_bytes"]


def limits(bench, tmp_path, card, server):
    """{method: report} of 18 x 18 points and 9 levels on two nodes of a rank, with two storage servers."""
    bench("-workload", "pism:A10km", "-scale", 0.03, "-scale_levels", "-methods", "direct/native,serial,direct/zslab,netcdf4,null", "-repeat", 1,
          "-io_ranks_per_node", 1, "-io_stripe", 4096, "-servers", 2, "-card_rate", card, "-server_rate", server, "-report", "out.json", ranks=2,
          status=0)
    return {method["method"]: method for method in report(tmp_path)["methods"]}


def test_the_limit_of_cards_and_servers_by_hand(bench, tmp_path):
    cards = limits(bench, tmp_path, 1e6, 1e12)
    points, levels = 18 * 18, 9
    coordinates = 8 * (18 + 18 + levels) + 8 + 4  # by rank 0: with the time and the number of records
    halves = points * (2 * 8 + 1 + 12 * 8 + 6 * levels * 8) / 2  # of each rank: two fixed maps, a mask of bytes, 12 maps, 6 columns
    assert cards["direct/native"]["limit_s"] * 1e6 == pytest.approx(halves + coordinates)
    assert cards["serial"]["limit_s"] * 1e6 == pytest.approx(2 * halves + coordinates, abs=4)  # rank 0 sends all to the servers
    for method in ("direct/native", "serial", "direct/zslab"):
        one = cards[method]
        assert one["limit_s"] <= (2 * halves + coordinates) / 1e6
        assert one["fraction_of_limit"] == pytest.approx(one["limit_s"] / one["seconds"]["median"])
    assert "limit_s" not in cards["netcdf4"] and "limit_s" not in cards["null"]
    servers = limits(bench, tmp_path, 1e12, 1e6)
    for method in ("direct/native", "serial", "direct/zslab"):  # stripes in turn: half of the bytes each, but for a stripe
        assert servers[method]["limit_s"] * 1e6 == pytest.approx(halves + coordinates / 2, abs=4096 + coordinates)


def test_what_is_in_the_file(bench, tmp_path):
    bench("-workload", "pism:G5km", "-scale", 0.03, "-scale_levels", "-methods", "serial,pnetcdf/order=zyx", "-repeat", 1,
          "-records", 2, "-keep", "-verify", "no", ranks=3, status=0)
    folder = tmp_path / "nunatak-io.files"
    assert sorted(p.name for p in folder.iterdir()) == ["manifest.jsonl", "method0.nc", "method1.nc"]
    with netCDF4.Dataset(folder / "method0.nc") as a, netCDF4.Dataset(folder / "method1.nc") as b:
        assert a["uvel"].dimensions == ("time", "y", "x", "z") and b["uvel"].dimensions == ("time", "z", "y", "x")
        assert np.array_equal(a["uvel"][:].transpose(0, 3, 1, 2), b["uvel"][:])
        number = list(a.variables).index("uvel") - 1  # time is no variable of the workload
        place = np.arange(a["uvel"][0].size).reshape(a["uvel"][0].shape)
        for record in (0, 1):
            assert np.array_equal(a["uvel"][record].filled(), 2.0**43 * record + 2.0**33 * number + place)
        assert a["mask"].dtype == np.int8 and len(np.unique(a["mask"][:])) > 50
        assert a["x"][1] - a["x"][0] == 5000


def test_raw_writes_alone(bench, tmp_path):
    run = bench("-workload", "pism:G5km", "-scale", 0.03, "-scale_levels", "-methods", "null", "-repeat", 1, status=0)
    assert "scale 0.03 (not the size of that name: 301 x 561 x 201," in run.out.splitlines()[0]
    bench("-raw", 5000001, "-repeat", 2, "-report", "out.json", ranks=3, status=0)
    raw = report(tmp_path)["raw"]
    assert raw["bytes"] == 5000001 and len(raw["seconds"]["all"]) == 2 and raw["seconds"]["min"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "nunatak-io.files").symlink_to("mine")
    assert "found a symbolic link" in bench("-raw", 500, status=2).err
    (tmp_path / "nunatak-io.files").unlink()
    (tmp_path / "mine").rename(tmp_path / "nunatak-io.files")
    (tmp_path / "nunatak-io.files" / "thesis.nc").touch()
    assert "found 'thesis.nc' there" in bench("-raw", 500, status=2).err and (tmp_path / "nunatak-io.files" / "thesis.nc").exists()


@pytest.mark.parametrize("arguments, words", [
    ("-workload pism:G2km", ["-workload", "pism:G5km, pism:A10km or pism:G1km", "'pism:G2km'"]),
    ("-workload roms:1", ["-workload", "cam:", "'roms:1'"]),
    ("-workload e3sm:H", ["-workload", "e3sm:F, e3sm:G or e3sm:I", "'e3sm:H'"]),
    ("-workload icon:R3B7", ["-workload", "icon:R2B", "'icon:R3B7'"]),
    ("-methods pnetcdf/slabs=2", ["pnetcdf/slabs=2", "one of order, format, layout", "stripe, buffer", "; found 'slabs'"]),
    ("-methods serial/zslab", ["option -io_layout", "format serial", "expected native"]),
    ("-methods serial/order=xyz", ["order", "yxz or zyx", "'xyz'"]),
    ("-read backwards", ["-read", "each, serial", "'backwards'"]),
    ("-verify yes", ["-verify", "first|all|no", "'yes'"]),
    ("-workload pism:G1km -scale 100", ["bytes free on the disk", "found", "-scale"]),
    ("-io_formt null", ["unknown option", "did you mean -io_format?"]),
    ("-raw 1e30", ["option -raw", "at most 1e+18"]),
    ("-io_header 3GiB -methods hybrid", ["option -io_header: expected at most 1GiB"]),
    ("-io_hints " + 300 * "k" + "=1", ["option -io_hints", "characters"]),
    ("-report nowhere/out.json", ["-report", "nowhere/out.json"]),
    *[(f"-o {place}", [f"option -o: expected a folder, found '{place}'"]) for place in ("nowhere/deep", "/dev/null")],
])
def test_errors(bench, tmp_path, arguments, words):
    run = bench(*arguments.split())
    assert run.status == 2 and run.err.startswith("nunatak-io: error: "), run.text
    for word in words:
        assert word in run.err, (word, run.err)
    assert list(tmp_path.iterdir()) == []
