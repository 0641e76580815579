"""The regression kit: the corpus against scipy, the judge, nine broken solvers that are caught by
name, harnesses in three languages."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import netCDF4
import numpy as np
import pytest
from conftest import FOLDER, run_program, write_arrays

KIT = pathlib.Path(os.environ["NUNATAK_SOURCE"]) / "share/kit"
# of one cell: straight distances are steps
PATHS = ("row", "column", "serpentine", "spiral", "int16_distance")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    run_program("nunatak-distance", "-corpus", folder, status=0)
    return folder


def values(path, variable="distance"):
    with netCDF4.Dataset(path) as data:
        return data[variable][:].filled().astype(int)


def answers(corpus, folder, solve, names=None, **keywords):
    """A folder with the answer of solve(mask) to each case."""
    folder.mkdir()
    for path in sorted(corpus.glob("*.nc")):
        if names is None or path.stem in names:
            write_arrays(folder / path.name, **solve(values(path, "mask"), **keywords))
    return folder


def differing(tmp_path):
    return {c["case"]: c for c in json.loads((tmp_path / "r.json").read_text())["cases"]
            if c["result"] == "differs"}


def test_the_corpus_is_the_same_everywhere(tool, corpus):
    lines = [json.loads(line) for line in (corpus / "manifest.jsonl").read_text().splitlines()]
    sums = "".join(f"{line['name']} {json.dumps(line['sums'], sort_keys=True)}\n" for line in lines)
    assert (hashlib.sha256(sums.encode()).hexdigest() ==
            "ebd202e138bf581073de6a89920d88dc04b135aa0e3e551334deea7a112f7cb7")
    assert tool("verify", corpus).status == 0
    cases = {c["case"]: c for c in json.loads((corpus / "cases.json").read_text())}
    assert ({f"{name}.nc" for name in cases} == {line["name"] for line in lines} and
            all(len(c["catches"]) > 10 for c in cases.values()))
    assert all(cases[name]["largest"] > 2 * max(cases[name]["Mx"], cases[name]["My"])
               for name in ("serpentine", "spiral"))
    assert cases["int16_distance"]["largest"] > 2**15 and cases["int16_label"]["components"] > 2**15
    assert (cases["run"]["components"] == cases["basins"]["components"] == 1 and
            len(np.unique(values(corpus / "basins.nc", "basins"))) == 2)


def test_expected_values_are_those_of_scipy(tool, corpus, tmp_path):
    subprocess.run([sys.executable, KIT / "harness.py", "scipy", tmp_path, *corpus.glob("*.nc")],
                   check=True)
    for name in ("distance", "labels"):
        run = tool(name, "-check", ".")
        assert (run.status == 0 and
                "24 cases: 24 equal, 0 differ, 0 without an answer" in run.out), run.text


def solve(mask, start=1, step=1, corners=False, cut=False, bound=None, wrap=False, shift=0,
          no_way=0, kind=np.int32, drop=0):
    """Distances by a queue, with one error for each keyword."""
    My, Mx = mask.shape
    d, queue = mask.copy(), [tuple(c) for c in np.argwhere(mask == 1)]
    steps = [(a, b) for a in (-1, 0, 1)
             for b in (-1, 0, 1) if (a, b) != (0, 0) and (corners or 0 in (a, b))]
    for j, i in queue:
        for a, b in steps:
            y, x = j + a, i + b
            if wrap:
                y, x = y % My, x % Mx
            if (not (0 <= y < My and 0 <= x < Mx) or d[y, x] != 0 or
                (bound and d[j, i] > bound * max(Mx, My))):
                continue
            if cut and b == 1 and x == (Mx + 1) // 2:
                continue  # the patch in the east never gets the ghosts of its neighbour in the west
            d[y, x] = d[j, i] + step
            queue.append((y, x))
    largest = d.max()
    d = np.where(d > 0, d + shift, np.where((mask >= 0) & (d == 0), no_way, d))
    return {"distance": np.where((d == largest) & (largest > 1), 0, d) if drop
            else d.astype(kind).astype(np.int32)}


MUTANTS = {"off by one": ({"step": 2}, "full row spiral shelves_front"),
           "diagonal steps": ({"corners": True}, "full diagonal shelves_ground"),
           "lost ghost": ({"cut": True}, "full comb row serpentine"),
           "bound": ({"bound": 2}, "comb serpentine spiral int16_distance"),
           "periodic wrap": ({"wrap": True}, "periodic edge"),
           "seed included": ({"shift": -1}, "cell all_seeds full"),
           "no way as outside": ({"no_way": -1}, "no_seed unreached edge neck"),
           "int16": ({"kind": np.int16}, "int16_distance"),
           "one round too few": ({"drop": 1}, "full serpentine row ties")}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_solver_is_caught_by_name(tool, corpus, tmp_path, name):
    error, caught = MUTANTS[name]
    folder = answers(corpus, tmp_path / "a", solve, **error)
    run = tool("distance", "-check", folder, "-report", "r.json")
    found = set(differing(tmp_path))
    assert (run.status == 1 and set(caught.split()) <= found and
            all(case in run.err for case in found)), run.text
    if name in ("bound", "int16"):
        assert found == set(caught.split())  # the others are not to blame
    assert "empty" not in found


def test_what_is_said_about_an_answer(tool, corpus, tmp_path):
    """Cells, kilometres and JUnit of one wrong case; missing answers are another status."""
    def wrong(mask):
        d = solve(mask)["distance"]
        d[2, 3], d[2, 4], d[4, 5] = d[2, 3] + 1, d[2, 4] + 1, -7
        return {"steps": d.astype(float)}
    folder = answers(corpus, tmp_path / "a", wrong, names=("full",))
    words = ("-check", folder, "-expect_variable", "steps", "-cases")
    run = tool("distance", *words, "full", "-report", "r.json")
    assert run.status == 1 and "1 of 1 cases differ: full" in run.err, run.text
    for text in ("3 of 957 cells differ", "row 2, column 3 (x = 3 km, y = 2 km): expected "
                 "6, found 7", "row 4, column 5 (x = 5 km, y = 4 km): expected 10, found -7"):
        assert text in run.out, run.text
    assert differing(tmp_path)["full"]["largest"] == 17
    done = subprocess.run([KIT / "junit.py", tmp_path / "r.json"], capture_output=True, text=True,
                          check=True)
    failure, = xml.etree.ElementTree.fromstring(done.stdout).iter("failure")
    assert "expected 6, found 7" in failure.text
    for names, text in (("full,row", "no such file"), ("full,fool", "found 'fool'")):
        run = tool("distance", *words, names)
        assert run.status == 2 and text in run.text, run.text
    run = tool("distance", "-check", folder, "-cases", "full")
    assert (run.status == 2 and
            "variable 'distance': expected such a variable, found steps" in run.out), run.text


def test_labels_are_judged_up_to_renumbering(tool, corpus, tmp_path):
    def label(mask, join=False):
        from scipy.ndimage import label
        found = label(mask >= 0)[0]
        return {"shelf": np.where(found > 0, 1 if join else found.max() + 7 - found, 0)}
    for join, status in ((False, 0), (True, 1)):
        folder = answers(corpus, tmp_path / str(join), label, join=join)
        run = tool("labels", "-check", folder, "-expect_variable", "shelf", "-report", "r.json")
        assert (run.status == status and ("edge" in differing(tmp_path)) == join and
                "run" not in differing(tmp_path)), run.text


def test_a_mask_of_ones_own_and_numbers_that_are_close(tool, corpus, tmp_path):
    """-i with -corpus makes one more case; 0.25 of a step is seen by -expect, with fill values that
    are values, too."""
    words = ("-i", corpus / "neck.nc", "-seeds", "given")
    tool("distance", "-corpus", "own", "-cases", "given", *words, status=0)
    tool("distance", "-check", "own", "-cases", "given", *words, status=0)
    before = (corpus / "neck.nc").read_bytes()
    (tmp_path / "link.nc").symlink_to(corpus / "neck.nc")
    for path in (corpus / "neck.nc", "link.nc"):
        refused = tool("distance", "-corpus", corpus, "-i", path, "-seeds", "given", status=2)
        assert "expected a folder without the file of -i" in refused.err
    assert (corpus / "neck.nc").read_bytes() == before and not (corpus / "given.nc").exists()
    d = values(corpus / "neck.nc").astype(float)
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as data:
        for name, n in zip("yx", d.shape):
            data.createDimension(name, n)
        data.createVariable("steps", "f8", ("y", "x"), fill_value=0.0)[:] = d
    expect = ("distance", *words, "-solvers", "bfs", "-expect", "x.nc", "-expect_variable", "steps")
    assert tool(*expect).status == 0
    # the second one is missing, but for another reason than the fill value
    for wrong in (d[3, 7] + 0.25, -5.0):
        with netCDF4.Dataset(tmp_path / "x.nc", "a") as data:
            data.set_auto_mask(False)
            data["steps"].missing_value = -5.0
            data["steps"][:] = d
            j, i = (3, 7) if wrong > 0 else np.argwhere(d == 0)[0]
            data["steps"][j, i] = wrong
        assert tool(*expect).status == 1


def test_the_harness_in_cpp_on_all_ranks_and_cuts(corpus, tmp_path):
    (tmp_path / "harness").symlink_to(os.environ["NUNATAK_KIT_HARNESS"])
    few = tmp_path / "few"
    few.mkdir()
    names = [pathlib.Path(shutil.copy(path, few)).stem
             for path in corpus.glob("*.nc") if not path.stem.startswith("int16")]
    environment = {**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}",
                   "MPIEXEC": os.environ["NUNATAK_MPIEXEC"], "CHECK": f"-cases {','.join(names)}"}
    done = subprocess.run([KIT / "regress.sh", "few"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=400)
    assert (done.returncode == 0 and
            done.stdout.count("22 cases: 22 equal") == 8), done.stdout + done.stderr
    assert len(list(tmp_path.glob("report_*.json"))) == 8


def test_the_solvers_of_nunatak_on_the_corpus(tool, corpus):
    cases = json.loads((corpus / "cases.json").read_text())
    for case in (c["case"] for c in cases if min(c["Mx"], c["My"]) > 3):
        words = ("-i", corpus / f"{case}.nc", "-virtual_ranks", "1,2x3,5x4", "-expect",
                 corpus / f"{case}.nc")
        tool("distance", *words, "-seeds", "given", "-solvers", "bfs,buckets,sweep", status=0)
        tool("labels", *words, "-domain", "0+1", status=0)


def test_the_harness_in_fortran(tool, corpus, tmp_path):
    deps = KIT.parents[1] / "build/deps"
    prefix = next((p for p in (deps, pathlib.Path("/usr"), pathlib.Path("/usr/local"))
                   if (p / "include/netcdf.mod").exists()), None)
    if prefix is None or not shutil.which("gfortran"):
        pytest.skip("no gfortran with netcdf-fortran (Debian: libnetcdff-dev)")
    folders = [word for lib in prefix.glob("lib/**/libnetcdff.so")
               for word in (f"-L{lib.parent}", f"-Wl,-rpath,{lib.parent}")]
    subprocess.run(["gfortran", "-Wall", "-Werror", f"-I{prefix}/include", KIT / "harness.f90",
                    *folders, "-lnetcdff", "-o", "h"], cwd=tmp_path, check=True)
    subprocess.run(["./h", ".", *corpus.glob("*.nc")], cwd=tmp_path, check=True)
    tool("distance", "-check", ".", status=0)


@pytest.mark.parametrize("solver, names", [("sweeps", PATHS[:3]), ("skfmm", PATHS)])
def test_the_harness_in_python(tool, corpus, tmp_path, solver, names):
    if solver == "skfmm":
        pytest.importorskip("skfmm", reason="pip install scikit-fmm")
    files = [corpus / f"{name}.nc" for name in names]
    subprocess.run([sys.executable, KIT / "harness.py", solver, tmp_path, *files], check=True)
    tool("distance", "-check", ".", "-cases", ",".join(names), status=0)
