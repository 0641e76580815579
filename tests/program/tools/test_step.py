"""nunatak-step as a user meets it: the same fields and the same messages on processes and on
virtual ranks; and every table that the pages call counted against the program."""
import csv
import functools
import json
import os
import pathlib
import re
import shlex
import tempfile

import pytest
from conftest import FOLDER, run_program

GRID = ("-grid_dx", "100000", "-grid_Mz", "6", "-ssa_multigrid_gather", "200")


def found(folder, *arguments, ranks=None):
    run_program("nunatak-step", *GRID, *arguments, "-report", "found.json", cwd=folder, ranks=ranks,
                status=0)
    return json.loads((folder / "found.json").read_text())


def test_processes_send_what_virtual_ranks_send(tmp_path):
    virtual = found(tmp_path, "-virtual_ranks", "1,2,3,4,8x8", "-steps", "2")
    for ranks in (1, 2, 3, 4):
        real = found(tmp_path, "-steps", "2", ranks=ranks)
        assert (real["fields"] == virtual["fields"] and real["records"][-1]["wall_s"] ==
                pytest.approx(sum(r["wall_s"] for r in real["records"][:-1])))
        expected = [r for r in virtual["records"] if r["ranks"] == ranks]
        assert ([r["part"] for r in real["records"]] == [r["part"] for r in expected] and
                len(expected) == 8)
        for a, b in zip(real["records"], expected):
            for key in ("exchanges", "messages", "bytes", "collectives"):
                assert a[key] == b[key], (key, a, b)
            assert a["loggp_s"] is None and b["loggp_s"] > 0.0


# the side of the continent is a multiple of the first
@pytest.mark.parametrize("spacing", ["64000", "100000"])
def test_the_steps_are_those_of_nunatak(tmp_path, spacing):
    """The same continent, constants, levels and time steps: solves of the SSA take the same
    iterations and reductions."""
    grid = ("-grid_dx", spacing)
    run_program("nunatak", "-init", "marine", *GRID, *grid, "-run_steps", "3", "-report",
                "run.json", cwd=tmp_path, status=0)
    solves = json.loads((tmp_path / "run.json").read_text())["ssa"]["history"][:3]
    *parts, step = found(tmp_path, *grid, "-steps", "3")["records"]
    step["reductions"] = next(part["collectives"]
                              for part in parts if part["part"] == "stress balance: SSA")
    for key, name in (("steps", "nonlinear_steps"), ("linear_iterations", "linear_iterations"),
                      ("reductions", "reductions")):
        assert sum(solve[key] for solve in solves) == step[name] > 0, key


@pytest.mark.skipif("NUNATAK_LAUNCHES_LIBRARY" not in os.environ,
                    reason="this build has no libnunatak_launches.so")
def test_launches_of_each_part(tmp_path):
    """By a tool of Kokkos, for which parts are regions."""
    run_program("nunatak-step", *GRID, "-steps", "3", cwd=tmp_path, status=0,
                environment={"KOKKOS_TOOLS_LIBS": os.environ["NUNATAK_LAUNCHES_LIBRARY"],
                             "NUNATAK_LAUNCHES": str(tmp_path / "l.csv")})
    counts = {tuple(row.values())[:3]: int(row["count"])
              for row in csv.DictReader((tmp_path / "l.csv").read_text().splitlines())}
    assert counts["energy", "launch", "temperature"] == counts["mass transport", "launch",
                                                               "update thickness"] == 3
    assert all(sum(counts[key] for key in counts if key[:2] == ("stress balance: SSA", what)) > 30
               for what in ("launch", "wait"))


@pytest.mark.parametrize("steps", ["1", "3"])
def test_collectives_outside_the_ssa(tmp_path, steps):
    """At most 25 in a step, setting up included, on any number of ranks."""
    for r in found(tmp_path, "-virtual_ranks", "1,6,64", "-steps", steps)["records"]:
        if r["part"] == "step":
            assert r["collectives"] - ssa <= 25 * int(steps), r
        elif r["part"] == "stress balance: SSA":
            ssa = r["collectives"]


@pytest.mark.parametrize("arguments, ranks, words",
                         [(("-virtual_ranks", "2"), 2, "expected one process, found 2"),
                          (("-virtual_ranks", "100x1"), None, "cannot be cut into 100 x 1"),
                          (("-grid_dx", "1"), None, "-grid_dx"),
                          (("-ocean", "true"), None, "expected one of auto|pico|none"),
                          (("-report", "nowhere/x.json"), None, "nowhere/x.json"),
                          (("-halo", "dmda"), None, "expected packed without -virtual_ranks"),
                          (("-machine", "none.json"), None, "file 'none.json': cannot be read"),
                          (("-output", "direct"), None, "option -output: expected -virtual_ranks"),
                          (("-output", "direct", "-refine", "2", "-virtual_ranks", "2"), None,
                           "option -refine: expected -output_every"),])
def test_refused(tmp_path, arguments, ranks, words):
    run = run_program("nunatak-step", "-grid_dx", "100000", *arguments, cwd=tmp_path, ranks=ranks)
    assert run.status == 2 and words in run.err, run.text


def test_methods_of_pism_have_the_same_fields_and_more_messages(tmp_path):
    ours, theirs = (found(tmp_path, "-virtual_ranks", "4x4", *words)
                    for words in ((), ("-halo", "dmda", "-pico_batch", "no", "-pico_skip_unchanged",
                                       "no", "-pico_distance", "sweep")))
    assert ours["fields"] == theirs["fields"]
    for a, b in zip(ours["records"], theirs["records"]):
        assert (a["part"] == b["part"] and a["messages"] <= b["messages"] and
                a["collectives"] <= b["collectives"])
        if a["part"] == "mass transport":  # the same ghosts
            assert a["bytes"] == b["bytes"] and 0 < a["messages"] < b["messages"]
        if a["part"] == "ocean":
            assert b["collectives"] > 60


def modelled(folder, ranks, methods, *more):
    """{method: record of its output}; skipped in a build without NetCDF, which says so."""
    words = ("-grid_dx", "80000", "-grid_Mz", "6", "-virtual_ranks", ranks, "-output", methods,
             *more, "-report", "found.json")
    run = run_program("nunatak-step", *words, cwd=folder)
    if "built without NetCDF" in run.text:
        assert run.status == 2
        pytest.skip("no NetCDF")
    return {r["method"]: r for r in json.loads((folder / "found.json").read_text())["output"]}


def test_queues_by_hand(tmp_path):
    """Two nodes with cards of 1 MB/s, one storage server of 0.5 MB/s; all else takes no time."""
    machine = {**found(tmp_path, "-virtual_ranks", "1")["machine"], "L_s": 0, "o_s": 0, "g_s": 0}
    output = {"card_rate": 1e6, "server_rate": 5e5, "copy_rate": 1e30, "write_call_s": 0,
              "file_s": 0}
    (tmp_path / "machine.json").write_text(json.dumps({"machine": machine, "output": output}))
    for key, bad in (("server_rate", 0), ("file_s", "long")):
        (tmp_path / "bad.json").write_text(json.dumps({"machine": machine, "output": {key: bad}}))
        run = run_program("nunatak-step", "-virtual_ranks", "2", "-output", "serial", "-machine",
                          "bad.json", cwd=tmp_path)
        assert run.status == 2 and ("built without NetCDF" in run.text or "file 'bad.json', "
                                    f"output, {key}: expected" in run.text), run.text
    r = modelled(tmp_path, "2", "direct/native,serial,async:1", "-ranks_per_node", "1", "-servers",
                 "1", "-machine", "machine.json")
    # the server is busy that long
    size = {method: record["written_bytes"] / 5e5 for method, record in r.items()}
    sent = {method: record["message_bytes"] / 1e6 for method, record in r.items()}  # to one card
    assert r["direct/native"]["output_s"] == pytest.approx(size["direct/native"])
    assert (r["serial"]["output_s"] == pytest.approx(size["serial"] + sent["serial"]) and
            sent["serial"] > 0)
    assert (r["async:1"]["output_s"] == pytest.approx(0) and
            r["async:1"]["drain_s"] == pytest.approx(sent["async:1"] + size["async:1"]))
    for method, one in r.items():
        assert one["least_s"] == pytest.approx(size[method])  # twice as long as the busiest card
        assert one["run_s"] == pytest.approx(one["compute_s"] + one["output_s"] + one["drain_s"])
        assert one["sypd"] == pytest.approx(86400 * one["years"] / one["run_s"])
        assert one["output_percent"] == pytest.approx(100 * (1 - one["compute_s"] / one["run_s"]))
    assert modelled(tmp_path, "2", "serial", "-ranks_per_node",
                    "2147483647")["serial"]["off_node_bytes"] == 0


@pytest.mark.parametrize("method", ["direct/zslab", "direct/box:1", "direct/morton:1", "serial"])
def test_a_modelled_result_is_the_one_that_is_written(tmp_path, method):
    r = modelled(tmp_path, "4", method, "-ranks_per_node", "2")[method]
    format_name, _, layout = method.partition("/")
    run_program("nunatak", "-init", "marine", "-grid_dx", "80km", "-grid_Mz", "6", "-run_steps",
                "1", "-io_format", format_name, "-io_layout",
                layout or "native", "-io_ranks_per_node", "2", "-o", "x.nc", "-report", "run.json",
                cwd=tmp_path, ranks=4, status=0)
    written = json.loads((tmp_path / "run.json").read_text())["output"]
    for key in ("written_bytes", "messages", "message_bytes", "off_node_bytes"):
        assert r[key] == written[key], key


def counted_tables():
    """A table after "<!-- counted: COMMAND -->". A column -option is added to the command, others
    are keys of its report."""
    for page in sorted((pathlib.Path(__file__).parents[3] / "docs").rglob("*.md")):
        for command, table in re.findall(r"<!-- counted: (.*?) -->\n\n((?:\|.*\n)+)",
                                         page.read_text()):
            head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")]
                              for line in table.splitlines()]
            yield pytest.param(command, head, rows, id=f"{page.stem}: {command}")


@functools.lru_cache
def records_of(*words):
    # a program may be without UDUNITS
    for unit, power in (("km", "e3"), ("us", "e-6"), ("ms", "e-3")):
        words = [re.sub(rf"(?<=\d){unit}$", power, word) for word in words]
    ranks = int(words[2]) if words[0] == "mpiexec" else None
    program, *arguments = words[3:] if ranks else words
    if not (FOLDER / program).exists():
        pytest.skip(f"no {program}")
    with tempfile.TemporaryDirectory() as folder:
        run_program(program, *arguments, "-report", "r.json", cwd=folder, ranks=ranks, status=0)
        report = json.loads((pathlib.Path(folder) / "r.json").read_text())
    if program == "nunatak":
        return [report["messages"]["halo"], report["output"], *report["ssa"].get("history", [])]
    return [{**r, "modelled ms": 1e3 * (r["loggp_s"] or 0),
             "of it work": 1e3 * (r["loggp_work_s"] or 0)}
            for r in report.get("records", report.get("runs"))]


def agrees(cell, value):
    if cell and isinstance(value, (int, float)):
        return float(cell.replace(",", "")) == (float(f"{value:.3g}") if isinstance(value, float)
                                                else value)
    return cell in ("", value)  # "": not counted


def test_the_pages_have_counted_tables():
    assert len(list(counted_tables())) >= 10


@pytest.mark.parametrize("command, head, rows", list(counted_tables()))
def test_counted(command, head, rows):
    keys = [name for name in head if not name.startswith("-")]
    for row in rows:
        cells = dict(zip(head, row))
        options = [word for name in head if name.startswith("-") for word in (name, cells[name])]
        found = [{key: r[key] for key in keys} for r in records_of(*shlex.split(command), *options)
                 if all(key in r for key in keys)]
        assert any(all(agrees(cells[key], r[key]) for key in keys)
                   for r in found), f"expected {cells}, found {found}"
