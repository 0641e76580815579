"""From reports to a table: what a run spent where, and what the runs of a point make together.

The parts of a run are disjoint. `slowest` is the time of the slowest rank, what a part is judged by; `mean` is that of the average rank,
and only means can be stacked and added: the maxima of different ranks make more than the run. What the timers contain of one another:
"init" contains "init: ..." and "output: open"; the timers "output: ..." contain the phases of the output and the waiting between them.
What remains of the run is "other": what no timer sees, and waiting for the rank that ended last.
"""
import math

import pandas

SUMS = ["total", "init", "compute", "output"]
TOTAL = "total"
OTHER = "other"
OUTPUT_REST = "output: between phases"  # waiting for the rank that writes, and making the fields
HALO = "ghost exchange, in the parts above"
COUNTS = {"messages": ("messages", "messages"), "message bytes": ("messages", "bytes"),
          "collectives per rank": ("messages", "collectives_per_rank"), "stress balance steps": ("ssa", "steps"),
          "linear iterations": ("ssa", "linear_iterations"), "distance rounds": ("ocean", "distance_rounds"),
          "bytes written": ("output", "written_bytes"), "bytes moved for output": ("output", "moved_bytes"),
          "bytes of output between nodes": ("output", "off_node_bytes"), "memory per rank (MiB)": ("peak_resident_MiB_per_rank",)}
POINT = ["machine", "mode", "curve", "nodes", "ranks", "threads", "cores", "cells"]


class Sample:
    """One run, or one method of a run of nunatak-io: times = [(part, kind, slowest, mean), ...], counts = {name: number}."""

    def __init__(self, method, total, times, counts, budget=None):
        self.method, self.total, self.budget = method, total, budget if is_number(budget) else None
        self.counts = {name: value for name, value in counts.items() if is_number(value)}
        wrong = [part for part, _, *seconds in times if not all(map(is_number, seconds))]
        if wrong or not is_number(total) or total <= 0:
            raise ValueError(f"expected seconds, found none in {', '.join(wrong) or 'the time of the run'}")
        self.times = [(part, kind, max(float(slowest), 0.0), max(float(mean), 0.0)) for part, kind, slowest, mean in times]
        self.times.append((OTHER, "other", *2 * [max(total - sum(mean for _, kind, _, mean in self.times if kind != "within"), 0.0)]))
        sums = {kind: sum(mean for _, k, _, mean in self.times if k == kind) for kind in SUMS[1:]}
        self.times += [(TOTAL, "sum", total, total)]
        self.times += [(kind, "sum", seconds, seconds) for kind, seconds in sums.items() if seconds > 0.0]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def samples(report):
    if "methods" in report:
        return [of_method(method) for method in report["methods"]]
    return [of_model(report)]


def of_model(report):
    timers, phases = report["timers"], report["output"]["phases"]

    def total(names, which):
        return sum(timers[name][which] for name in names)

    outputs = [name for name in timers if name.startswith("output: ")]
    within_init = [name for name in timers if name.startswith("init: ")] + [name for name in outputs if name == "output: open"]
    times = [(name, "init", timers[name]["max"], timers[name]["mean"]) for name in timers if name.startswith("init: ")]
    times.append(("init: set up", "init", *[timers["init"][w] - total(within_init, w) for w in ("max", "mean")]))
    times += [(name, "compute", t["max"], t["mean"]) for name, t in timers.items() if name.split(":")[0] not in ("init", "output")]
    times += [(f"output: {name}", "output", t["max"], t["mean"]) for name, t in phases.items()]
    rest = total(outputs, "mean") - sum(t["mean"] for t in phases.values())
    times.append((OUTPUT_REST, "output", rest, rest))
    halo = look_up(report, ("messages", "halo", "max_seconds"))
    if halo is not None:
        times.append((HALO, "within", halo, 0.0))
    counts = {name: look_up(report, keys) for name, keys in COUNTS.items()}
    counts["output, percent of run"] = look_up(report, ("output", "percent_of_run"))
    return Sample(None, report["wall_seconds"], times, counts, report["output"].get("budget_percent"))


def of_method(method):
    """Output alone: medians over the repetitions of nunatak-io."""
    total = method["seconds"]["median"]
    times = [(f"output: {name}", "output", t["max_s"], t["mean_s"]) for name, t in method["phases"].items()]
    rest = total - sum(mean for *_, mean in times)
    times.append((OUTPUT_REST, "output", rest, rest))
    counts = {"bytes written": method.get("written_bytes"), "bytes moved for output": method.get("moved_bytes"),
              "bytes of output between nodes": method.get("off_node_bytes"), "messages": method.get("messages"),
              "message bytes": method.get("message_bytes")}
    times += [(f"read: {by}", "within", read["seconds"]["median"], 0.0) for by, read in method.get("reads", {}).items()]
    return Sample(method["way"], total, times, counts)


def look_up(report, keys):
    for key in keys:
        report = report.get(key) if isinstance(report, dict) else None
    return report


def samples_of(studies):
    """Each sample of each run, with the run and the columns that say at which point it is."""
    for study in studies:
        for run in study.runs:
            for sample in run["samples"]:
                curve = ", ".join(text for text in (run["curve"], sample.method and f"method={sample.method}") if text)
                yield sample, run, {**{key: run[key] for key in POINT if key in run}, "machine": study.name, "curve": curve}


def table(studies):
    """All runs: a row for each part of each."""
    rows = []
    for sample, run, point in samples_of(studies):
        where = {**point, "repetition": run["repetition"], "oversubscribed": run["oversubscribed"], "shared_cores": run["shared_cores"],
                 "budget": sample.budget}
        for part, kind, slowest, mean in sample.times:
            rows.append({**where, "part": part, "kind": kind, "slowest": slowest, "mean": mean, "share": mean / sample.total})
    runs = pandas.DataFrame(rows)
    runs["comparable"] = ~runs.oversubscribed & ~(runs.shared_cores & ~runs.apply(without_cores, axis=1))
    most = runs.groupby(["machine", "mode", "curve", "part"]).slowest.transform("max")
    return runs[most > 0.0].reset_index(drop=True)  # a method of output does not use all phases


def without_cores(row):
    """Are the network and the file system what this part waits for? On emulated nodes that share cores only these rates are real."""
    return row.part == "output" or (row.kind == "output" and row.part != OUTPUT_REST)


def points(runs):
    """Median and spread of each part at each point, and how it scales: `speed_up` counts work (cells) per second against the point
    with the fewest cores, so that it means the same in strong and weak scaling; `efficiency` is speed-up over the growth of cores."""
    groups = runs.groupby([*POINT, "part", "kind"], sort=False, dropna=False)
    points = groups.agg(repetitions=("slowest", "size"), median=("slowest", "median"), min=("slowest", "min"), max=("slowest", "max"),
                        mean=("mean", "median"), share=("share", "median"), budget=("budget", "max"),
                        oversubscribed=("oversubscribed", "any"), shared_cores=("shared_cores", "any"),
                        comparable=("comparable", "all")).reset_index()
    points = points.sort_values(["machine", "mode", "curve", "cores", "nodes"], kind="stable").reset_index(drop=True)
    first = points.groupby(["machine", "mode", "curve", "part"])[["median", "cores", "cells"]].transform("first")
    work = (points.cells / first.cells).fillna(1.0)
    points["speed_up"] = (work * first["median"] / points["median"]).where((points["median"] > 0) & (first["median"] > 0))
    points["times_cores"] = points.cores / first.cores
    points["efficiency"] = points.speed_up / points.times_cores
    n, s = points.times_cores, points.speed_up
    karp_flatt, gustafson = (1 / s - 1 / n) / (1 - 1 / n), (n - s) / (n - 1)
    points["serial_fraction"] = karp_flatt.where(points["mode"] == "strong", gustafson).where(n > 1)
    return points


def counts(studies):
    rows = [{**point, "count": name, "value": float(v)}
            for sample, _, point in samples_of(studies) for name, v in sample.counts.items()]
    if not rows:
        return pandas.DataFrame(columns=[*POINT, "count", "median", "min", "max"])
    groups = pandas.DataFrame(rows).groupby([*POINT, "count"], sort=False, dropna=False)
    return groups.value.agg(["median", "min", "max"]).reset_index()
