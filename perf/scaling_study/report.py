"""`perf/study report FOLDER...`: the page, its figures and tables, from one results folder or
several side by side.

load.py reads, work.py checks that all did the same, parts.py makes times of reports, metrics.py the
metrics of the field, plots.py and page.py show them. Whatever is wrong with a run is a sentence on
the page and on stderr and makes the exit status 1; the rest is reported.
"""
import json
import math
import pathlib
import sys

import pandas

from . import (as_pism, ladder, law, load, metrics, model, page, paper, parts, plots, study_file,
               tools, work)
from .points import of_output


STOLEN = 0.02  # of the processor time, from which on steal is named


def main(arguments):
    studies = [load.read(folder) for folder in arguments.folders]
    for study in studies:
        work.same(study)
        ladder.same(study)
        ladder.read_model(study)
        model.read(study)
        paper.read(study)
    complaints = [sentence for study in studies for sentence in study.complaints]
    used = load.usable(studies, "reported")
    if not used:
        return 1
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
    points = parts.points(runs)
    field = metrics.table(studies, points)
    laws = law.laws(points)
    unit = "ranks" if (runs.threads == 1).all() else "cores (ranks x threads)"
    title = " | ".join(dict.fromkeys(str(s.settings.get("title", s.folder.name)) for s in studies))
    subtitle = describe(studies, runs)
    figures = plots.Figures(folder, points, "MPI ranks" if unit == "ranks" else unit, subtitle)
    figures.virtual = next((study.virtual for study in studies if study.virtual), {})
    figures.alike = all(computes_alike(study.settings.get("vary") or {}) for study in studies)
    figures.laws, figures.rungs = laws, ladder.steps(points)
    ladder.draw(figures, studies)
    drawn = figures.draw()
    paper.draw(figures, studies)
    found = paper.entries(studies, points)
    page.write(folder, studies, points, field, drawn, title, subtitle, complaints,
               [*notes(studies, runs), *tools.notes(studies), *work.differ(studies)], unit,
               metrics.limited(studies), laws, paper.table(found),
               ladder.steps_table(figures.rungs), as_pism.table(studies, points, unit))
    write_table(folder, points, field)
    write_json(folder, studies, points, field, complaints, laws=laws, paper=found,
               rungs=figures.rungs)
    print_table(points, field, unit)
    for one in found:
        there, here = paper.shown(one)
        print(f"paper: {one['source']}: there {there}, here {here}: {one['verdict']}")


def computes_alike(vary):
    """Does what varies change nothing but how output is written?"""
    if not vary:
        return True
    try:
        found = study_file.vary_of(study_file.Check("study.yaml", "vary", paper.texts_of(vary)))
    except study_file.StudyError:  # of a file that is not as `perf/study run` wrote it
        return False
    return all(of_output(name, labels) for name, labels in found.items())


def describe(studies, runs):
    """One line below the title and each figure."""
    texts = []
    for study in studies:
        m = study.machine
        facts = [
            m.get("cpu"), m.get("network"), m.get("file_system"), m.get("mpi"),
            "emulated on %s cores" % m.get("physical_cores", "?") if m.get("emulated") else None]
        texts.append(": ".join([study.name, ", ".join(str(f) for f in facts if f)]) if any(facts)
                     else study.name)
    of_points = runs[runs.part == parts.TOTAL].groupby(parts.POINT, dropna=False).size()
    least, most = of_points.min(), of_points.max()
    count = f"{least} to {most}" if least < most else f"{most}"
    return "; ".join(texts) + (f"; median of {count} repetitions" if most > 1 else "")


def notes(studies, runs):
    sentences = []
    if runs.oversubscribed.any():
        sentences.append("Points marked * had more ranks than cores: they show that the program "
                         "runs, not how fast.")
    if runs.shared_cores.any():
        sentences.append(
            "These nodes are emulated: their network and disks have the rates that were set, but "
            "they share the cores of one machine with each other and with the emulator (points "
            "marked †). The time of computing that passes there is not compared, and the fraction "
            "of the output is too small; compared are processor times and times of output.")
    for study in studies:
        disturbed = [[sample.alone for sample in run["samples"] if parts.is_disturbed(sample, run)]
                     for run in study.runs]
        ran = [min(alone) for alone in disturbed if alone]
        if ran:
            sentences.append(
                f"{study.name}: {len(ran)} of {len(study.runs)} runs were disturbed (points marked "
                "‡): something else ran on their cores, which computed in as little as "
                f"{100 * min(ran):.0f} % of the time outside MPI. They are not compared.")
        stolen = max((run["steal"] for run in study.runs if run["steal"] is not None), default=0.0)
        if stolen >= STOLEN:
            sentences.append(f"{study.name}: other machines of the same host took up to "
                             f"{100 * stolen:.0f} % of the processor time (steal).")
    for study in studies:
        if study.missing:
            sentences.append(f"{study.name}: {study.missing} of {study.asked} runs of the study "
                             "were not made; the same `perf/study run` again makes them.")
        cores = study.cores_per_node or 1
        busy = [run["load_average"][0]
                for run in study.runs if run["load_average"] and run["load_average"][0] > cores]
        if busy:
            sentences.append(
                f"{study.name}: {len(busy)} of {len(study.runs)} runs began with a load average "
                f"above the {cores} cores of the machine (up to {max(busy):.1f}; the runs before "
                "them are part of it): compare their times with care.")
    if not any(run["energy_J"] for study in studies for run in study.runs):
        sentences.append("Energy (JPSY) is not available: the counters of the processors (RAPL) "
                         "could not be read.")
    if runs[runs.part == parts.TOTAL].groupby(parts.POINT, dropna=False).size().min() == 1:
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


def write_table(folder, points, field):
    """A row for each part (seconds), metric and count of each point; a number in a cell."""
    columns = [*parts.POINT, "quantity", "kind", "unit", "median", "min", "max", "low", "high",
               "repetitions", "mean", "fraction", "imbalance",
               "speed_up", "efficiency", "no_efficiency", "serial_fraction", "oversubscribed",
               "shared_cores", "disturbed", "comparable", "tools", "processor", *page.POP]
    rows = points.rename(columns={"part": "quantity"}).assign(unit="s").to_dict("records")
    rows += field.rename(columns={"metric": "quantity"}).assign(kind="metric").to_dict("records")
    pandas.DataFrame(rows, columns=columns).to_csv(folder / "table.csv", index=False,
                                                   float_format="%.6g")


def write_json(folder, studies, points, field, complaints, **more):
    studies = [{"name": s.name, "folder": str(s.folder), "study": s.settings, "machine": s.machine}
               for s in studies]
    result = {"studies": studies, "complaints": complaints,
              "points": points.drop(columns="times").to_dict("records"),
              "metrics": field.to_dict("records"), **more}
    (folder / "results.json").write_text(json.dumps(tidy(result), indent=1, default=str) + "\n",
                                         encoding="utf-8")


def print_table(points, field, unit):
    """A line for each point."""
    print(f"{'':36s} {unit:>8s} {'seconds':>9s} {'min':>9s} {'max':>9s} {'efficiency':>21s} "
          f"{'output':>7s} {'SYPD':>9s}")
    if (points.oversubscribed | points.shared_cores).any():
        print("* ranks share cores: compare only output there")
    if points.disturbed.any():
        print("‡ something else ran on their cores: not compared")
    for curve in page.curves(points):
        rows = page.select(points, curve)
        title = ", ".join(t for t in (curve[0], page.name(points, *curve[1:])) if t)
        output = rows[rows.part == "output"].set_index("cores").fraction
        speed = page.select(field, curve)
        speed = speed[speed.metric == "SYPD to the last durable byte"].set_index("cores")["median"]
        for row in rows[rows.part == parts.TOTAL].itertuples():
            fraction = (page.percent(output[row.cores]) if row.cores in output.index and
                        row.budget == row.budget else "-")
            print(f"{title:36s} {page.cores_text(row).replace('†', '*'):>8s} {row.median:9.3f} "
                  f"{row.min:9.3f} {row.max:9.3f} {page.efficiency(row._asdict(), True):>21s} "
                  f"{fraction:>7s} {page.number(speed.get(row.cores)):>9s}")
            title = ""
