"""`perf/study export`: what was measured, run by run, for other programs.

  csv     a row for each part of each run: a table for spreadsheets, pandas, R
  extrap  a file in the text format of Extra-P (https://github.com/extra-p/extrap) for each curve:
          its parameter p is the number of cores, its regions are the parts of the run, and each
          repetition is a value. Time that passed is left out where it says nothing.
"""
import pathlib
import re
import sys

from . import load, parts, work

COLUMNS = [*parts.POINT, "repetition", "part", "kind", "slowest", "mean", "processor", "useful",
           "fraction", "oversubscribed", "shared_cores", "disturbed", "comparable", "tools"]
METRICS = {"time": "slowest", "processor_time": "processor"}  # s, of the slowest rank


def main(arguments):
    studies = [load.read(folder) for folder in arguments.folders]
    for study in studies:
        work.same(study)
    used = load.usable(studies, "exported")
    if not used:
        return 1
    runs = parts.table(used)
    folder = pathlib.Path(arguments.output or pathlib.Path(arguments.folders[0]) / "export")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in FORMATS[arguments.format](folder, runs):
            print(f"wrote {path}")
    except OSError as error:
        print(f"study: cannot write: {error}", file=sys.stderr)
        return 1
    return 0


def write_csv(folder, runs):
    runs.to_csv(folder / "runs.csv", index=False, columns=COLUMNS, float_format="%.9g")
    return [folder / "runs.csv"]


def write_extrap(folder, runs):
    for (machine, mode, curve), rows in runs.groupby(["machine", "mode", "curve"], sort=False):
        name = re.sub(r"[^A-Za-z0-9=,._+-]", "_", "-".join(filter(None, (machine, mode, curve))))
        (folder / f"{name}.txt").write_text(text_of(rows), encoding="utf-8")
        yield folder / f"{name}.txt"


def text_of(rows):
    """Of one curve: the points with fewest to most cores, then each part and metric that is known
    at all of them."""
    cores = sorted(rows.cores.unique())
    lines = ["PARAMETER p", "POINTS " + " ".join(f"( {n} )" for n in cores)]
    largest = rows[rows.kind != "within"].groupby("part", sort=False).fraction.max()
    for part in largest[largest >= parts.SMALL].index:
        for metric, column in METRICS.items():
            of_part = rows[(rows.part == part) & (rows.comparable if metric == "time"
                                                  else rows.kind != "within")]
            data = [of_part[of_part.cores == n][column].dropna() for n in cores]
            if all(map(len, data)):
                lines += ["", f"REGION {part.replace(' ', '_')}", f"METRIC {metric}"]
                lines += ["DATA " + " ".join(f"{value:.9g}" for value in values) for values in data]
    return "\n".join(lines) + "\n"


FORMATS = {"csv": write_csv, "extrap": write_extrap}
