"""`perf/study report FOLDER...`: the page, its figures and tables, from one results folder or several side by side.

load.py reads, work.py looks whether all did the same, parts.py makes times of reports, fits.py laws of times, plots.py and page.py show
them. Whatever is wrong with a run is a sentence on the page and on stderr and makes the exit status 1; the rest is reported.
"""
import json
import math
import pathlib
import sys
from collections import Counter

from . import fits, load, page, parts, plots, work


def main(arguments):
    studies = [load.read(folder) for folder in arguments.folders]
    for study in studies:
        work.same(study)
    complaints = [sentence for study in studies for sentence in study.complaints]
    for sentence in complaints:
        print(f"study: {sentence}", file=sys.stderr)
    used = [study for study in studies if study.runs]
    if not used:
        print("study: no run can be reported", file=sys.stderr)
        return 1
    load.name_apart(used)
    folder = pathlib.Path(arguments.output or pathlib.Path(arguments.folders[0]) / "page")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, used, complaints)
    except OSError as error:
        print(f"study: cannot write the page: {error}", file=sys.stderr)
        return 1
    print(f"wrote {folder / 'index.html'}")
    return 1 if complaints else 0


def make(folder, studies, complaints):
    runs = parts.table(studies)
    points, counts = parts.points(runs), parts.counts(studies)
    laws = fits.all_curves(runs)
    unit = "ranks" if (runs.threads == 1).all() else "cores (ranks x threads)"
    title = " | ".join(dict.fromkeys(str(s.settings.get("title", s.folder.name)) for s in studies))
    subtitle = describe(studies, runs)
    figures = plots.Figures(folder, points, runs, laws, "MPI ranks" if unit == "ranks" else unit, subtitle).draw()
    page.write(folder, studies, points, counts, laws, figures, title, subtitle, complaints,
               notes(studies, runs) + work.differ(studies), unit)
    write_table(folder, points, counts)
    write_json(folder, studies, points, counts, laws, complaints)
    print_table(points, laws, unit)


def describe(studies, runs):
    """One line below the title and each figure."""
    texts = []
    for study in studies:
        m = study.machine
        facts = [m.get("cpu"), m.get("network"), m.get("file_system"), m.get("mpi"),
                 "emulated on %s cores" % m.get("physical_cores", "?") if m.get("emulated") else None]
        texts.append(": ".join([study.name, ", ".join(str(f) for f in facts if f)]) if any(facts) else study.name)
    most = runs.groupby(parts.POINT + ["part"], dropna=False).size().max()
    return "; ".join(texts) + (f"; median of {most} repetitions" if most > 1 else "")


def notes(studies, runs):
    sentences = []
    if runs.oversubscribed.any():
        sentences.append("Points marked * had more ranks than cores: they show that the program runs, not how fast; none is fitted.")
    if runs.shared_cores.any():
        sentences.append("These nodes are emulated: their network and disks have the rates that were set, but they share the cores of "
                         "one machine. At the points marked † (hollow) computing takes too long and is not fitted, and the share of "
                         "output is too small; times of output are fitted.")
    for study in studies:
        wanted, done = study.settings.get("repetitions"), Counter(run["point"] for run in study.runs)
        fewer = sum(n < wanted for n in done.values()) if isinstance(wanted, int) else 0
        if fewer:
            sentences.append(f"{study.name}: {fewer} of {len(done)} points have less than the {wanted} repetitions of the study; the same "
                             "`perf/study run` again adds what is missing.")
    single = runs[runs.part == parts.TOTAL].groupby(parts.POINT, dropna=False).size().min() == 1
    if single:
        sentences.append("Some points have one repetition: their spread is unknown.")
    return sentences


def tidy(value):
    """For JSON: no numpy, no NaN."""
    if isinstance(value, dict):
        return {k: tidy(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [tidy(v) for v in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_table(folder, points, counts):
    """A row for each part (seconds) and each count of each point; a number in a cell."""
    times = points.drop(columns=["budget", "times_cores"]).rename(columns={"part": "quantity"}).assign(unit="s")
    numbers = counts.rename(columns={"count": "quantity"}).assign(unit="1", kind="count")
    columns = [*parts.POINT, "quantity", "kind", "unit", "median", "min", "max", "repetitions", "mean", "share", "speed_up", "efficiency",
               "serial_fraction", "oversubscribed", "shared_cores", "comparable"]
    rows = times[columns].to_dict("records") + numbers.to_dict("records")
    import pandas
    pandas.DataFrame(rows, columns=columns).to_csv(folder / "table.csv", index=False, float_format="%.6g")


def write_json(folder, studies, points, counts, laws, complaints):
    passes = []
    for curve in page.curves(points):
        rows = page.select(points, curve)
        rows = rows[rows.part == "output"]
        if len(rows.budget.dropna()):
            passes.append(dict(zip(("mode", "machine", "curve"), curve), budget_percent=rows.budget.max(),
                               passed=fits.passes(rows)))
    studies = [{"name": s.name, "folder": str(s.folder), "study": s.settings, "machine": s.machine} for s in studies]
    result = {"studies": studies, "complaints": complaints, "points": points.to_dict("records"), "counts": counts.to_dict("records"),
              "laws": laws, "output_passes_budget": passes}
    (folder / "results.json").write_text(json.dumps(tidy(result), indent=1, default=str) + "\n", encoding="utf-8")


def print_table(points, laws, unit):
    """A line for each point, and the law of each curve."""
    print(f"{'':36s} {unit:>8s} {'seconds':>9s} {'min':>9s} {'max':>9s} {'efficiency':>11s} {'output':>7s}")
    if not points.comparable.all():
        print("* cores are shared, or fewer than ranks: computing takes too long there")
    for curve in page.curves(points):
        rows = page.select(points, curve)
        title = ", ".join(t for t in (curve[0], page.name(points, *curve[1:])) if t)
        output = rows[rows.part == "output"].set_index("cores").share
        for row in rows[rows.part == parts.TOTAL].itertuples():
            share = page.percent(output[row.cores]) if row.cores in output.index and row.budget == row.budget else "-"
            print(f"{title:36s} {page.cores_text(row).replace('†', '*'):>8s} {row.median:9.3f} {row.min:9.3f} {row.max:9.3f} "
                  f"{page.percent(row.efficiency):>11s} {share:>7s}")
            title = ""
        law = next((f for f in laws if (f["mode"], f["machine"], f["curve"], f["part"]) == (*curve, parts.TOTAL)), {})
        if "sigma" in law:
            print(f"{'':36s} sigma {page.number(law['sigma'])} ({page.interval(law['sigma_interval'])}), "
                  f"kappa {page.number(law['kappa'])} ({page.interval(law['kappa_interval'])})")
