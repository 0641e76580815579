"""From reports to a table: what a run spent where, and what the runs of a point make together.

The parts of a run are disjoint. `slowest` is the time of the slowest rank, what a part is judged
by; `mean` is that of the average rank, and only means can be stacked and added: the maxima of
different ranks make more than the run. What the timers contain of one another: "init" contains
"init: ..." and "output: open"; the timers "output: ..." contain the phases of the output and the
waiting between them. What remains of the run is "other": what no timer sees, and waiting for the
rank that ended last.
"""
import math
import re

import numpy
import pandas

from . import pop, tools

SMALL = 0.01  # a part of less than this fraction of a run is not interpreted
# an efficiency beyond it says that the first point is no baseline, not that more cores are faster
MOST = 2.0
GROWN = 0.1  # how far the cores that compute may grow otherwise than all cores do
SUMS = ["total", "init", "compute", "output"]
TOTAL = "total"
OTHER = "other"
SET_UP = "init: set up"  # what is in no other part of init
OUTPUT_REST = "output: between phases"  # waiting for the rank that writes, and making the fields
IN_MPI = "in MPI, in the parts of compute above"
COMPUTE = "compute"
SNAPSHOTS = "snapshots, in the phases above"  # what a rank that computes sees of them
COUNTS = {
    "messages": ("messages", "messages"), "message bytes": ("messages", "bytes"),
    "collectives per rank": ("messages", "collectives_per_rank"),
    "exchanges per rank": ("messages", "exchanges_per_rank"),
    "stress balance steps": ("ssa", "steps"), "linear iterations": ("ssa", "linear_iterations"),
    "distance rounds": ("ocean", "distance_rounds"), "bytes written": ("output", "written_bytes"),
    "bytes moved for output": ("output", "moved_bytes"),
    "bytes of output between nodes": ("output", "off_node_bytes"),
    "memory per rank (MiB)": ("peak_resident_MiB_per_rank",)}
POINT = ["machine", "mode", "curve", "nodes", "ranks", "threads", "cores", "cells"]


class Sample:
    """One run, or one method of a run of nunatak-io: times = [(part, kind, slowest, mean), ...],
    counts = {name: number}; `form`: its format; `years` that it simulated, `loop` seconds of its
    time steps; ranks that were `servers` of the output. `useful`: what POP's metrics of a part are
    made of."""

    def __init__(self, method, total, times, counts, budget=None, form="", years=None, loop=None,
                 servers=0, useful=None):
        self.method, self.total, self.budget = method, total, budget if is_number(budget) else None
        self.form, self.years, self.loop, self.servers = form, years, loop, servers
        self.useful = {part: pop.of_part(found) for part, found in (useful or {}).items()}
        self.alone = self.useful.get(COMPUTE, {}).get("alone", math.nan)
        self.counts = {name: value for name, value in counts.items() if is_number(value)}
        wrong = [part for part, _, *seconds in times if not all(map(is_number, seconds))]
        if wrong or not is_number(total) or total <= 0:
            raise ValueError(
                f"expected seconds, found none in {', '.join(wrong) or 'the time of the run'}")
        self.times = [(part, kind, max(float(slowest), 0.0), max(float(mean), 0.0))
                      for part, kind, slowest, mean in times]
        self.times.append((OTHER, "other", *2 * [
            max(total - sum(mean for _, kind, _, mean in self.times if kind != "within"), 0.0)]))
        sums = {kind: sum(mean for _, k, _, mean in self.times if k == kind) for kind in SUMS[1:]}
        self.times += [(TOTAL, "sum", total, total)]
        self.output = sums["output"]
        self.times += [(kind, "sum", seconds, seconds)
                       for kind, seconds in sums.items() if seconds > 0.0]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def samples(report):
    if "methods" in report:
        return [of_method(method, n) for method in report["methods"]
                for n in range(len(method["seconds"].get("all", [None])))]
    return [of_model(report)]


def of_model(report):
    timers, phases = report["timers"], report["output"]["phases"]

    def total(names, which):
        return sum(timers[name][which] for name in names)

    outputs = [name for name in timers if name.startswith("output: ")]
    within_init = ([name for name in timers if name.startswith("init: ")] +
                   [name for name in outputs if name == "output: open"])
    times = [(name, "init", timers[name]["max"], timers[name]["mean"])
             for name in timers if name.startswith("init: ")]
    times.append((SET_UP, "init",
                  *[timers["init"][w] - total(within_init, w) for w in ("max", "mean")]))
    of_step = {name: t
               for name, t in timers.items() if name.split(":")[0] not in ("init", "output")}
    times += [(name, "within" if t.get("depth") else "compute", t["max"], t["mean"])
              for name, t in of_step.items()]
    times += [(f"output: {name}", "output", t["max"], t["mean"]) for name, t in phases.items()]
    drain = timers.get("output: drain", {"max": 0.0, "mean": 0.0})  # waiting for servers at the end
    rest = total(outputs, "mean") - drain["mean"] - sum(t["mean"] for t in phases.values())
    times += [("output: drain", "output", drain["max"], drain["mean"]),
              (OUTPUT_REST, "output", rest, rest)]
    useful = {name: timers[name]["pop"]
              for name, kind, *_ in times if kind in (COMPUTE, "within") and "pop" in timers[name]}
    if "pop" in report:
        useful[COMPUTE] = report["pop"]
        times.append((IN_MPI, "within",
                      *[report["pop"]["in_mpi_seconds"][which] for which in ("max", "mean")]))
    if "output: snapshot" in timers:
        times.append((SNAPSHOTS, "within", timers["output: snapshot"]["max"],
                      timers["output: snapshot"]["mean"]))
    counts = {name: look_up(report, keys) for name, keys in COUNTS.items()}
    servers = report["output"].get("servers", ())
    for server in servers:
        counts["bytes written"] += server["written_bytes"]
    counts["output, percent of run"] = look_up(report, ("output", "percent_of_run"))
    return Sample(None, report["wall_seconds"], times, counts,
                  report["output"].get("budget_percent"), report["output"].get("format", ""),
                  report.get("years"), pop.loop(report),
                  sum(server["servers"] for server in servers), useful)


def of_method(method, repetition):
    """Output alone, one repetition of nunatak-io; its phases are medians of all."""
    def seconds(spread):
        each = spread.get("all", [])
        return each[repetition] if repetition < len(each) else spread["median"]

    total = seconds(method["seconds"])
    times = [(f"output: {name}", "output", t["max_s"], t["mean_s"])
             for name, t in method["phases"].items()]
    rest = max(0.0, total - sum(mean for *_, mean in times))
    times.append((OUTPUT_REST, "output", rest, rest))
    counts = {"bytes written": method.get("written_bytes"),
              "bytes moved for output": method.get("moved_bytes"),
              "bytes of output between nodes": method.get("off_node_bytes"),
              "messages": method.get("messages"), "message bytes": method.get("message_bytes")}
    times += [(f"read: {by}", "within", seconds(read["seconds"]), 0.0)
              for by, read in method.get("reads", {}).items()]
    return Sample(method["method"], total, times, counts, form=method["method"].split("/")[0])


def look_up(report, keys):
    for key in keys:
        report = report.get(key) if isinstance(report, dict) else None
    return report


def samples_of(studies):
    """Each sample of each run, with the run and the columns that say at which point it is."""
    for study in studies:
        for run in study.runs:
            for sample in run["samples"]:
                curve = ", ".join(text for text in (
                    run["curve"], sample.method and f"method={sample.method}") if text)
                yield sample, run, {**{key: run[key] for key in POINT if key in run},
                                    "machine": study.name, "curve": curve}


def table(studies):
    """All runs: a row for each part of each."""
    rows = []
    for sample, run, point in samples_of(studies):
        where = {**point, "repetition": run["repetition"], "oversubscribed": run["oversubscribed"],
                 "shared_cores": run["shared_cores"], "disturbed": is_disturbed(sample, run),
                 "tools": ", ".join(tools.of_run(run)), "budget": sample.budget,
                 "computing": run["cores"] * (1 - sample.servers / run["ranks"])}
        for part, kind, slowest, mean in sample.times:
            useful = sample.useful.get(part,
                                       dict.fromkeys(("processor", "useful", "elapsed"), math.nan))
            rows.append({**where, "part": part, "kind": kind, "slowest": slowest, "mean": mean,
                         "fraction": mean / sample.total,
                         "imbalance": slowest / mean - 1 if mean > 0 else math.nan,
                         "processor": useful["processor"],
                         "useful": useful["useful"] * (run["ranks"] - sample.servers),
                         "elapsed": useful["elapsed"],
                         "load_balance": useful["useful"] / useful["processor"]
                         if useful["processor"] > 0 else math.nan})
    runs = pandas.DataFrame(rows)
    runs["comparable"] = ~runs.oversubscribed & ~(
        runs.shared_cores & ~runs.apply(without_cores, axis=1)) & ~runs.disturbed
    most = runs.groupby(["machine", "mode", "curve", "part"]).slowest.transform("max")
    return runs[most > 0.0].reset_index(drop=True)  # a method of writing does not use all phases


def is_disturbed(sample, run):
    """Ranks with a core each that did not get it, or could not: something else ran there. With
    threads, the first one may sleep."""
    if run["oversubscribed"] or run["shared_cores"]:
        return False
    used, cores = run["cores"] / run["nodes"], run["cores_per_node"]
    crowded = (run["others_running"] is not None and isinstance(cores, int) and
               run["others_running"] + used > max(cores, used))
    return crowded or (run["threads"] == 1 and sample.alone < pop.ALONE)


def without_cores(row):
    """Are the network and the file system what this part waits for? On emulated nodes that share
    cores only these rates are real."""
    return (row.part == "output" or row.part.startswith("read: ") or
            (row.kind == "output" and row.part != OUTPUT_REST))


def interval(one, other=(1.0, 1.0, 1.0)):
    """Bootstrap, 95 %, of the median of three or more repetitions, or of its ratio to that of
    others; none of fewer."""
    if min(len(one), len(other)) < 3:
        return None, None
    drawn = [numpy.median(numpy.random.default_rng(seed).choice(values, (2000, len(values))),
                          axis=1) for seed, values in enumerate((one, other))]
    return tuple(map(float, numpy.percentile(drawn[0] / drawn[1], [2.5, 97.5])))


def writes(curve):
    """Is this not a curve of runs without output, by its name (io_format=null, output=null)?"""
    return "null" not in re.split(r"[^a-z0-9]+", curve)


def natural(text):
    """A key to sort by, in which 5 comes before 10."""
    return [float(word) if n % 2 else word
            for n, word in enumerate(re.split(r"(\d+(?:\.\d+)?)", text))]


def overlap(one, other):
    """Two rows of repetitions whose ranges overlap show no difference."""
    return one["min"] <= other["max"] and other["min"] <= one["max"]


def comparable(one, other):
    """Both rows with the times that may be compared, and whether these are of processors: None if
    there are none."""
    if one is None or other is None:
        return None
    if one["comparable"] and other["comparable"]:
        return one, other, False
    known = (not any(row["oversubscribed"] or row["disturbed"] for row in (one, other)) and
             all(row["processor"] > 0 for row in (one, other)))
    in_processor_time = [{
        **row, "median": row["processor"], "min": row["processor_min"], "max": row["processor_max"],
        "times": [row["processor_min"], row["processor_max"]]} for row in (one, other)]
    return (*in_processor_time, True) if known else (one, other, None)


def points(runs):
    """Median, spread and interval of each part at each point, and how it scales: `speed_up` counts
    work (cells) per second against the point with the fewest cores, so that it means the same in
    strong and weak scaling; `efficiency` is speed-up over the growth of cores. Where they would say
    nothing, `no_efficiency` says why."""
    groups = runs.groupby([*POINT, "part", "kind"], sort=False, dropna=False)
    points = groups.agg(
        repetitions=("slowest", "size"), median=("slowest", "median"), min=("slowest", "min"),
        max=("slowest", "max"), mean=("mean", "median"), fraction=("fraction", "median"),
        budget=("budget", "max"), times=("slowest", list), oversubscribed=("oversubscribed", "any"),
        shared_cores=("shared_cores", "any"), disturbed=("disturbed", "any"),
        comparable=("comparable", "all"), tools=("tools", "first"),
        computing=("computing", "first"),
        imbalance=("imbalance", "median"), useful=("useful", "median"),
        elapsed=("elapsed", "median"), load_balance=("load_balance", "median"),
        processor=("processor", "median"),
        processor_min=("processor", "min"), processor_max=("processor", "max")).reset_index()
    curves = sorted(points.curve.unique(), key=natural)
    points = points.sort_values(
        ["machine", "mode", "curve", "cores", "nodes"], kind="stable", ignore_index=True,
        key=lambda column: column.map(curves.index) if column.name == "curve" else column)
    points[["low", "high"]] = pandas.DataFrame(map(interval, points.times), index=points.index,
                                               dtype=float)
    points["imbalance"] = points.imbalance.where(
        ~points.kind.isin(["sum", "within", "other"]) & (points.part != SET_UP) &
        (points.fraction >= SMALL))
    same = points.groupby(["machine", "mode", "curve", "part"])
    bases = dict(zip(points.index, same.cores.transform("idxmin")))
    scaled = [scaling(point, points.loc[bases[n]]) for n, point in points.iterrows()]
    return points.join(pandas.DataFrame(scaled, index=points.index))


def scaling(point, base):
    """Of one row against that of the fewest cores."""
    n = point.cores / base.cores
    is_known = not (pandas.isna(point.cells) or pandas.isna(base.cells))
    work = (point.cells / base.cells if is_known else 1.0) / n
    efficiency = work * base["median"] / point["median"] if point["median"] > 0 else math.nan
    result = {**dict.fromkeys(("speed_up", "efficiency", "efficiency_low", "efficiency_high",
                               "serial_fraction"), math.nan),
              "no_efficiency": why_no_efficiency(point, base, efficiency),
              **efficiencies(point, base, work * n)}
    if not result["no_efficiency"]:
        low, high = interval(base.times, point.times) if n > 1 else (None, None)
        s = efficiency * n
        result.update(speed_up=s, efficiency=efficiency, efficiency_low=low and work * low,
                      efficiency_high=high and work * high)
        if n > 1:  # Karp and Flatt, Gustafson
            result["serial_fraction"] = ((1 / s - 1 / n) / (1 - 1 / n) if point["mode"] == "strong"
                                         else (n - s) / (n - 1))
    return result


def efficiencies(point, base, cells):
    """POP's metrics, `cells` times those of the base. What needs time that passed is not known
    where cores are shared."""
    scaling = cells * base.useful / point.useful if point.useful > 0 else math.nan
    efficiency = (point.processor / point.elapsed
                  if point.comparable and point.elapsed > 0 else math.nan)
    return {"communication_efficiency": efficiency,
            "parallel_efficiency": efficiency * point.load_balance, "computation_scaling": scaling,
            "global_efficiency": efficiency * point.load_balance * scaling}


def why_no_efficiency(point, base, efficiency):
    """A word for a cell; page.html says what each means."""
    if not (point.comparable and base.comparable):
        return ("oversubscribed" if point.oversubscribed or base.oversubscribed else "shared"
                if point.shared_cores or base.shared_cores else "disturbed")
    if min(point.fraction, base.fraction) < SMALL:
        return "small"
    grown = point.computing / base.computing * base.cores / point.cores
    return "" if efficiency <= MOST and abs(grown - 1) <= GROWN else "no base"
