"""The page of the report: sentences and tables from the numbers, put into page.html."""
import pathlib

import jinja2
import pandas
import yaml

from . import parts
from .texts import number


FINDINGS = 6  # sentences of a page


def percent(value):
    return "-" if value is None or value != value else f"{100 * value:.0f} %"


def efficiency(row, with_interval=False):
    """Of a point (as a dictionary), or the word for why there is none."""
    if row["no_efficiency"]:
        return "none: " + row["no_efficiency"] if with_interval else row["no_efficiency"]
    low, high = row["efficiency_low"], row["efficiency_high"]
    spread = (f" ({100 * low:.0f} to {100 * high:.0f})" if with_interval and low is not None and
              low == low and low < high else "")
    return percent(row["efficiency"]) + spread


def curves(points):
    """(mode, machine, curve) in the order of the page, strong first."""
    found = dict.fromkeys(zip(points["mode"], points.machine, points.curve))
    return sorted(found, key=lambda c: c[0])


def name(points, machine, curve):
    several = points.machine.nunique() > 1
    return ", ".join(t for t in (curve.replace("=", " "), machine if several else "") if t)


def select(points, curve):
    return points[(points["mode"] == curve[0]) & (points.machine == curve[1]) &
                  (points.curve == curve[2])]


def cores_text(row):
    mark = "*" if row.oversubscribed else "†" if row.shared_cores else "‡" if row.disturbed else ""
    return f"{row.cores}{mark}"


def useful_cores(compute, base, least, in_processor_time):
    """The efficiency of computing against `base` cores, which is named where other curves of the
    machine begin with fewer."""
    if compute is None or compute.cores == base:
        return "-"
    if in_processor_time:
        text = percent(compute.computation_scaling * compute.load_balance)
        text += "†" if text != "-" else ""
    else:
        text = efficiency(compute._asdict())
    return text + (f" of {base}" if base > least and text.endswith(("%", "†")) else "")


def summary_table(points, field, unit, limited):
    """A row for each curve, where most cores are."""
    rows, least = [], points.groupby(["mode", "machine"]).cores.min()
    for curve in curves(points):
        of_curve = select(points, curve)
        end = {row.part: row
               for row in of_curve[of_curve.cores == of_curve.cores.max()].itertuples()}
        total, compute, output = end[parts.TOTAL], end.get(parts.COMPUTE), end.get("output")
        speed = select(field[field.metric == "SYPD to the last durable byte"],
                       curve).set_index("cores")["median"]
        in_processor_time = compute is not None and compute.shared_cores
        useful = useful_cores(compute, of_curve.cores.min(), least[curve[:2]], in_processor_time)
        what = [f"{part}: {what} ({100 * min(at[total.cores]):.0f} %)"
                for (*of, part, what), at in limited.items()
                if tuple(of) == curve and total.cores in at]
        is_written = output is not None and parts.writes(curve[2])
        rows.append({"style": "", "cells": [
            ", ".join(filter(None, [curve[0], name(points, *curve[1:])])), cores_text(total),
            number(total.median), number(speed.get(total.cores)),
            f"{number(output.median)} ({percent(output.fraction)})" if is_written else "-",
            useful, "; ".join(what) or "-"]})
    head = ["curve, at its most cores", unit, "run (s)", "SYPD", "output (s)",
            "efficiency of computing", "limit, and its part of that time"]
    told = [n for n in range(len(head)) if any(row["cells"][n] != "-" for row in rows)]
    return {"head": [head[n] for n in told],
            "rows": [{**row, "cells": [row["cells"][n] for n in told]} for row in rows]}


def findings(points, field, unit):
    """What differs, and of each curve with cores of its own how it scales: six sentences at
    most."""
    sentences = []
    for curve in curves(points):
        of_curve = select(points, curve)
        total, output = (of_curve[of_curve.part == parts.TOTAL],
                         of_curve[(of_curve.part == "output") & (of_curve.fraction >= parts.SMALL)])
        title = (f"{curve[0].capitalize()}" +
                 (f", {name(points, *curve[1:])}" if name(points, *curve[1:]) else ""))
        fair = total[total.comparable]
        found = []
        if len(fair) > 1:
            found = [f"From {fair.cores.iloc[0]} to {fair.cores.iloc[-1]} {unit} the run goes "
                     f"{change(fair.iloc[0], fair.iloc[-1])}"]
        output = output if output.oversubscribed.all() else output[~output.oversubscribed]
        if len(output) > 1 and len(of_curve[of_curve.part == "compute"]):
            found.append(f"From {output.cores.iloc[0]} to {output.cores.iloc[-1]} its output goes "
                         f"{change(output.iloc[0], output.iloc[-1])}")
        output = output[output.cores.isin(fair.cores)]
        if len(output.budget.dropna()):
            shown, above = [f"{percent(row.fraction)} at {row.cores}"
                            for row in output.itertuples()], 100 * output.fraction > output.budget
            over = (f"above the budget of {output.budget.max():g} % at "
                    f"{', '.join(map(str, output.cores[above]))}" if above.any()
                    else "within the budget")
            found.append(f"Output takes {', '.join(shown)} of the run, {over}")
        cost = select(field[field.metric == "data output cost"], curve)
        if len(cost):
            found.append("Its core-hours over those without output: " + ", ".join(
                f"{number(row.median)} at {row.cores}" for row in cost.itertuples()))
        sentences += [(title, ". ".join(found) + ".")] if found else []
    return (comparisons(points, unit) + sentences)[:FINDINGS]


def change(first, last):
    spread = efficiency(last, True)
    text = "efficiency: " if spread.startswith("none") else "efficiency "
    if (last["efficiency_low"] == last["efficiency_low"] and
        (last["efficiency_low"] or 2) <= 1 <= (last["efficiency_high"] or 0)):
        spread += ", no different from 100 %"
    return f"from {number(first['median'])} s to {number(last['median'])} s ({text}{spread})"


def comparisons(points, unit):
    """What varies, where most cores are: the whole run, or its output where only that is
    compared."""
    sentences = []
    # runs of one length are compared
    years = points.curve.str.extract("(?:^|, )run_years=([0-9.]+)")[0].astype(float).fillna(0)
    for (mode, machine, _), rows in points[~points.oversubscribed].groupby(
        ["mode", "machine", years], sort=True):
        at = rows[rows.cores == rows.cores.max()]
        part = parts.TOTAL if at[at.part == parts.TOTAL].comparable.all() else "output"
        times = at[(at.part == part) & (at.fraction >= parts.SMALL)].sort_values("median")
        times = times[times.curve.map(parts.writes)] if part == "output" else times
        if len(times) > 1:
            fastest = times.iloc[0]
            others = [
                f"{number(t['median'])} s with {name(points, '', t.curve)} ({ratio(t, fastest)})"
                for _, t in times.iloc[1:].iterrows() if not parts.overlap(t, fastest)]
            if not others:
                continue
            where = f"{mode} scaling" + (f", {machine}" if points.machine.nunique() > 1 else "")
            sentences.append(
                ("Compared", f"On {fastest.cores} {unit} ({where}) "
                 f"{'output' if part == 'output' else 'the run'} takes {number(fastest['median'])} "
                 f"s with {name(points, '', fastest.curve)}, {', '.join(others)}."))
    return sentences


def ratio(one, other):
    """How many times as long, with its interval."""
    if parts.overlap(one, other):
        return "no difference"
    low, high = parts.interval(one["times"], other["times"])
    return (f"{one['median'] / other['median']:.1f} times" +
            (f", {low:.1f} to {high:.1f}" if low is not None and low < high else ""))


def interval(bounds):
    return "-" if bounds is None else f"{number(bounds[0], 2)} to {number(bounds[1], 2)}"


def at_points(rows, total):
    """The medians of the rows at the points of `total`, none where there is no row."""
    return rows.set_index(["cores", "nodes"])["median"].reindex(
        pandas.MultiIndex.from_frame(total[["cores", "nodes"]]))


def columns(total):
    return [cores_text(row) for row in total.itertuples()]


def time_table(of_curve, unit):
    """Times, then efficiencies and serial fractions, a row for each part."""
    total = of_curve[of_curve.part == parts.TOTAL]
    last = columns(total)[-1]
    head = [f"seconds on {unit}:", *columns(total), *[f"{what} at {last}" for what in (
        "spread", "95 %", "imbalance", "fraction", "efficiency", "serial fraction")]]
    order = list(dict.fromkeys(of_curve.part))
    order = [p for p in parts.SUMS if p in order] + [p for p in order if p not in parts.SUMS]
    rows = []
    for part in order:
        row = of_curve[of_curve.part == part]
        end = row.iloc[-1]
        spread = (end["max"] - end["min"]) / end["median"] if end["median"] > 0 else None
        inside = end.kind == "within"
        cells = [part, *[number(v) for v in at_points(row, total)], percent(spread),
                 interval(None if end.low != end.low else (end.low, end.high)),
                 percent(end.imbalance), "-" if inside else percent(end.fraction),
                 "-" if inside else efficiency(end),
                 "slower" if end.serial_fraction > 1 else number(end.serial_fraction, 2)]
        rows.append({"style": "sum" if end.kind == "sum" else "aside" if inside or
                     part == parts.OTHER else "", "cells": cells})
    return {"head": head, "rows": rows}


def scaling_table(of_curve, unit):
    """Of the run and its sums, at every point."""
    total = of_curve[of_curve.part == parts.TOTAL]
    rows = []
    for part in parts.SUMS:
        row = of_curve[of_curve.part == part]
        if len(row) == len(total) > 1:
            cells = [efficiency(one, True).removeprefix("none: ") for one in row.to_dict("records")]
            rows.append({"style": "", "cells": [f"{part}: efficiency", *cells]})
    return {"head": [f"on {unit}:", *columns(total)], "rows": rows}


def law_table(laws, curve, unit):
    """Of the parts of a curve that have a law (law.py)."""
    rows = [{"style": "", "cells": [
        f"{one['part']}: on {one['cores'][0]} to {one['cores'][-1]} {unit}",
        *[text for name in ("seconds", "sigma", "kappa") for text in (number(one[name]), interval(
            None if one[f"{name}_low"] is None else (one[f"{name}_low"], one[f"{name}_high"])))],
        f"{100 * one['misses']:.1f} %"]}
            for one in laws if (one["mode"], one["machine"], one["curve"]) == curve]
    return {"head": ["law of strong scaling", "t(1) (s)", "95 %", "sigma", "95 %", "kappa", "95 %",
                     "misses a point by up to"], "rows": rows}


POP = {"load_balance": "load balance", "communication_efficiency": "communication efficiency",
       "parallel_efficiency": "parallel efficiency",
       "computation_scaling": "computation scaling", "global_efficiency": "global efficiency"}


def pop_table(of_curve, unit):
    """POP's metrics of the computation and of each of its parts, those that are known."""
    total = of_curve[of_curve.part == parts.TOTAL]
    rows = []
    for part in [parts.COMPUTE, *dict.fromkeys(
        of_curve[(of_curve.kind == parts.COMPUTE) & (of_curve.fraction >= parts.SMALL)].part)]:
        row = of_curve[(of_curve.part == part) & of_curve.load_balance.notna()]
        for metric, text in POP.items():
            values = at_points(row.assign(median=row[metric]), total)
            if values.notna().any():
                rows.append({"style": "sum" if part == parts.COMPUTE else "",
                             "cells": [f"{part}: {text}", *map(percent, values)]})
    return {"head": [f"POP's metrics, on {unit}:", *columns(total)], "rows": rows}


def metric_table(field, total, unit):
    rows = []
    for (metric, of), of_metric in field.groupby(["metric", "unit"], sort=False):
        cells = [f"{v:,.0f}".replace(",", " ") if v >= 1000 else number(v)
                 for v in at_points(of_metric, total)]
        if metric == "data output cost":
            same = {row["cores"] for row in of_metric.to_dict("records")
                    if row["min"] is not None and row["min"] <= 1 <= row["max"]}
            cells = [f"{cell} (no difference)" if cores in same else cell
                     for cell, cores in zip(cells, total.cores)]
        if of_metric["max"].max() > 0 or of:
            rows.append({"style": "", "cells": [f"{metric} ({of})" if of else metric, *cells]})
    return {"head": [f"metrics and counts, on {unit}:", *columns(total)], "rows": rows}


def side_by_side_table(points, unit):
    """Several machines: seconds of each at the same points, and how often the first one's time goes
    into them."""
    machines = list(dict.fromkeys(points.machine))
    rows = []
    for (mode, curve, cores, part), same in points[points.part.isin(
        ["total", "compute", "output"])].groupby(["mode", "curve", "cores", "part"], sort=False):
        of = {row["machine"]: row for row in same.to_dict("records")}
        if len(of) > 1:
            first, others = of.get(machines[0]), [of.get(m) for m in machines[1:]]
            ratios = [side_by_side(first, other) for other in others]
            rows.append({"style": "sum" if part == parts.TOTAL else "", "cells": [
                f"{mode}{', ' + curve.replace('=', ' ') if curve else ''}: {part}", cores,
                *[number(one and one["median"]) for one in (first, *others)], *ratios]})
    return {"head": ["seconds", unit, *machines, *[f"{machines[0]} / {m}" for m in machines[1:]]],
            "rows": rows, "first": machines[0]}


def side_by_side(first, other):
    """The ratio of two points, or the word for why there is none."""
    if not (first and other):
        return "-"
    if first["tools"] != other["tools"]:
        return "other tools"
    if first["cells"] != other["cells"] and not (pandas.isna(first["cells"]) or
                                                 pandas.isna(other["cells"])):
        return "other grid"
    one, two, in_processor_time = parts.comparable(first, other)
    if in_processor_time is None:
        return next((word for word in ("oversubscribed", "disturbed")
                     if first[word] or other[word]), "shared")
    if parts.overlap(one, two):
        return "no difference" + ("†" if in_processor_time else "")
    return number(one["median"] / two["median"]) + ("†" if in_processor_time else "")


def best_table(points):
    """Where files are read, too: seconds of writing and of each way of reading with most cores, the
    least of each column marked."""
    at = points[(points.cores == points.groupby(["machine", "mode", "curve"]).cores.transform(
        "max")) & ((points.part == "output") | points.part.str.startswith("read: "))]
    if not at.part.str.startswith("read: ").any():
        return {"rows": []}
    seconds = at.pivot_table(index=["machine", "curve"], columns="part", values="median",
                             sort=False)
    least = seconds.min()
    rows = [{"style": "", "cells": [name(points, *of), *[
        number(v) + (" (least)" if v == least[part] else "") for part, v in row.items()]]}
            for of, row in seconds.iterrows()]
    return {"head": ["seconds, with most cores",
                     *["writing" if part == "output" else part for part in seconds]], "rows": rows}


def machine_facts(study):
    facts = []
    for key, value in study.machine.items():
        if isinstance(value, list):  # least and most of the runs
            value = " to ".join(map(str, value))
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items())
        facts.append(
            (key.replace("_", " "), "yes" if value is True else "no" if value is False else value))
    return {"name": study.name, "facts": facts + [
        ("results", study.folder), ("runs", f"{len(study.runs)} of {study.asked} used")]}


def write(folder, studies, points, field, figures, title, subtitle, complaints, notes, unit,
          limited, laws, found_by_papers, rungs, as_pism):
    tables = []
    for curve in curves(points):
        of_curve = select(points, curve)
        total = of_curve[of_curve.part == parts.TOTAL]
        tables.append(
            {"title": ", ".join(t for t in (f"{curve[0]} scaling", name(points, *curve[1:])) if t),
             "tables": [time_table(of_curve, unit), scaling_table(of_curve, unit),
                        law_table(laws, curve, unit), pop_table(of_curve, unit),
                        metric_table(select(field, curve), total, unit)]})
    templates = jinja2.Environment(loader=jinja2.FileSystemLoader(pathlib.Path(__file__).parent),
                                   autoescape=True,
                                   undefined=jinja2.StrictUndefined, trim_blocks=True)
    text = templates.get_template("page.html").render(
        title=title, subtitle=subtitle, complaints=complaints, notes=notes,
        summary=summary_table(points, field, unit, limited), rungs=rungs,
        findings=findings(points, field, unit), figures=figures, paper=found_by_papers,
        side_by_side=side_by_side_table(points, unit), best=best_table(points), as_pism=as_pism,
        tables=tables, machines=[machine_facts(s) for s in studies], unit=unit,
        one_unit="rank" if unit == "ranks" else "core", output_rest=parts.OUTPUT_REST, studies=[
            yaml.safe_dump(s.settings, sort_keys=False, width=120) for s in studies if s.settings])
    (folder / "index.html").write_text(text, encoding="utf-8")
