"""libnunatak_trace.so as a user meets it, and the figures of perf/plot_trace.py on a trace whose
figures are known."""
import csv
import json
import os
import subprocess
import sys

import pytest

PLOT = os.path.join(os.environ.get("NUNATAK_SOURCE", "."), "perf", "plot_trace.py")
HEADER = "rank,operation,file,offset,bytes,start,end"


def figures(folder, lines, *arguments):
    """What plot_trace.py says of a trace."""
    (folder / "t.csv").write_text(
        "# by hand\n" + HEADER + "\n" + "".join(f"{line}\n" for line in lines))
    done = subprocess.run([sys.executable, PLOT, "t.csv", "--json", "t.json", *arguments],
                          cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "t.json").read_text())


def test_figures(tmp_path):
    found = figures(tmp_path, [
        "0,open,a,0,0,0.0,0.5",
        "1,open,a,0,0,0.0,0.25",
        "0,write,a,0,100,1.0,1.5",      # begins and ends on a multiple of 100
        "1,write,a,100,50,1.0,1.25",    # begins
        "1,read,a,0,200,1.3,1.4",
        "2,write,a,150,50,1.6,1.7",     # ends
        "1,write,a,80,120,2.0,2.5",     # ends; all of it for the second time
        "0,write,b,310,1,2.0,2.1",
        "2,write,b,311,-1,2.0,2.1",     # failed
        "0,read,a,0,200,3.0,3.1",
        "0,sync,a,0,0,3.1,4.0",
        "0,close,a,0,0,4.0,4.0",
    ], "--stripe", "100")
    assert (found["files"] == ["a", "b"] and found["ranks"] == 3 and
            found["span_seconds"] == 4.0 and found["failed"] == 1)
    assert found["operations"] == {"open": 2, "read": 2, "write": 5, "seek": 0, "sync": 1,
                                   "truncate": 0, "close": 1}
    assert found["written_bytes"] == 321 and found["read_bytes"] == 400
    assert found["writes_aligned"] == {
        "begin": {"of_number": 2 / 5, "of_bytes": 150 / 321},
        "end": {"of_number": 3 / 5, "of_bytes": 270 / 321},
        "both": {"of_number": 1 / 5, "of_bytes": 100 / 321}}
    # a: stripe 0 by ranks 0 and 1, stripe 1 by 1 and 2; b: stripe 3 by 0
    assert found["stripes"] == {"1": 1, "2": 2, "3+": 0}
    assert (found["rewritten_bytes"] == 120 and
            found["moved_over_payload"] == pytest.approx(321 / 201))
    assert found["write_sizes"] == {"1": 1, "32": 2, "64": 2} and found["read_sizes"] == {"128": 2}
    assert found["seconds"]["write"] == pytest.approx({"0": 0.6, "1": 0.75, "2": 0.2})
    assert found["seconds"]["open"] == {"0": 0.5, "1": 0.25, "2": 0.0}


def test_three_ranks_in_a_stripe_and_truncation(tmp_path):
    lines = ["0,write,a,0,40,0.0,0.1", "1,write,a,40,20,0.0,0.1", "2,write,a,60,60,0.0,0.1",
             "0,truncate,a,50,0,0.2,0.2", "0,write,a,30,30,0.3,0.4"]  # 20 again, 10 anew
    found = figures(tmp_path, lines, "--stripe", "100B")
    assert found["stripes"] == {"1": 1, "2": 0, "3+": 1}
    assert found["rewritten_bytes"] == 20 and found["moved_over_payload"] == 150 / 130
    assert figures(tmp_path, lines)["stripe_bytes"] == 2**20


def test_picture_of_one_file(tmp_path):
    lines = ["0,write,a,0,40,0.0,0.1", "1,read,b,0,4000000,0.0,0.1"]
    assert figures(tmp_path, lines, "--file", "b", "--plot", "t.png")["files"] == ["b"]
    assert (tmp_path / "t.png").stat().st_size > 10000


@pytest.mark.parametrize("text, expected", [("rank,op\n", "expected the header"),
                                            (HEADER + "\n0,write,a\n", "expected 7 fields"),
                                            (HEADER + "\n0,wirte,a,0,1,0,1\n", "found 'wirte'")])
def test_bad_trace(tmp_path, text, expected):
    (tmp_path / "t.csv").write_text(text)
    done = subprocess.run([sys.executable, PLOT, "t.csv"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and expected in done.stderr and "Traceback" not in done.stderr


@pytest.fixture
def traced(nunatak, tmp_path):
    """traced(*options, ranks): the rows of the trace of a run."""
    library = os.environ.get("NUNATAK_TRACE_LIBRARY")
    if not library:
        pytest.skip("this build has no libnunatak_trace.so")

    def call(*options, ranks, status=0):
        run = nunatak(*options, ranks=ranks,
                      environment={"LD_PRELOAD": library, "NUNATAK_TRACE": str(tmp_path / "t.csv")})
        assert run.status == status, run.text
        with open(tmp_path / "t.csv", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))
    return call


def written(rows, name):
    """(number of writes, their bytes, the highest end)"""
    calls = [r for r in rows if r["file"].endswith(name) and r["operation"] == "write"]
    return (len(calls), sum(int(r["bytes"]) for r in calls),
            max(int(r["offset"]) + int(r["bytes"]) for r in calls))


def covered(rows, name):
    """The bytes of a file that writes have, each once."""
    at = found = 0
    for begin, end in sorted((int(r["offset"]), int(r["offset"]) + int(r["bytes"])) for r in rows
                             if r["file"].endswith(name) and r["operation"] == "write"):
        found += max(0, end - max(begin, at))
        at = max(at, end)
    return found


@pytest.mark.parametrize(
    "way", ["direct", "direct/zslab", "direct/calls=mpiio", "serial", "pnetcdf", "hybrid"])
def test_trace_of_a_run(traced, tmp_path, way):
    """Every byte of every file that the run wrote is in the trace, and was written once; nothing
    else is in it."""
    io_format, *rest = way.split("/")
    more = ({"zslab": ("-io_layout", "zslab"), "calls=mpiio": ("-io_calls", "mpiio")}[rest[0]]
            if rest else ())
    rows = traced("-init", "dome", "-grid_Mx", 61, "-run_steps", 2, "-o", "ex.nc",
                  "-timeseries_file", "ts.nc", "-io_format", io_format, *more, ranks=2)
    assert {r["file"] for r in rows} == {"ex.nc.tmp", "ts.nc.tmp"}
    assert {r["rank"] for r in rows} == ({"0"} if way == "serial" else {"0", "1"})
    for name in ("ex.nc", "ts.nc"):
        assert written(rows, name + ".tmp")[2] == (tmp_path / name).stat().st_size
    _, total, size = written(rows, "ex.nc.tmp")
    assert covered(rows, "ex.nc.tmp") > 0.98 * size  # but for gaps before aligned values
    # NetCDF-C reads and writes again what surrounds a put
    assert total < 1.02 * size or way == "serial"


def test_the_writes_of_direct_are_those_of_its_report(traced, tmp_path):
    rows = traced("-init", "dome", "-grid_Mx", 31, "-run_steps", 1, "-o", "ex.nc", "-report",
                  "r.json", ranks=2)
    work = json.loads((tmp_path / "r.json").read_text())["output"]
    number, _, _ = written([r for r in rows if r["rank"] == "1"], "ex.nc.tmp")
    assert 0 < number < work["written_operations"]
    of_0 = [r["operation"] for r in rows if r["rank"] == "0"]
    # NetCDF-C has written the header, and closes the file
    header = of_0.index("close", of_0.index("write"))
    after = [r for r in rows if r["rank"] == "0"][header:] + [r for r in rows if r["rank"] == "1"]
    number, total, _ = written(after, "ex.nc.tmp")
    assert (number, total) == (work["written_operations"], work["written_bytes"])


def test_trace_covers_the_servers(traced, tmp_path):
    rows = traced("-init", "dome", "-grid_Mx", 31, "-run_steps", 1, "-o", "ex.nc", "-io_transport",
                  "async:1", ranks=3)
    assert {r["rank"] for r in rows if r["operation"] == "write"} == {"2"}
    assert written(rows, "ex.nc.tmp")[2] == (tmp_path / "ex.nc").stat().st_size


def test_trace_of_a_run_that_fails(traced, tmp_path):
    """Its last file, with the state at which the solve failed, is in the trace."""
    rows = traced("-init", "shelf", "-grid_Mx", 31, "-ssa_max_steps", 1, "-ssa_failed_file",
                  "bad.nc", ranks=2, status=2)
    assert written(rows, "bad.nc.tmp")[2] == (tmp_path / "bad.nc").stat().st_size
