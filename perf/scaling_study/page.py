"""The page of the report: sentences and tables from the numbers, put into page.html."""
import pathlib

import jinja2
import pandas
import yaml

from . import fits, parts


def number(value, digits=3):
    """Short, in one cell: 12.3, 0.0451, 1.2e-05, -."""
    if value is None or value != value:
        return "-"
    if isinstance(value, str):
        return value
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.0f}" if abs(value) >= 10**(digits - 1) else f"{value:.{digits}g}"


def percent(value):
    return "-" if value is None or value != value else f"{100 * value:.0f} %"


def curves(points):
    """(mode, machine, curve) in the order of the page, strong first."""
    found = dict.fromkeys(zip(points["mode"], points.machine, points.curve))
    return sorted(found, key=lambda c: c[0])


def name(points, machine, curve):
    several = points.machine.nunique() > 1
    return ", ".join(t for t in (curve.replace("=", " "), machine if several else "") if t)


def select(points, curve):
    return points[(points["mode"] == curve[0]) & (points.machine == curve[1]) & (points.curve == curve[2])]


def cores_text(row):
    return f"{row.cores}{'*' if row.oversubscribed else '†' if row.shared_cores else ''}"


def findings(points, laws, unit):
    """Of each curve its name, and a sentence or three."""
    sentences = []
    for curve in curves(points):
        of_curve = select(points, curve)
        total, output = of_curve[of_curve.part == parts.TOTAL], of_curve[of_curve.part == "output"]
        title = f"{curve[0].capitalize()}" + (f", {name(points, *curve[1:])}" if name(points, *curve[1:]) else "")
        fair = total[total.comparable]
        first, last = total.iloc[0], fair.iloc[-1] if len(fair) > 1 else total.iloc[-1]
        if len(total) == 1:
            text = f"One point only, {first.cores} {unit}: {number(first['median'])} s; nothing to compare it with"
        else:
            caution = "" if last.comparable else " (cores are shared: this says nothing of computing)"
            text = f"From {first.cores} to {cores_text(last)} {unit} the run goes {change(first, last)}{caution}"
        output = output if output.oversubscribed.all() else output[~output.oversubscribed]
        if len(output) > 1 and len(of_curve[of_curve.part == "compute"]):
            start, end = output.iloc[0], output.iloc[-1]
            text += ", its output" if end.cores == last.cores else f"; from {start.cores} to {end.cores} its output goes"
            text += f" {change(start, end)}"
        if len(output.budget.dropna()):
            text += ". " + share_text(output, unit)
        law = next((f for f in laws if (f["mode"], f["machine"], f["curve"], f["part"]) == (*curve, parts.TOTAL)), {})
        if law.get("most_cores"):
            far = law["most_cores"] > 2 * last.cores
            text += f". By the Universal Scalability Law most is done per second at {number(law['most_cores'])} {unit}"
            text += f", far beyond the {last.cores} measured" if far else ""
        sentences.append((title, text + "."))
    return comparisons(points, unit) + sentences


def change(first, last):
    return f"from {number(first['median'])} s to {number(last['median'])} s (efficiency {percent(last.efficiency)})"


def comparisons(points, unit):
    """What varies, where most cores are: the whole run, or its output where only that is compared."""
    sentences = []
    for (mode, machine), rows in points[~points.oversubscribed].groupby(["mode", "machine"], sort=True):
        at = rows[rows.cores == rows.cores.max()]
        part = parts.TOTAL if at[at.part == parts.TOTAL].comparable.all() else "output"
        times = at[at.part == part].sort_values("median")
        if len(times) > 1 and times["median"].min() > 0:
            fastest = times.iloc[0]
            others = [f"{number(t['median'])} s with {name(points, '', t.curve)} ({t['median'] / fastest['median']:.1f} times)"
                      for _, t in times.iloc[1:].iterrows()]
            where = f"{mode} scaling" + (f", {machine}" if points.machine.nunique() > 1 else "")
            sentences.append(("Compared", f"On {fastest.cores} {unit} ({where}) {'output' if part == 'output' else 'the run'} takes "
                              f"{number(fastest['median'])} s with {name(points, '', fastest.curve)}, {', '.join(others)}."))
    return sentences


def share_text(output, unit):
    budget, passes, shares = output.budget.max(), fits.passes(output), 100 * output.share
    text = f"It takes {shares.iloc[0]:.0f} % of the run at {output.cores.iloc[0]}"
    text += f" and {shares.iloc[-1]:.0f} % at {output.cores.iloc[-1]}" if len(output) > 1 else ""
    if passes is None:
        return text + f", within the budget of {budget:g} % throughout"
    if passes["last_within"] is None:
        return text + f"; the budget of {budget:g} % is passed from the first point on"
    return text + (f"; it passes the budget of {budget:g} % between {passes['last_within']} and {passes['first']} {unit} "
                   f"(at {passes['between']:.1f} on the line between)")


def interval(bounds):
    return "-" if bounds is None else f"{number(bounds[0], 2)} to {number(bounds[1], 2)}"


def law_table(points, laws, unit):
    rows = []
    for law in laws:
        where = [law["mode"], name(points, law["machine"], law["curve"]) or "all", law["part"]]
        if "sigma" in law:
            cells = [number(law["sigma"]), interval(law["sigma_interval"]), number(law["kappa"]), interval(law["kappa_interval"]),
                     number(law["most_cores"]), percent(law["relative_error"]), law["runs"]]
            style = "sum" if law["kind"] == "sum" else ""
            rows.append({"style": style, "cells": where + cells})
    order = {part: n for n, part in enumerate(parts.SUMS)}
    rows.sort(key=lambda row: (row["cells"][0], row["cells"][1], order.get(row["cells"][2], len(order))))
    return {"head": ["mode", "curve", "part", "σ", "95 %", "κ", "95 %", f"most at ({unit})", "scatter", "runs"], "rows": rows}


def not_fitted(points, laws):
    """Sentences: which sums have no law, and why."""
    reasons = {}
    for law in laws:
        if "why_not" in law and law["kind"] == "sum":
            curve = ", ".join(t for t in (law["mode"], name(points, law["machine"], law["curve"])) if t)
            reasons.setdefault((curve, law["why_not"]), []).append(law["part"])
    return [f"{curve}: no law for {', '.join(names)}: {reason}." for (curve, reason), names in reasons.items()]


def time_table(of_curve, unit):
    """Times, then efficiencies and serial fractions, a row for each part."""
    total = of_curve[of_curve.part == parts.TOTAL]
    columns = [cores_text(row) for row in total.itertuples()]
    last = columns[-1]
    head = [f"seconds on {unit}:", *columns, f"spread at {last}", f"share at {last}", f"efficiency at {last}", f"serial fraction at {last}"]
    order = list(dict.fromkeys(of_curve.part))
    order = [p for p in parts.SUMS if p in order] + [p for p in order if p not in parts.SUMS]
    rows = []
    for part in order:
        row = of_curve[of_curve.part == part]
        by_point = row.set_index(["cores", "nodes"])["median"].reindex(pandas.MultiIndex.from_frame(total[["cores", "nodes"]]))
        end = row.iloc[-1]
        spread = (end["max"] - end["min"]) / end["median"] if end["median"] > 0 else None
        inside = end.kind == "within"
        cells = [part, *[number(v) for v in by_point], percent(spread), "-" if inside else percent(end.share), percent(end.efficiency),
                 number(end.serial_fraction, 2)]
        rows.append({"style": "sum" if end.kind == "sum" else "aside" if inside or part == parts.OTHER else "", "cells": cells})
    return {"head": head, "rows": rows}


def scaling_table(of_curve, unit):
    """Of the run and its sums, at every point."""
    total = of_curve[of_curve.part == parts.TOTAL]
    rows = []
    for part in parts.SUMS:
        row = of_curve[of_curve.part == part]
        if len(row) == len(total) > 1:
            show = [("speed-up", "speed_up", number), ("efficiency", "efficiency", percent), ("serial fraction", "serial_fraction", number)]
            rows += [{"style": "sum" if key == "speed_up" else "", "cells": [f"{part}: {title}", *[text(v) for v in row[key]]]}
                     for title, key, text in show]
    return {"head": [f"on {unit}:", *[cores_text(row) for row in total.itertuples()]], "rows": rows}


def count_table(counts, total, unit):
    rows = []
    for what, of_count in counts.groupby("count", sort=False):
        if of_count["max"].max() > 0:
            by_point = of_count.set_index(["cores", "nodes"])["median"].reindex(pandas.MultiIndex.from_frame(total[["cores", "nodes"]]))
            rows.append({"style": "", "cells": [what, *[f"{v:,.0f}".replace(",", " ") if v >= 10 else number(v) for v in by_point]]})
    return {"head": [f"counted, on {unit}:", *[cores_text(row) for row in total.itertuples()]], "rows": rows}


def beside_table(points, unit):
    """Several machines: seconds of each at the same points, and how often the first one's time goes into them."""
    machines = list(dict.fromkeys(points.machine))
    rows = []
    for (mode, curve, cores, part), same in points[points.part.isin(["total", "compute", "output"])].groupby(
            ["mode", "curve", "cores", "part"], sort=False):
        seconds = same.groupby("machine")["median"].first()
        if len(seconds) > 1:
            times = [seconds.get(m) for m in machines]
            ratios = [times[0] / t if times[0] and t else None for t in times[1:]]
            rows.append({"style": "sum" if part == parts.TOTAL else "", "cells": [
                f"{mode}{', ' + curve.replace('=', ' ') if curve else ''}: {part}", cores, *map(number, times), *map(number, ratios)]})
    return {"head": ["seconds", unit, *machines, *[f"{machines[0]} / {m}" for m in machines[1:]]], "rows": rows}


def machine_facts(study):
    facts = []
    for key, value in study.machine.items():
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items())
        facts.append((key.replace("_", " "), "yes" if value is True else "no" if value is False else value))
    return {"name": study.name, "facts": facts + [("results", study.folder), ("runs", f"{len(study.runs)} of {study.asked} used")]}


def write(folder, studies, points, counts, laws, figures, title, subtitle, complaints, notes, unit):
    tables = []
    for curve in curves(points):
        of_curve = select(points, curve)
        total = of_curve[of_curve.part == parts.TOTAL]
        tables.append({"title": ", ".join(t for t in (f"{curve[0]} scaling", name(points, *curve[1:])) if t),
                       "tables": [time_table(of_curve, unit), scaling_table(of_curve, unit),
                                  count_table(select(counts, curve), total, unit)]})
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent), autoescape=True,
                                   undefined=jinja2.StrictUndefined, trim_blocks=True)
    text = templates.get_template("page.html").render(
        title=title, subtitle=subtitle, complaints=complaints, notes=notes, findings=findings(points, laws, unit), figures=figures,
        laws=law_table(points, laws, unit), not_fitted=not_fitted(points, laws), beside=beside_table(points, unit), tables=tables,
        machines=[machine_facts(s) for s in studies], unit=unit, one_unit="rank" if unit == "ranks" else "core",
        output_rest=parts.OUTPUT_REST,
        studies=[yaml.safe_dump(s.settings, sort_keys=False, width=120) for s in studies if s.settings])
    (folder / "index.html").write_text(text, encoding="utf-8")
