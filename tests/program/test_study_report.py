"""perf/study report: laws that are known are found again, and a results folder with something wrong ends in a sentence while the rest
is reported. The results are made by study_samples.py."""
import html.parser
import json
import pathlib
import sys
import types

import numpy as np
import pytest
from study_samples import Folder, io_report, model_report

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "perf"))
from scaling_study import fits, parts, plots, report  # noqa: E402


@pytest.fixture
def made(tmp_path, monkeypatch, capsys):
    """made(folder, ...): status, results.json, the page and what was said, without figures."""
    monkeypatch.setattr(plots.Figures, "draw", lambda self: [])

    def call(*folders):
        out = tmp_path / "page"
        status = report.main(types.SimpleNamespace(folders=[getattr(f, "path", f) for f in folders], output=out))
        said = capsys.readouterr()
        if not (out / "index.html").exists():
            return types.SimpleNamespace(status=status, err=said.err, out=said.out, page=None, results=None)
        text = (out / "index.html").read_text()
        html.parser.HTMLParser().feed(text)
        return types.SimpleNamespace(status=status, err=said.err, out=said.out, page=text, folder=out,
                                     results=json.loads((out / "results.json").read_text()))
    return call


def point(results, cores, part, mode="strong", curve="io_format=pnetcdf"):
    found = [p for p in results["points"] if (p["cores"], p["part"], p["mode"], p["curve"]) == (cores, part, mode, curve)]
    assert len(found) == 1, (cores, part, mode, curve)
    return found[0]


def law(results, part, mode="strong", curve="io_format=pnetcdf"):
    return next(f for f in results["laws"] if (f["part"], f["mode"], f["curve"]) == (part, mode, curve))


# -- laws

@pytest.mark.parametrize("sigma, kappa", [(0.05, 0.0), (0.3, 0.0), (0.05, 5e-4), (0.3, 0.01), (0.0, 1e-3), (1e-3, 1e-7)])
@pytest.mark.parametrize("cores", [[1, 2, 4, 8], [4, 8, 16, 64], [64, 256, 1024, 4096, 16384]])
def test_exact_laws_are_found(cores, sigma, kappa):
    n = np.repeat(cores, 2)
    fit = fits.usl(n, 3e5 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)))
    assert fit["rate_of_one"] == pytest.approx(3e5, rel=0.01)
    assert fit["sigma"] == pytest.approx(sigma, rel=0.01, abs=1e-9)
    assert fit["kappa"] == pytest.approx(kappa, rel=0.01, abs=1e-12)
    if kappa > 0:
        assert fit["most_cores"] == pytest.approx(np.sqrt((1 - sigma) / kappa), rel=0.01)


def test_where_the_budget_is_passed():
    assert fits.crossing([1, 2, 4, 8], [2, 4, 12, 30], 8.0) == {"first": 4, "last_within": 2, "between": pytest.approx(2**1.5)}
    assert fits.crossing([1, 2], [2, 4], 8.0) is None
    assert fits.crossing([1, 2], [12, 14], 8.0) == {"first": 1, "last_within": None, "between": None}


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
    fitted = law(result.results, "stress balance: SSA")
    assert (fitted["sigma"], fitted["kappa"]) == (pytest.approx(0.03, rel=0.01), pytest.approx(5e-4, rel=0.01))
    weak = point(result.results, n, "output: fsync", mode="weak")  # one after the other: n times the time for n times the work
    assert weak["efficiency"] == pytest.approx(1 / n, rel=0.01) and weak["serial_fraction"] == pytest.approx(1, rel=0.01)
    assert "Strong, io_format pnetcdf" in result.page and "passes" in result.page.replace("passed", "passes")


def test_all_figures(tmp_path, capsys, monkeypatch):
    """Two machines side by side; without colour every line still has a marker and dashes of its own."""
    monkeypatch.setitem(plots.STYLE, "savefig.dpi", 40)
    one = Folder(tmp_path / "a").fill(ranks=(1, 2, 4), methods=["pnetcdf"])
    other = Folder(tmp_path / "b", {"system": "local"}).fill(ranks=(1, 2), methods=["serial"])
    status = report.main(types.SimpleNamespace(folders=[one.path, other.path], output=None))
    assert status == 0
    out = one.path / "page"
    names = {"time", "efficiency", "share", "stack_strong", "stack_weak", "parts_strong", "parts_weak", "usl"}
    assert {p.stem for p in out.glob("*.png")} == names
    text = (out / "index.html").read_text()
    assert all(f'src="{name}.png"' in text for name in names)
    assert "serial, local" in capsys.readouterr().out
    styles = [(marker, dashes) for _, marker, dashes in plots.LINES]
    assert len(set(styles)) == len(styles)


# -- what can be wrong

def test_wrong_points_are_named_and_left_out(tmp_path, made):
    folder = Folder(tmp_path / "a").fill(ranks=(1, 2), methods=["pnetcdf"], repetitions=2)
    name = {"io_format": "pnetcdf"}
    folder.add("strong", 4, 0, model_report(4, 192, steps=4), name)
    folder.add("strong", 4, 1, model_report(4, 100), name)
    folder.add("strong", 8, 0, {**model_report(8, 192), "mass_budget": {"volume_end_km3": 1.86e7}}, name)
    folder.add("weak", 8, 0, model_report(8, 128), name)
    folder.add("strong", 8, 1, model_report(8, 192), name, cells=7)
    result = made(folder)
    assert result.status == 1
    for words in ("repetition 0: did other work and is left out: steps: expected 3 as in the rest, found 4", "grid Mx: expected 192",
                  "volume_end_km3", "weak-8-io_format=pnetcdf, repetition 0: did other work", "36864 instead of 7"):
        assert words in result.err and words in result.page, words
    assert {p["cores"] for p in result.results["points"]} == {1, 2}


@pytest.mark.parametrize("name", ["/etc/passwd", "../a/reports/x.json", "reports/..", "reports/a/b.json", None])
def test_a_report_elsewhere_is_not_read(tmp_path, made, name):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    folder.add("strong", 8, 0, None, {"io_format": "\x1b[31mred"})
    *lines, last = (folder.path / "runs.jsonl").read_text().splitlines()
    (folder.path / "runs.jsonl").write_text("\n".join([*lines, json.dumps({**json.loads(last), "report": name})]) + "\n")
    result = made(folder)
    assert result.status == 1 and f"expected a report in the folder reports, found '{name}'" in result.err
    assert "\x1b" not in result.err and "\\x1b[31mred" in result.err


def test_lost_runs(tmp_path, made):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    name = {"io_format": "pnetcdf"}
    folder.add("strong", 8, 0, None, name, status="failed", reason="starting\nrank 3: Segmentation fault\n")
    folder.add("strong", 8, 1, None, name, status="timeout", reason="")
    folder.add("strong", 8, 2, None, name)
    folder.add("strong", 8, 3, '{"timers": {', name)
    folder.add("strong", 8, 4, {"timers": {}}, name)
    folder.add("strong", 8, 5, [1, 2], name)
    folder.add("strong", 4, 2, None, name, status="failed", reason="an attempt after one that was ok counts for nothing")
    with open(folder.path / "runs.jsonl", "a", encoding="utf-8") as file:
        file.write('{"point": "strong-8", "mo')
    result = made(folder)
    assert result.status == 1
    for words in ("repetition 0: failed: rank 3: Segmentation fault", "repetition 1: timeout", "repetition 2: the report",
                  "repetition 3: the report reports/strong-8-io_format=pnetcdf.3.json is not JSON", "repetition 4: reports/",
                  "repetition 5: reports/", "line 17 is left out"):
        assert words in result.err, words
    assert len(result.err.splitlines()) == 7
    assert law(result.results, parts.TOTAL)["runs"] == 9


def test_more_ranks_than_cores_are_not_fitted(tmp_path, made):
    folder = Folder(tmp_path / "a").fill(modes=["strong"], ranks=(1, 2, 4), methods=["pnetcdf"])
    folder.fill(modes=["strong"], ranks=(8,), methods=["pnetcdf"], oversubscribed=True)
    result = made(folder)
    assert law(result.results, parts.TOTAL)["runs"] == 9 and "8*" in result.page and "8*" in result.out


def test_emulated_nodes_fit_output_only(tmp_path, made):
    result = made(Folder(tmp_path / "a", {"emulated": True, "physical_cores": 1}).fill(modes=["strong"], noise=0.0))
    assert "share" in law(result.results, "stress balance: SSA")["why_not"]
    assert law(result.results, "output")["runs"] == 12 and law(result.results, "output: wait")["runs"] == 12
    assert "why_not" in law(result.results, parts.OUTPUT_REST) and "are emulated" in result.page and "8†" in result.page
    assert "(strong scaling) output takes 1.47 s with io_format pnetcdf, 4.41 s with io_format serial (3.0 times)." in result.page


def test_two_machines_side_by_side(tmp_path, made):
    one = Folder(tmp_path / "a").fill(modes=["strong"], methods=["pnetcdf"])
    other = Folder(tmp_path / "b", {"network": "10 Mbit/s, 1 ms"}).fill(modes=["strong"], methods=["pnetcdf"], seed=2)
    result = made(one, other)
    assert result.status == 0
    assert {p["machine"] for p in result.results["points"]} == {"cluster 50 Mbit/s, 200 us", "cluster 10 Mbit/s, 1 ms"}
    assert "The machines" in result.page and "Side by side" in result.page and "Not the same problem" not in result.page
    smaller = Folder(tmp_path / "c", {"system": "local"})
    smaller.add("strong", 2, 0, model_report(2, 96), {"io_format": "pnetcdf"})
    result = made(one, smaller)
    assert result.status == 0 and "36864 cells, 3 steps (cluster), 9216 cells, 3 steps (local)" in result.page


def test_output_alone(tmp_path, made):
    folder = Folder(tmp_path / "a")
    for n in (1, 2, 4):
        folder.add("strong", n, 0, io_report(n), cells=4000)
    result = made(folder)
    assert result.status == 0 and {p["curve"] for p in result.results["points"]} == {"method=pnetcdf", "method=serial"}
    assert law(result.results, parts.TOTAL, curve="method=serial")["sigma"] == pytest.approx(1)
