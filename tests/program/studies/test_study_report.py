"""perf/study report: numbers follow from times that are known, and a results folder with something
wrong ends in a sentence while the rest is reported. The results are made by study_samples.py."""
import html.parser
import json
import os
import pathlib
import re
import sys
import types

import numpy as np
import pytest
from study_samples import LAWS, Folder, io_report, model_report

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "perf"))
from scaling_study import (as_pism, export, load, machine, paper, parts,  # noqa: E402
                           plots, points, report, study_file, texts)


@pytest.fixture
def made(tmp_path, monkeypatch, capsys):
    """made(folder, ...): status, results.json, the page and what was said, without figures."""
    monkeypatch.setattr(plots.Figures, "draw", lambda self: [])

    def call(*folders):
        out = tmp_path / "page"
        status = report.main(
            types.SimpleNamespace(folders=[getattr(f, "path", f) for f in folders], output=out))
        said = capsys.readouterr()
        text, results = ((out / name).read_text() if out.exists() else "null"
                         for name in ("index.html", "results.json"))
        html.parser.HTMLParser().feed(text)
        return types.SimpleNamespace(status=status, err=said.err, out=said.out, page=text,
                                     folder=out, results=json.loads(results))
    return call


def point(results, cores, part, mode="strong", curve="io_format=pnetcdf"):
    found = [p for p in results["points"]
             if (p["cores"], p["part"], p["mode"], p["curve"]) == (cores, part, mode, curve)]
    assert len(found) == 1, (cores, part, mode, curve)
    return found[0]


# -- numbers of the report


def test_numbers_follow_the_law(tmp_path, made):
    result = made(Folder(tmp_path / "a").fill(noise=0.0))
    assert result.status == 0 and result.err == ""
    n = 8
    slow = (1 + 0.03 * 7 + 5e-4 * 56) / n  # study_samples.LAWS of the SSA
    ssa = point(result.results, n, "stress balance: SSA")
    assert ssa["speed_up"] == pytest.approx(1 / slow, rel=1e-9)
    assert ssa["efficiency"] == pytest.approx(1 / slow / n, rel=1e-9)
    assert ssa["serial_fraction"] == pytest.approx((slow - 1 / n) / (1 - 1 / n), rel=1e-9)
    # one after the other: n times the time for n times the work
    weak = point(result.results, n, "output: fsync", mode="weak")
    assert (weak["efficiency"] == pytest.approx(1 / n, rel=0.01) and
            weak["serial_fraction"] == pytest.approx(1, rel=0.01))
    ordered = made(Folder(tmp_path / "b").fill(
        modes=["strong"], methods=["async:10", "async:5", "async:1.5"])).results["points"]
    assert list(dict.fromkeys(p["curve"] for p in ordered)) == [
        "io_format=async:1.5", "io_format=async:5", "io_format=async:10"]
    assert ("Strong, io_format pnetcdf" in result.page and
            "of the run, above the budget of 10 % at 1, 2, 4, 8" in result.page)


def test_the_law_of_five_points_is_that_of_the_times(tmp_path, made):
    def laws_of(name, ranks, noise):
        of_parts = {part: (0.05, 1e-3, one) for part, (_, _, one) in LAWS.items()}
        result = made(Folder(tmp_path / name).fill(modes=["strong"], ranks=ranks,
                                                   methods=["pnetcdf"], noise=noise, laws=of_parts))
        return ({one["part"]: one for one in result.results["laws"]},
                result.page.count("misses a point by up to"))
    exact, shown = laws_of("a", (1, 2, 4, 8, 16, 32), 0.0)
    assert (shown == 1 and set(exact) == {"total", "init", "compute", "output"} and
            exact["total"]["misses"] < 1e-9)
    assert ([exact["compute"][key] for key in ("seconds", "sigma", "kappa", "kappa_high")] ==
            pytest.approx([0.99 * 17.2, 0.05, 1e-3, 1e-3]))
    noisy, _ = laws_of("b", (2, 4, 8, 16, 32), 0.02)  # against the fewest, which are two
    low, high = ((1 + noisy["compute"][f"sigma_{end}"] * 15 +
                  noisy["compute"][f"kappa_{end}"] * 240) / 16 for end in ("low", "high"))
    assert low < (1 + 0.05 * 31 + 1e-3 * 32 * 31) / 32 / (1 + 0.05 + 2e-3) * 2 < high
    assert laws_of("d", (1, 2, 4, 8), 0.0) == ({}, 0)


def test_metrics_of_pop(tmp_path, made):
    """Ranks that compute for 0.9 of their time, 0.99 of the slowest one; computing of all ranks
    grows by the law."""
    result = made(Folder(tmp_path / "a").fill(noise=0.0))
    for mode, n, work in (("strong", 8, 1), ("weak", 4, 4)):
        ssa, compute = (point(result.results, n, part, mode)
                        for part in ("stress balance: SSA", "compute"))
        assert (ssa["load_balance"] == pytest.approx(0.99) and
                ssa["communication_efficiency"] == pytest.approx(0.9))
        assert ssa["parallel_efficiency"] == pytest.approx(0.99 * 0.9)
        assert ssa["computation_scaling"] == pytest.approx(
            1 / (1 + 0.03 * (n - 1) + 5e-4 * n * (n - 1)), rel=0.01)
        assert compute["global_efficiency"] == pytest.approx(
            0.99 * 0.9 * compute["computation_scaling"])
    assert ("compute: global efficiency" in result.page and
            "stress balance: SSA: computation scaling" in result.page)
    shared = made(Folder(tmp_path / "b").fill(modes=["strong"], noise=0.0, shared_cores=True))
    ssa = point(shared.results, 8, "stress balance: SSA")
    assert ssa["load_balance"] == pytest.approx(0.99) and ssa["computation_scaling"] < 1
    assert ssa["communication_efficiency"] is None and ssa["global_efficiency"] is None


def test_disturbed_runs_are_not_compared(tmp_path, made):
    """By the processor time of their ranks, one run of two machines; where ranks share cores it
    says nothing."""
    quiet, busy = Folder(tmp_path / "quiet").fill(modes=["strong"], ranks=(1, 2),
                                                  methods=["pnetcdf"]), Folder(tmp_path / "busy")
    for n in (1, 2):
        for repetition in range(3):
            busy.add("strong", n, repetition, model_report(n, 192, alone=0.7 if n == 2 else 0.96),
                     {"io_format": "pnetcdf"})
    assert not plots.Figures(tmp_path, parts.points(parts.table([load.read(busy.path)])), "ranks",
                             "").in_processor_time
    result = made(quiet, busy)
    assert ("busy: 3 of 6 runs were disturbed" in result.page and
            "70 % of the time outside MPI" in result.page and "2‡" in result.page)
    row = next(line for line in result.page.split("<tr")
               if "strong, io_format pnetcdf: compute</td><td>2</td>" in line)
    assert row.count("disturbed") == 1 and "disturbed" not in next(
        line for line in result.page.split("<tr")
        if "strong, io_format pnetcdf: compute</td><td>1</td>" in line)
    assert [p["no_efficiency"] for p in result.results["points"]
            if (p["machine"], p["cores"], p["part"]) == ("busy", 2, "total")] == ["disturbed"]
    crowded = Folder(tmp_path / "d", {"physical_cores": 2}).fill(
        modes=["strong"], ranks=(1, 2), methods=["pnetcdf"], nodes=1, others_running=1, steal=0.25)
    page = made(crowded).page
    assert "3 of 6 runs were disturbed" in page and "took up to 25 % of the processor time" in page
    shared = made(Folder(tmp_path / "c").fill(modes=["strong"], shared_cores=True))
    assert "disturbed (points" not in shared.page


def test_computing_on_shared_cores_is_drawn_in_processor_time(tmp_path):
    for shared in (False, True):
        folder = Folder(tmp_path / f"{shared}").fill(modes=["strong"], noise=0.0,
                                                     shared_cores=shared)
        points = parts.points(parts.table([load.read(folder.path)]))
        figures = plots.Figures(tmp_path, points, "ranks", "")
        drawn = [figures.fair(points[(points.part == part) & (points.curve == "io_format=pnetcdf")])
                 for part in ("compute", "output")]
        wall = [
            points[(points.part == part) & (points.curve == "io_format=pnetcdf")]["median"].tolist()
            for part in ("compute", "output")]
        assert drawn[1]["median"].tolist() == wall[1] and bool(figures.in_processor_time) == shared
        assert drawn[0]["median"].tolist() == pytest.approx(
            [(0.9 / 0.99 if shared else 1) * seconds for seconds in wall[0]])


def test_legends_fit_their_figures(tmp_path):
    """Of one mode with long names, too."""
    names = [f"ssa_solver=pism, io_format=netcdf4, number={n}" for n in range(5)]
    points = parts.points(
        parts.table([load.read(Folder(tmp_path / "a").fill(modes=["strong"], methods=names).path)]))
    figures, seen = plots.Figures(tmp_path, points, "ranks", ""), []

    def look(figure, name, caption, handles=None, save=figures.save):
        close, plots.plt.close = plots.plt.close, lambda _: None
        save(figure, name, caption, handles)
        plots.plt.close = close
        width = figure.get_figwidth() * figure.dpi
        seen.extend((box.x0, box.x1, width) for legend in figure.legends
                    for box in [legend.get_window_extent()])
        close(figure)
    figures.save = look
    figures.scaling()
    assert seen and all(left >= 0 and right <= width for left, right, width in seen), seen


def test_export(tmp_path, capsys):
    """A row for each part of each run, and Extra-P's text: values of all repetitions at each number
    of cores, time only where it says something."""
    def exported(name, **line):
        folder = Folder(tmp_path / name).fill(modes=["strong"], methods=["pnetcdf"], repetitions=2,
                                              noise=0.0, **line)
        for kind in ("csv", "extrap"):
            assert export.main(
                types.SimpleNamespace(folders=[folder.path], output=None, format=kind)) == 0
        return folder.path / "export"
    out = exported("a")
    rows = (out / "runs.csv").read_text().splitlines()
    assert (rows[0].startswith("machine,mode,curve,nodes,ranks") and
            sum(",energy," in row for row in rows) == 4 * 2)
    lines = (out / "cluster-strong-io_format=pnetcdf.txt").read_text().splitlines()
    assert lines[:2] == ["PARAMETER p", "POINTS ( 1 ) ( 2 ) ( 4 ) ( 8 )"]
    at = lines.index("REGION energy")
    assert (lines[at + 1] == "METRIC time" and lines[at + 2].split() == ["DATA", "3", "3"] and
            lines[at + 5].split() == ["DATA", "0.375", "0.375"])
    shared = (exported("b", shared_cores=True) / "cluster-strong-io_format=pnetcdf.txt").read_text()
    assert ("REGION energy\nMETRIC processor_time\n" in shared and
            "REGION energy\nMETRIC time" not in shared)
    assert "REGION output:_fsync\nMETRIC time" in shared
    assert export.main(
        types.SimpleNamespace(folders=[tmp_path / "none"], output=None, format="csv")) == 1
    assert "no run can be exported" in capsys.readouterr().err


@pytest.mark.parametrize("nodes, physical, shared", [(1, 2, False), (1, 1, True), (2, 2, True),
                                                     (2, 64, True), (1, None, True)])
def test_nodes_of_an_emulated_cluster_share_cores(nodes, physical, shared):
    """With the emulator, if not with each other."""
    marks = machine.core_marks({"emulated": True, "physical_cores": physical},
                               {"nodes": nodes, "ranks": nodes, "threads": 1})
    assert marks == {"oversubscribed": False, "shared_cores": shared}


def test_all_figures(tmp_path, capsys, monkeypatch):
    """Two machines side by side; without colour every line still has a marker and dashes of its
    own, and a format always has its colour."""
    monkeypatch.setitem(plots.STYLE, "savefig.dpi", 40)
    one = Folder(tmp_path / "a").fill(ranks=(1, 2, 4), methods=["pnetcdf"])
    other = Folder(tmp_path / "b", {"system": "local"}).fill(ranks=(1, 2), methods=["serial"])
    status = report.main(types.SimpleNamespace(folders=[one.path, other.path], output=None))
    assert status == 0
    out = one.path / "page"
    names = {"scaling", "stack_strong", "stack_weak", "parts_strong", "parts_weak"}
    assert {p.stem for p in out.glob("*.png")} == names
    text = (out / "index.html").read_text()
    assert all(f'src="{name}.png"' in text for name in names)
    assert "serial, local" in capsys.readouterr().out
    styles = plots.styles(["method=serial", "x=1", "output=async:1",
                           "io_format=serial, ranks_per_node=2"] + 17 * ["method=pnetcdf/zslab"])
    assert len({(marker, dashes) for _, marker, dashes in styles}) == len(styles) == 21
    assert [styles[n][0] for n in (0, 2, 3, 20)] == [
        plots.FORMATS[name] for name in ("serial", "async", "serial", "pnetcdf")]


def test_a_study_of_lengths_has_a_figure_of_its_snapshots(tmp_path, monkeypatch):
    monkeypatch.setitem(plots.STYLE, "savefig.dpi", 40)
    folder = Folder(tmp_path / "a")
    for years in (5, 10, 15):
        result_made = model_report(2, 96)
        result_made["timers"]["output: snapshot"] = {"calls": years, "min": 0.0,
                                                     "mean": 0.01 * years, "max": 0.01 * years}
        folder.add("strong", 2, 0, result_made, {"output": "direct", "run_years": str(years)})
    assert report.main(types.SimpleNamespace(folders=[folder.path], output=None)) == 0
    assert (folder.path / "page" / "lengths.png").exists()


def test_a_ladder_has_a_figure_and_the_same_result_on_each_rung(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(plots.STYLE, "savefig.dpi", 40)
    folder = Folder(tmp_path / "a")
    for rung, volume, like in (("0 PISM", 1.86e7, {"ssa_solver": "pism"}),
                               ("1 bfs", 1.86e7 + 1, {}), ("2 batch", 1.86e7 + 100, {})):
        folder.add("strong", 2, 0, {**model_report(2, 96), "set_by_like": like,
                                    "mass_budget": {"volume_end_km3": volume}}, {"rung": rung})
    monkeypatch.setattr(as_pism, "ratios",
                        lambda: dict.fromkeys(("SSA", "SIA", "energy", "transport", "PICO"), 3.0))
    model = {"ranks": 16384, "years": 10.0,
             "rungs": dict.fromkeys("02", {"compute": 2.0, "output": 1.0})}
    (folder.path / "model.json").write_text(json.dumps(model))
    assert report.main(types.SimpleNamespace(folders=[folder.path], output=None)) == 1
    assert {path.name for path in (folder.path / "page").glob("*.png")} == {"ladder.png"}
    found = json.loads((folder.path / "page" / "results.json").read_text())["rungs"]
    assert [(one["rung"], one["next"], one["part"], one["ratio"]["median"])
            for one in found[:2]] == [("0 PISM", "1 bfs", part, 1.0)
                                      for part in ("total", "compute")]
    page = (folder.path / "page" / "index.html").read_text()
    assert ("output of the upper rungs is a lower bound" in page and
            re.search("energy</td><td>2</td><td>([^<]*)</td><td>-</td><td>\\1</td>", page))
    assert [float(there) / float(here) for here, there in re.findall(
        "SSA</td><td>2</td><td>([0-9.]+)</td><td>3</td><td>([0-9.]+)<", page)] == pytest.approx(
            [3], rel=0.02)
    assert "expected 18600000 as on the first rung, found 18600100" in capsys.readouterr().err
    for wrong in ({**model, "ranks": "many"}, {**model, "rungs": [1]}, [], 3):
        (folder.path / "model.json").write_text(json.dumps(wrong))
        study = load.read(folder.path)
        report.ladder.read_model(study)
        assert (study.model is None and "model.json: expected what "
                "perf/scaling_study/ladder.py writes" in study.complaints[-1])


@pytest.mark.parametrize("cores", [2, 3])
def test_one_number_of_cores_is_within_its_axes(tmp_path, monkeypatch, cores):
    monkeypatch.setattr(plots.Figures, "save",
                        lambda self, figure, name, *_: drawn.update({name: figure}))
    drawn = {}
    Folder(tmp_path / "a").fill(modes=["strong"], ranks=(cores,))
    assert report.main(types.SimpleNamespace(folders=[tmp_path / "a"], output=None)) == 0
    for axes in drawn["parts_strong.png"].axes:
        left, right = axes.get_xlim()
        assert left < cores < right and right / left < 2
    bars, = drawn["scaling.png"].axes  # of output, a curve each, from 0
    assert len(bars.patches) == len(bars.get_yticklabels()) > 1 and 0 == bars.get_xlim()[0] < max(
        bar.get_width() for bar in bars.patches) < bars.get_xlim()[1]


@pytest.mark.parametrize("there, least, ratio, most, verdict", [
    ("10", 4.0, 4.3, 4.6, paper.SMALLER), ("9 to 14", 4.6, 5.0, 5.2, paper.SAME),
    ("2", 5.0, 5.1, 5.2, paper.LARGER), ("2", 0.6, 0.7, 0.8, paper.REVERSE),
    ("2", 0.9, 1.1, 1.3, paper.NONE), ("above 1", 1.1, 1.2, 1.3, paper.AGREES),
    ("above 1", 0.7, 0.8, 0.9, paper.REVERSE), ("0.1", 0.04, 0.06, 0.07, paper.SAME),
    ("1", 0.8, 1.9, 2.0, "within a factor of two"), ("1", 2.0, 2.2, 2.3, "larger"),
    ("80 to 98 %", 40.0, 50.0, 60.0, paper.SAME),
    ("80 to 98 %", 100.5, 101.0, 102.0, paper.LARGER)])
def test_verdicts_of_what_a_paper_found(there, least, ratio, most, verdict):
    assert paper.verdict(*paper.bounds(there)[:2], ratio, least, most) == verdict


def test_what_the_paper_found_is_on_the_page(tmp_path, made):
    """Of output on shared cores, of computing in processor time there, of one curve at two numbers
    of nodes; what has no points cannot be shown."""
    text = {"rule": "Cards.", "found": "It is slower."}
    findings = [
        {"source": "A, figure 1", "of": "serial", "over": "pnetcdf", "at": "each",
         "paper": "9 to 14", **text},
        {"source": "A, figure 2", "of": "pnetcdf", "at": "least", "over": "io_format=pnetcdf",
         "over_at": "most", "part": "energy", "paper": "88 %", **text},
        {"source": "A, figure 3", "of": "hybrid", "over": "pnetcdf", "paper": "2", **text},
        {"source": "A, figure 4", **text},
        {"source": "A, figure 5", "of": "serial", "over": "pnetcdf", "paper": "unread", **text}]
    folder = Folder(tmp_path / "a").fill(modes=["strong"], noise=0.0, shared_cores=True)
    lines = "\n".join(f"- {json.dumps(one)}" for one in findings)
    (folder.path / "study.yaml").write_text(f"title: x\nstrong: {{nodes: [1]}}\npaper:\n{lines}\n")
    result = made(folder)
    assert result.status == 0, result.err
    entries = result.results["paper"]
    assert [one["at"] for one in entries] == ["1 node", "2 nodes", "4 nodes", "8 nodes",
                                              "1 node and 8 nodes", None, None, "8 nodes"]
    assert ([one["verdict"] for one in entries] == 4 * [paper.SMALLER] + [paper.SAME] +
            2 * [paper.UNSHOWN] + [paper.UNREAD])
    assert (entries[3]["here"] == pytest.approx({"median": 3.0, "low": 3.0, "high": 3.0}) and
            not entries[3]["processor_time"])
    assert (entries[4]["here"]["median"] == pytest.approx(100 * (1 - 1 / 8)) and
            entries[4]["processor_time"])
    assert (result.page.count("A, figure 1") == 1 + result.page.count("source: A, figure 1") and
            "87.5 %†, 1 node and 8 nodes" in result.page)
    assert ("paper: A, figure 1: there 9 to 14, here 3 (3 to 3), 8 nodes: same "
            "direction, smaller" in result.out)
    for wrong, words in (("[]", "expected a list of findings"),
                         ("[{source: a, found: b}]", "expected the key rule"),
                         ("[{of: a}]", "expected the key source"),
                         ("[{source: a, found: b, rule: c, of: d, over: e, paper: many}]",
                          "expected a ratio like 10")):
        (folder.path / "study.yaml").write_text(f"paper: {wrong}\n")
        assert words in made(folder).err


@pytest.mark.parametrize(
    "path", sorted((pathlib.Path(__file__).parents[3] / "perf" / "studies").glob("*.yaml")),
    ids=lambda path: path.stem)
def test_findings_name_curves_of_their_study(path):
    study = study_file.read(path, size="XS" if path.stem == "benchmark" else None)[0]
    methods = study["options"].get("methods")
    curves = {", ".join(filter(None, [load.curve(one["vary"]), method and f"method={method}"]))
              for one in points.points_of(study)
              for method in (methods.split(",") if methods else [None])}
    for finding in study["paper"]:
        rests = ([[paper.rest(finding[side], curve) for curve in curves] for side in ("of", "over")]
                 if "of" in finding else [[[]], [[]]])
        assert any(rest is not None and rest in rests[1] for rest in rests[0]), (finding, curves)
    assert study["paper"] or path.stem in ("first", "benchmark", "ladder", "smallest")


# -- what can be wrong

def test_wrong_points_are_named_and_left_out(tmp_path, made):
    folder = Folder(tmp_path / "a").fill(ranks=(1, 2), methods=["pnetcdf"], repetitions=2)
    name = {"io_format": "pnetcdf"}
    folder.add("strong", 4, 0, model_report(4, 192, steps=4), name)
    folder.add("strong", 4, 1, model_report(4, 100), name)
    folder.add("strong", 8, 0, {**model_report(8, 192), "mass_budget": {"volume_end_km3": 1.86e7}},
               name)
    folder.add("weak", 8, 0, model_report(8, 128), name)
    folder.add("strong", 8, 1, model_report(8, 192), name, cells=7)
    folder.add("strong", 2, 2, {**model_report(2, 192), "versions": {"nunatak": "b"}}, name)
    result = made(folder)
    assert result.status == 1
    for words in ("repetition 0: did other work and is left out: steps: expected 3 as in the "
                  "rest, found 4", "grid Mx: expected 192", "volume_end_km3",
                  "weak-8-io_format=pnetcdf, repetition 0: did other work", "36864 instead of 7"):
        assert words in result.err and words in result.page, words
    assert "repetition 2 ran with nunatak b, the rest of cluster with 1.0.0" in result.page
    assert {p["cores"] for p in result.results["points"]} == {1, 2}


@pytest.mark.parametrize("what", ["report", "manifest"])
@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a/reports/x.json", "reports/..", "reports/a/b.json", None])
def test_a_file_elsewhere_is_not_read(tmp_path, made, what, name):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    folder.add("strong", 8, 0, model_report(8, 192), {"io_format": "\x1b[31mred"}, **{what: name})
    result = made(folder)
    assert (result.status == 1 and
            f"expected a {what} in the folder reports, found '{name}'" in result.err)
    assert "\x1b" not in result.err and "\\x1b[31mred" in result.err


def link_out(path):
    (path.parents[2] / "other.json").write_text("{}")
    path.symlink_to(path.parents[2] / "other.json")


def huge(path):
    path.touch()
    os.truncate(path, texts.LONGEST + 1)


@pytest.mark.parametrize("what", ["report", "manifest"])
@pytest.mark.parametrize("make, words", [
    (os.mkfifo, "not a regular file"), (link_out, "a link out of it"),
    (lambda path: path.symlink_to("/dev/null"), "a link out of it"),
    (huge, f"more than {texts.LONGEST} bytes"), (pathlib.Path.mkdir, "not a regular file")])
def test_files_of_a_run_are_regular_and_of_the_folder(tmp_path, what, make, words):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2), methods=["pnetcdf"],
                                         repetitions=1)
    folder.add("strong", 4, 0, model_report(4, 192), {"io_format": "pnetcdf"},
               **{what: "reports/odd"})
    make(folder.path / "reports" / "odd")
    study = load.read(folder.path)
    (complaint,) = study.complaints
    assert ("strong-4-io_format=pnetcdf, repetition 0: " in complaint and words in complaint and
            what in complaint)
    assert [run["ranks"] for run in study.runs] == [1, 2]


BOMB = "a: &a [x, x]\n" + "".join(f"{new}: &{new} [{', '.join(9 * ['*' + old])}]\n"
                                  for old, new in zip("abcdefghi", "bcdefghij"))


@pytest.mark.parametrize("name", ["study.yaml", "machine.json", "runs.jsonl", "model.json"])
@pytest.mark.parametrize("make, words", [
    (os.mkfifo, "not a regular file"),
    (lambda path: path.symlink_to("/dev/null"), "not a regular file"), (huge, "more than"),
    (lambda path: path.write_text(60000 * "["), "too many"),
    (lambda path: path.write_text(BOMB), "")])
def test_files_of_a_folder_are_read_with_care(tmp_path, name, make, words):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2), methods=["pnetcdf"],
                                         repetitions=1)
    (folder.path / name).unlink(missing_ok=True)
    make(folder.path / name)
    study = load.read(folder.path)
    report.ladder.read_model(study)
    assert (words in study.complaints[0] and
            all(name in complaint and "\n" not in complaint for complaint in study.complaints))
    assert len(study.runs) == (0 if name == "runs.jsonl" else 2)


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2), methods=["pnetcdf"],
                                         repetitions=1)
    for path in (*folder.path.glob("*.*"), *folder.path.glob("reports/*")):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    study = load.read(folder.path)
    assert not study.complaints and len(study.runs) == 2 and study.settings["repetitions"] == 3


def test_lost_runs(tmp_path, made):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    name = {"io_format": "pnetcdf"}
    folder.add("strong", 8, 0, None, name, status="failed",
               reason="exit status 1\nrank 3: Segmentation fault\n-----")
    folder.add("strong", 8, 1, None, name, status="timeout", reason="")
    folder.add("strong", 8, 2, None, name)
    folder.add("strong", 8, 3, '{"timers": {', name)
    folder.add("strong", 8, 4, {"timers": {}}, name)
    folder.add("strong", 8, 5, [1, 2], name)
    folder.add("strong", 8, 6, None, name, status="failed",
               reason="nunatak: error: no such file\n-----\nmpiexec: status 2")
    folder.add("strong", 4, 2, None, name, status="failed",
               reason="an attempt after one that was ok counts for nothing")
    with open(folder.path / "runs.jsonl", "a", encoding="utf-8") as file:
        file.write('{"point": "strong-8", "mo')
    result = made(folder)
    assert result.status == 1
    for words in ("repetition 0: failed: rank 3: Segmentation fault", "repetition 1: timeout",
                  "repetition 2: the report",
                  "repetition 3: the report reports/strong-8-io_format=pnetcdf.3.json is not JSON",
                  "repetition 4: reports/", "repetition 5: reports/",
                  "repetition 6: failed: nunatak: error: no such file", "line 18 is left out"):
        assert words in result.err, words
    assert len(result.err.splitlines()) == 8
    assert [point(result.results, n, parts.TOTAL)["repetitions"] for n in (1, 2, 4)] == [3, 3, 3]


def test_emulated_nodes_compare_output_only(tmp_path, made):
    result = made(Folder(tmp_path / "a", {"emulated": True}).fill(modes=["strong"], noise=0.0,
                                                                  shared_cores=True))
    for part in ("compute", "stress balance: SSA", parts.OUTPUT_REST):
        computed = point(result.results, 8, part)
        assert computed["no_efficiency"] == "shared" and computed["efficiency"] is None
    assert (point(result.results, 8, "output")["efficiency"] > 0 and
            point(result.results, 8, "output: wait")["efficiency"] > 0)
    assert "none: shared" in result.out and "are emulated" in result.page and "8†" in result.page
    assert ("(strong scaling) output takes 1.47 s with io_format pnetcdf, 4.41 s with io_format "
            "serial (3.0 times" in result.page)


def metric(results, name, cores, curve="io_format=pnetcdf"):
    found = [m for m in results["metrics"]
             if (m["metric"], m["cores"], m["curve"]) == (name, cores, curve)]
    assert len(found) <= 1
    return found[0]["median"] if found else None


def test_metrics_are_those_of_the_definitions(tmp_path, made):
    """Two simulated years on 4 cores, computed by hand from the report."""
    result_made = {**model_report(4, 192), "peak_resident_MiB": 320.0, "state_MiB": 40.0}
    folder, raw = Folder(tmp_path / "a"), {"bytes": 10**7, "seconds": {"median": 0.25}}
    folder.add("strong", 4, 0, result_made, {"io_format": "pnetcdf"}, raw=raw,
               triad={"SSA": 0.5, "step without SSA": 0.75}, energy_J=300.0)
    result = made(folder)
    results = result.results
    assert "Energy (JPSY) is not available" not in result.page
    wall, timers = result_made["wall_seconds"], result_made["timers"]
    loop = wall - timers["init"]["max"] - timers["output: result"]["max"]
    written = 312 * 192**2
    hours = 4 * wall / 3600
    output = sum(timers[name]["mean"] for name in ("output: open", "output: result"))
    for name, expected in (
        ("SYPD of the loop", 2 * 86400 / loop), ("SYPD to the last durable byte", 2 * 86400 / wall),
        ("CHSY", hours / 2), ("parallelization", 4), ("data intensity", written / 1e9 / hours),
        ("durable rate", written / 1e6 / output),
        ("fraction of raw writes", written / output / 4e7), ("memory bloat", 8), ("JPSY", 150),
        ("fraction of the triad: SSA", 0.5), ("fraction of the triad: step without SSA", 0.75)):
        assert metric(results, name, 4) == pytest.approx(expected, rel=1e-12), name
    ssa = point(results, 4, "stress balance: SSA")
    assert (ssa["imbalance"] == pytest.approx(1 / 0.99 - 1) and
            metric(results, "distance rounds", 4) == 2)


def test_counters_of_tools_stand_in_the_table_and_times_are_not_compared(tmp_path, made):
    plain = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2), methods=["pnetcdf"])
    found = {"perf": {"instructions": 2e9, "cycles": None, "cache misses": "many"}, "score-p": {},
             "odd": 1}
    slow = Folder(tmp_path / "b").fill(modes=["strong"], ranks=(1, 2), methods=["pnetcdf"], seed=2,
                                       tools=found)
    result = made(plain, slow)
    assert (metric(result.results, "perf: instructions", 2) == 2e9 and
            metric(result.results, "perf: cycles", 2) is None)
    for words in ("<td>perf: instructions</td><td>2 000 000 000</td>",
                  "cluster with perf, score-p: times have the cost of these tools",
                  "perf could not count cycles", "score-p left no counters in 6 of 6"):
        assert words in result.page
    assert (result.page.count("<td>other tools</td>") == 6 and
            ",\"perf, score-p\"," in (result.folder / "table.csv").read_text())


def test_output_costs_the_run_over_that_without_output(tmp_path, made):
    """With servers, bytes are theirs; a cost within the noise is no difference."""
    folder = Folder(tmp_path / "a")
    for n in range(3):
        for label, kind, seconds in (("direct", "direct", 12.0), ("null", "null", 10.0),
                                     ("async:1", "direct", 10.0)):
            report_made = model_report(2, 192, slower={"output": 0.01 if label == "null" else 1.0})
            report_made["wall_seconds"] = 2 * seconds + 0.1 * n
            report_made["output"]["format"] = kind
            if label == "async:1":
                report_made["timers"]["output: drain"] = {"calls": 1, "min": 0.5, "mean": 0.5,
                                                          "max": 0.5}
                report_made["output"].update(transport="async:1",
                                             servers=[{"servers": 1, "written_bytes": 4000}],
                                             written_bytes=0)
            folder.add("strong", 2, n, report_made, {"output": label})
    result = made(folder)
    assert metric(result.results, "data output cost", 2,
                  "output=direct") == pytest.approx(24.1 / 20.1)
    assert metric(result.results, "data output cost", 2, "output=null") is None
    assert metric(result.results, "durable rate", 2, "output=async:1") is None
    assert metric(result.results, "data intensity", 2,
                  "output=async:1") == pytest.approx(4e-6 / (2 * 20.1 / 3600))
    assert point(result.results, 2, "output: drain", curve="output=async:1")["median"] == 0.5
    assert ("1 (no difference)" in result.page and
            "over those without output: 1.2 at 2" in result.page)
    assert ("takes 20.1 s with output async:1, 24.1 s with output direct (1.2 times, 1.2 "
            "to 1.2)." in result.page)


def test_where_there_is_no_efficiency(tmp_path, made):
    """Not of parts that are small, nor above 200 %, nor with more ranks than cores."""
    folder = Folder(tmp_path / "a").fill(modes=["strong"], methods=["pnetcdf"], noise=0.0,
                                         laws={"energy": (0.0, 0.0, 0.002)})
    slow = Folder(tmp_path / "b")
    for n, factor in ((1, 24.0), (2, 1.0), (4, 1.0)):
        slow.add("strong", n, 0, model_report(n, 192, slower={"ocean": factor}),
                 {"io_format": "pnetcdf"})
    results = made(folder).results
    assert (point(results, 8, "energy")["no_efficiency"] == "small" and
            point(results, 8, "energy")["efficiency"] is None)
    assert point(results, 8, "stress balance: SSA")["efficiency"] > 0.5
    result = made(slow)
    assert (point(result.results, 4, "ocean")["no_efficiency"] == "no base" and
            "2400 %" not in result.page)
    few = Folder(tmp_path / "c").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    result = made(few.fill(modes=["strong"], ranks=(8,), methods=["pnetcdf"], oversubscribed=True))
    assert (point(result.results, 8, "output")["no_efficiency"] == "oversubscribed" and
            "8*" in result.page and "8*" in result.out)


def test_intervals_and_no_difference(tmp_path, made):
    assert (parts.interval([1.0, 2.0]) == (None, None) and
            parts.interval([1.0, 2.0, 9.0]) == (1.0, 9.0))
    low, high = parts.interval(np.linspace(9.0, 11.0, 101))
    assert 9.5 < low < 10 < high < 10.5
    one, other = (Folder(tmp_path / "a", {"network": "one"}),
                  Folder(tmp_path / "b", {"network": "other"}))
    for folder, seconds in ((one, (20.0, 22.0, 30.0)), (other, (25.0, 31.0, 32.0))):
        for n, wall in enumerate(seconds):
            folder.add("strong", 1, n, {**model_report(1, 192), "wall_seconds": wall},
                       {"io_format": "pnetcdf"})
    result = made(one, other)
    assert "<td>22</td><td>31</td><td>no difference</td>" in result.page
    assert [p["high"] for p in result.results["points"]
            if (p["part"], p["machine"]) == (parts.TOTAL, "cluster one")] == [30.0]


def test_the_limit_of_the_network_is_a_sentence(tmp_path, made):
    """11.5 MB through one card of 50 Mbit/s need 1.84 s."""
    folder = Folder(tmp_path / "a", {"emulated": True})
    for name, factor in (("serial", 1.2), ("direct", 1.0)):
        report_made = model_report(2, 192, slower={"output": factor})
        report_made["output"]["format"] = name
        folder.add("strong", 2, 0, report_made, {"io_format": name})
    page = made(folder).page
    assert "<td>output: sending by rank 0 at 50 Mbit/s (8" in page
    assert page.count("sending by") == 1


def test_the_load_of_the_machine_is_on_the_page(tmp_path, made):
    folder = Folder(tmp_path / "a", {"physical_cores": 2, "load_average": [1.5, 7.25]})
    for n, load in enumerate(([1.5, 2.0], [7.25, 6.0])):
        folder.add("strong", 1, n, model_report(1, 192), {"io_format": "pnetcdf"},
                   load_average=load, cpu_MHz=[2400, 3100])
    result = made(folder)
    assert ("1 of 2 runs began with a load average above the 2 cores of the machine "
            "(up to 7.2" in result.page)
    assert "<td>load average</td><td class=\"long\">1.5 to 7.25</td>" in result.page


def test_two_machines_side_by_side(tmp_path, made):
    one = Folder(tmp_path / "a").fill(modes=["strong"], methods=["pnetcdf"])
    other = Folder(tmp_path / "b", {"network": "10 Mbit/s, 1 ms"}).fill(modes=["strong"],
                                                                        methods=["pnetcdf"], seed=2)
    result = made(one, other)
    assert result.status == 0
    assert {p["machine"] for p in result.results["points"]} == {"cluster 50 Mbit/s, 200 us",
                                                                "cluster 10 Mbit/s, 1 ms"}
    assert ("The machines" in result.page and "Side by side" in result.page and
            "Not the same problem" not in result.page)
    smaller = Folder(tmp_path / "c", {"system": "local"})
    smaller.add("strong", 2, 0, model_report(2, 96), {"io_format": "pnetcdf"})
    result = made(one, smaller)
    assert (result.status == 0 and
            "36864 cells, 3 steps (cluster), 9216 cells, 3 steps (local)" in result.page)


def side_by_side(page):
    """The cells of the rows of that table, by what they begin with."""
    table = page.split("<h2>Side by side</h2>")[1].split("</table>")[0]
    return {row[0]: row for row in (re.findall("<td>(.*?)</td>", one)
                                    for one in table.split("<tr")[2:])}


def test_side_by_side_only_what_may_be_compared_is(tmp_path, made):
    """Emulated nodes that share cores: output, and computing by processor time; the sentence names
    the machine that comes first in the table."""
    local = Folder(tmp_path / "a", {"system": "local"}).fill(modes=["strong"], methods=["pnetcdf"],
                                                            noise=0.0)
    shared = Folder(tmp_path / "b")
    for n in (1, 2, 4, 8):
        for repetition in range(3):  # on shared cores twice the time passes
            report = model_report(n, 192, slower={"stress balance: SSA": 3.0})
            for timer in (report["pop"], *(t["pop"] for t in report["timers"].values()
                                           if "pop" in t)):
                timer["useful_seconds"] = {name: 0.5 * value for name, value
                                           in timer["useful_seconds"].items()}
            shared.add("strong", n, repetition, report, {"io_format": "pnetcdf"}, shared_cores=True)
    result = made(local, shared)
    rows = side_by_side(result.page)
    assert "a ratio above 1: faster than cluster" in result.page
    assert rows["strong, io_format pnetcdf: total"][-1] == "shared"
    assert re.fullmatch("0[.][0-9]+†|1[.][0-9]+†", rows["strong, io_format pnetcdf: compute"][-1])
    assert rows["strong, io_format pnetcdf: output"][-1] == "no difference"
    other = Folder(tmp_path / "c", {"system": "local"})
    for repetition in range(3):
        for n in (1, 8):
            other.add("strong", n, repetition, model_report(n, 96), {"io_format": "pnetcdf"})
    assert side_by_side(made(local, other).page)[
        "strong, io_format pnetcdf: total"][-1] == "other grid"


def test_ranks_that_only_write_are_no_base(tmp_path, made):
    """On two ranks one of them computes, on four three."""
    folder = Folder(tmp_path / "a").fill(modes=["strong"], methods=["pnetcdf"], noise=0.0)
    for n in (2, 4, 8):
        report = model_report(n, 192)
        report["output"]["servers"] = [{"servers": 1, "phases": {}, "written_bytes": 0}]
        folder.add("strong", n, 0, report, {"io_format": "async"})
    result = made(folder)
    for n in (4, 8):
        assert point(result.results, n, "compute",
                     curve="io_format=async")["no_efficiency"] == "no base"
    later = Folder(tmp_path / "b").fill(modes=["strong"], methods=["pnetcdf"], noise=0.0)
    later.fill(modes=["strong"], methods=["serial"], ranks=(2, 4, 8), noise=0.0)
    page = made(later).page
    assert "% of 2</td>" in page and "% of 1</td>" not in page


def test_runs_that_were_not_made_are_said(tmp_path, made):
    folder = Folder(tmp_path / "a", {"asked": 26}).fill(modes=["strong"])
    folder.add("strong", 1, 3, model_report(1, 192), {"io_format": "pnetcdf"})
    result = made(folder)
    assert "1 of 26 runs of the study were not made" in result.page
    assert "median of 3 to 4 repetitions" in result.page


@pytest.mark.parametrize("vary, alike", [
    ({"io_format": ["direct", "pnetcdf"]}, True),
    ({"output": {"direct": "-io_format direct", "null": {"io_format": "null"}}}, True),
    ({"solver": {"own": "-ssa_solver own"}}, False),
    ({"solver": {"own": {"ssa_solver": "own"}}}, False), ({"threads": [1, 2]}, False)])
def test_what_varies_computes_alike(vary, alike):
    assert report.computes_alike(vary) == alike


def test_output_alone(tmp_path, made):
    folder = Folder(tmp_path / "a")
    for n in (1, 2, 4):
        folder.add("strong", n, 0, io_report(n), cells=4000)
    result = made(folder)
    assert (result.status == 0 and
            {p["curve"] for p in result.results["points"]} == {"method=pnetcdf", "method=serial"})
    assert point(result.results, 4, parts.TOTAL,
                 curve="method=serial")["serial_fraction"] == pytest.approx(1)
