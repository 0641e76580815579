"""Rows of results: what is claimed, the command that shows it, and what was measured.

perf/results/*.yaml has the rows, a section of docs/results.md in each file;
perf/results/measured.yaml what they gave, where and when, as `perf/study reproduce` writes it. A
figure of a row is read from the files that its command leaves in the folder $OUT:

    figures:
      ratio: {value: "io.json methods[method=serial].seconds", better: higher,
              over: "io.json methods[method=direct].seconds"}
      "{w}: {m}": {each: {w: [F, G], m: [direct, serial]}, # of a table
                   value: "{w}.json methods[method={m}].seconds"}

`pictures` of a row: {name in docs/img: file below $OUT that its command draws}; --record puts them
there. `value` and `over`: a file, and the way to a number in it, or to what has `median`, `min` and
`max` (or `low`, `high`); or /a regular expression/ in a text.
"""
import itertools
import json
import pathlib
import re
import statistics

import yaml

from . import study_file
from .study_file import Check, StudyError

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "results"
MEASURED = FOLDER / "measured.yaml"
NEEDS = ("cluster", "pism", "pism_sources", "gpu")
BETTER = ("higher", "lower", "same", "either")  # same: a count, equal on every machine
SECTION = ("title", "text", "rows")
ROW = ("claim", "front", "compared", "command", "needs", "quick", "minutes", "runs", "figures",
       "holds", "pictures", "text")
FIGURE = ("value", "over", "better", "each", "unit", "saved", "factor")
# the least interval of a figure, to either side: of one that was measured once, and of others
ALONE, LEAST = 0.1, 0.02


def read(folder=FOLDER):
    """{section: {title, text, rows: {name: row}}} in the order of the files' names."""
    sections, names = {}, set()
    for path in sorted(folder.glob("[0-9]*.yaml")):
        top = Check(path, "", study_file.load(path))
        section = top.mapping(SECTION)
        for name, row in section.get("rows", {}).items():
            one = top.at("rows", section["rows"]).at(name, row)
            section["rows"][name] = checked(one)
            if name in names:
                one.fail("a name of its own", "another row with it")
            names.add(name)
        sections[path.stem] = section
    return sections


def checked(one):
    """A row, with its needs as words and the figures of each of its values."""
    row, figures = one.mapping(ROW), {}
    for key in ("claim", "command", "figures"):
        if not row.get(key):
            one.fail(f"the key {key}", "none")
    needs = [one.at("needs", word).one_of(NEEDS) for word in row.get("needs", "").split()]
    for name, given in one.at("figures", row["figures"]).mapping().items():
        here = one.at("figures", row["figures"]).at(name, given)
        figure = here.mapping(FIGURE)
        here.at("better", figure.get("better", "either")).one_of(BETTER)
        here.at("value", figure.get("value")).text("a file, and the way to a number in it")
        each = figure.get("each", {})
        for values in itertools.product(*each.values()):
            filled = dict(zip(each, values))
            figures[fill(name, filled)] = {key: fill(text, filled)
                                           for key, text in figure.items() if key != "each"}
    return {**row, "needs": needs, "figures": figures}


def fill(text, values):
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def measured(path=MEASURED):
    """{"machines": {name: facts}, "rows": {name: {machine, date, commit, runs, values: {figure:
    [median, least, most]}}}}."""
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise StudyError(f"file '{path}': expected measured rows, found: "
                         f"{' '.join(str(error).split())}") from None
    return found or {"machines": {}, "rows": {}}


def number_at(folder, where):
    """[median, least, most] of what `where` leads to."""
    name, _, way = where.partition(" ")
    text = (pathlib.Path(folder) / name).read_text(encoding="utf-8")
    if way.startswith("/"):
        found = re.search(way.strip("/"), text, re.M)
        if not found:
            raise ValueError(f"{name}: expected {way}, found none")
        return [float(found[1])] * 3
    value = parent = json.loads(text)
    for step in re.findall(r"\[[^]]*\]|[^.\[\]]+", way):
        parent, value = (value, entry(value, step.strip("[]"), where) if step.startswith("[")
                         else member(value, step, where))
    if isinstance(value, dict):
        has_ends = "low" in value and "min" not in value
        names = ("median", "low", "high") if has_ends else ("median", "min", "max")
        value = [member(value, key, where) for key in names]
    else:  # its object may have the ends of the range, too
        value = [value, *(parent.get(f"{step}_{end}") if isinstance(parent, dict) else None
                          for end in ("min", "max"))]
    value = [value[0] if one is None else one for one in value]  # of one repetition
    if not all(isinstance(one, (int, float)) for one in value):
        raise ValueError(f"{where}: expected a number, found {value}")
    return [float(one) for one in value]


def member(value, key, where):
    if not isinstance(value, dict) or key not in value:
        raise ValueError(f"{where}: expected {key}, found "
                         f"{', '.join(value) if isinstance(value, dict) else value}")
    return value[key]


def entry(values, conditions, where):
    """Of a list: by its number, or the only one that meets the conditions
    (name=value;name=value)."""
    if re.fullmatch(r"-?\d+", conditions):
        return values[int(conditions)]
    wanted = dict(condition.split("=", 1) for condition in conditions.split(";"))
    found = [value for value in values
             if all(str(value.get(name)) == text for name, text in wanted.items())]
    if len(found) != 1:
        raise ValueError(
            f"{where}: expected one entry [{conditions}], found {len(found)} of {len(values)}")
    return found[0]


def figure_of(folder, figure):
    """[median, least, most]: of `value`; over `over`, if there is one; with `saved` the per cent by
    which it is less than `over`."""
    value = number_at(folder, figure["value"])
    if "over" in figure:
        over = number_at(folder, figure["over"])
        value = [value[0] / over[0], value[1] / over[2], value[2] / over[1]]
    if figure.get("saved") == "yes":
        value = [100 * (1 - value[0]), 100 * (1 - value[2]), 100 * (1 - value[1])]
    return [float(figure.get("factor", 1)) * one for one in value]


def together(runs):
    """Of the same figure in several runs of the command: the median of the medians, and the whole
    range."""
    return [statistics.median(run[0] for run in runs), min(run[1] for run in runs),
            max(run[2] for run in runs)]


def interval(value):
    """Least and most, two per cent to either side or more; of a single measurement ten per cent."""
    median, least, most = value
    near = (LEAST if least < most else ALONE) * abs(median)
    return min(least, median - near), max(most, median + near)


def verdict(figure, old, new, same_machine):
    better = figure.get("better", "either")
    if better == "same":
        return "equal" if new[0] == old[0] else "DIFFERS"
    if not same_machine:
        return "another machine"
    (low, high), (least, most) = interval(old), interval(new)
    if least <= high and low <= most:
        return "within its interval"
    if better == "either":
        return "differs"
    return "better" if (new[0] > old[0]) == (better == "higher") else "worse"
