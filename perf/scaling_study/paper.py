"""The key `paper` of a study: what a paper found, and what the points of this study show of it,
with a verdict.

A ratio is the time of one curve (`of`) over that of another (`over`): how many times as long it
takes, or, where the paper has per cent, how much of it is saved. Where nodes share cores, computing
is compared by processor time, as everywhere on the page.
"""
import itertools
import math
import re

from . import page, parts, plots, study_file

AGREES = "same direction"  # of a paper without a figure
SAME, SMALLER, LARGER = (f"{AGREES}, within a factor of two", f"{AGREES}, smaller",
                         f"{AGREES}, larger")
ALIKE = 1.05  # what one repetition cannot tell from 1
REVERSE, NONE, UNSHOWN, UNREAD = ("reverse", "no difference here", "cannot be shown here",
                                  "the paper was not read for it")


def read(study):
    """Checks the findings of study.yaml, which may be of another version."""
    given = study.settings.get("paper")
    if given is not None:
        try:
            study.paper = study_file.paper_of(
                study_file.Check("study.yaml", "paper", texts_of(given)))
        except study_file.StudyError as error:
            study.complain(f"{error}; the page does without the findings of the paper")


def texts_of(value):
    if isinstance(value, dict):
        return {key: texts_of(item) for key, item in value.items()}
    return [texts_of(item) for item in value] if isinstance(value, list) else str(value)


def entries(studies, points):
    """Each finding of each study, for each value of what else varies, and with `at: each` for each
    number of nodes."""
    found = []
    for study in studies:
        rows = points[(points.machine == study.name) & (points["mode"] == "strong")]
        # `--system local`
        one_node = (rows.nodes == 1).all() and (rows.groupby("curve").ranks.nunique() > 1).any()
        count = "ranks" if one_node or "ranks" in (study.settings.get("strong") or {}) else "nodes"
        for finding in study.paper:
            one = {"study": study.name,
                   **{key: finding.get(key) for key in ("source", "found", "paper", "rule")}}
            shown = [compared(finding["paper"], *pair, where, count)
                     for pair, where in pairs_of(finding, rows, count)] if "of" in finding else []
            found += [{**one, **ours}
                      for ours in shown or [{"at": None, "here": None, "why": None,
                                             "processor_time": False, "verdict": UNSHOWN}]]
    return found


def pairs_of(finding, rows, count):
    """((row of, row over, in processor time?), rest) at each place that the finding names; `rest`
    are the labels that both curves have."""
    of_side, over_side = (
        {curve: {row[count]: row for row in of_curve.to_dict("records")}
         for curve, of_curve in rows[rows.part == part].groupby("curve", sort=False)}
        for part in parts_of(finding))
    at, over_at = finding.get("at", "most"), finding.get("over_at")
    for one, of in of_side.items():
        for other, over in over_side.items():
            where = rest(finding["of"], one)
            if where is None or where != rest(finding["over"], other):
                continue
            both = sorted(of.keys() & over.keys())

            def place(side, word):
                numbers = sorted(side) if over_at else both
                if not numbers:
                    return None
                return side.get(numbers[-1] if word == "most"
                                else numbers[0] if word == "least" else int(word))
            places = ([(of[n], over[n]) for n in both] if at == "each"
                      else [(place(of, at), place(over, over_at or at))])
            yield from ((pair, where)
                        for pair in itertools.starmap(parts.comparable, places) if pair)


def parts_of(finding):
    part = finding.get("part", "output")
    return part, finding.get("over_part", part)


def rest(labels, curve):
    """What else than these labels the curve has, each with the name of its key (io_format=pnetcdf)
    or without (pnetcdf); None if it has not all."""
    values = curve.split(", ")
    for label in labels.split(", "):
        found = next((value for value in values if label in (value, value.partition("=")[2])), None)
        if found is None:
            return None
        values.remove(found)
    return values


def compared(paper, of, over, processor_time, where, count):
    places = dict.fromkeys(f"{row[count]} {count[:-1] if row[count] == 1 else count}"
                           for row in (of, over))
    at = ", ".join([" and ".join(places), *where]).replace("=", " ")
    if processor_time is None or min(of["min"], over["min"]) <= 0:
        why = next((word for word in ("disturbed", "oversubscribed") if of[word] or over[word]),
                   "cores are shared" if processor_time is None else "no time")
        return {"at": at, "here": None, "why": why, "processor_time": False, "verdict": UNSHOWN}
    low, high, saves = bounds(paper)
    ratio, least, most = (of["median"] / over["median"], of["min"] / over["max"],
                          of["max"] / over["min"])
    numbers = [ratio, *parts.interval(of["times"], over["times"])]
    return {"at": at, "why": None, "processor_time": processor_time,
            "verdict": UNREAD if paper == "unread" else verdict(low, high, ratio, least, most),
            "here": dict(zip(("median", "low", "high"), [
                100 * (1 - 1 / value) if saves and value else value for value in numbers]))}


def bounds(paper):
    """Of a ratio, from "10", "9 to 14", "above 1", or "80 to 98 %" that are saved."""
    low, high, saves = re.fullmatch(study_file.RANGE, paper).groups()
    if low is None:
        return 1.0, math.inf, False
    found = [float(text) for text in (low, high or low)]
    return (*[1 / (1 - value / 100) if saves else value for value in found], bool(saves))


def verdict(low, high, ratio, least, most):
    if high < 1:
        low, high, ratio, least, most = 1 / high, 1 / low, 1 / ratio, 1 / most, 1 / least
    if (low > 1 or high == math.inf) and least <= ALIKE and most >= 1 / ALIKE:
        return NONE
    if (low > 1 or high == math.inf) and ratio < 1:
        return REVERSE
    found = (AGREES if high == math.inf else SMALLER if ratio < low / 2 else LARGER
             if ratio > 2 * high else SAME)
    # "1" has no direction
    return found if low > 1 or high == math.inf else found.removeprefix(f"{AGREES}, ")


def shown(entry):
    """Its cells on the page: of the paper, and ours."""
    paper, here = entry["paper"] or "-", entry["here"]
    if here is None:
        return paper, f"{entry['why']}, {entry['at']}" if entry["why"] else "-"
    unit = " %" if paper.endswith("%") else ""
    between = (f" ({page.number(here['low'])} to {page.number(here['high'])})"
               if here["low"] is not None else "")
    return (paper, f"{page.number(here['median'])}{unit}{between}"
            f"{'†' if entry['processor_time'] else ''}, {entry['at']}")


def table(found):
    """Rows for the page: of `at: each`, the text only once."""
    rows, last = [], None
    for one in found:
        text = tuple(one[key] for key in ("study", "source", "found", "rule"))
        several = len({other["study"] for other in found}) > 1
        rows.append({"source": one["source"] + (f" ({one['study']})" if several else ""),
                     "found": one["found"], "rule": one["rule"], "again": text == last,
                     "numbers": [*shown(one), one["verdict"]]})
        last = text
    return rows


def draw(figures, studies):
    """The times of the parts that the findings compare, against cores, a panel for each part."""
    p = figures.points[(figures.points["mode"] == "strong") & (figures.points["median"] > 0)]
    wanted = dict.fromkeys(part for study in studies for finding in study.paper if "of" in finding
                           for part in parts_of(finding))
    wanted = [part for part in wanted if p[p.part == part].cores.nunique() > 1]
    if not wanted:
        return
    figure, grid = figures.panels(len(wanted))
    for axes, part in zip(grid[0], wanted):
        rows = p[p.part == part]
        if rows.nodes.nunique() == 1:  # ranks of a node in one line
            others = (re.sub("(, )?ranks_per_node=[0-9]+", "", curve) for curve in rows.curve)
            rows = rows.assign(curve=[curve.removeprefix(", ") for curve in others])
        what = "time outside MPI" if rows.kind.eq("within").all() else "processor time"
        of_compute = rows.processor.notna().any() and part != "output"
        rows = figures.fair(rows.assign(kind=parts.COMPUTE) if of_compute else rows).sort_values(
            "cores", kind="stable")
        lines = list(dict.fromkeys(zip(rows.machine, rows.curve)))
        for one, style in zip(lines, plots.styles(curve for _, curve in lines)):
            figures.line(axes, rows[(rows.machine == one[0]) & (rows.curve == one[1])], style,
                         figures.label(one))
        figures.times_axis(axes)
        figures.cores_axis(axes, figures.points[figures.points.part == part])
        axes.set_title(part + (f", {rows.nodes.iloc[0]:.0f} nodes" if rows.nodes.nunique() == 1
                               else "") + (f", {what}" if of_compute and
                                           figures.in_processor_time else ""), fontsize=10)
    grid[0][0].set_ylabel("time of the slowest rank (s)")
    handles = {label: handle for axes in grid[0]
               for handle, label in zip(*axes.get_legend_handles_labels())}
    figures.save(figure, "paper.png", "What the findings of the paper are about. Median, and all "
                 "repetitions within the bars.", (list(handles.values()), list(handles)))
