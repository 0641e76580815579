"""The metrics of Balaji et al. (2017, CPMIP), and what limits the output, from reports of runs.

A simulated year is one of the report (`years`); a core-hour is an hour of a core (ranks times
threads) that the run holds, servers of output included.
"""
import re

import pandas

from . import parts, tools

# Their units, in the order of the page, whose template defines them
METRICS = {"SYPD of the loop": "years/day", "SYPD to the last durable byte": "years/day",
           "CHSY": "core-hours/year", "JPSY": "J/year", "parallelization": "cores",
           "memory bloat": "", "data intensity": "GB/core-hour", "durable rate": "MB/s",
           "fraction of raw writes": "", "fraction of the triad: step without SSA": "",
           "fraction of the triad: SSA": "", "data output cost": ""}
LIMITED = 0.7  # of the time of a part, from which on the network is called its limit


def values(run, sample):
    hours = run["cores"] * sample.total / 3600
    written = sample.counts.get("bytes written", 0)
    found = {"parallelization": run["cores"]}
    if parts.is_number(sample.years) and sample.years > 0 and sample.loop > 0:
        found.update(
            {"SYPD of the loop": 86400 * sample.years / sample.loop, "CHSY": hours / sample.years,
             "SYPD to the last durable byte": 86400 * sample.years / sample.total})
        if run["energy_J"] is not None:
            found["JPSY"] = run["energy_J"] / sample.years
    if written > 0:
        found["data intensity"] = written / 1e9 / hours
        if sample.output > 0 and not sample.servers:
            found["durable rate"] = written / 1e6 / sample.output
            raw, seconds = (parts.look_up(run, ("raw", "bytes")),
                            parts.look_up(run, ("raw", "seconds", "median")))
            found["fraction of raw writes"] = (written / sample.output / raw * seconds
                                               if raw and seconds else None)
    found.update({f"fraction of the triad: {part}": parts.look_up(run, ("triad", part))
                  for part in ("step without SSA", "SSA")})
    peak, state = run["report"].get("peak_resident_MiB"), run["report"].get("state_MiB")
    found["memory bloat"] = peak / state if peak and state else None
    return {name: value for name, value in found.items() if parts.is_number(value)}


def table(studies, points):
    """A row for each metric of each point, in the order of METRICS, then for what the program
    counted."""
    rows = [{**point, "metric": name, "unit": METRICS.get(name, ""), "value": float(v)}
            for sample, run, point in parts.samples_of(studies)
            for name, v in {**values(run, sample), **sample.counts, **tools.counters(run)}.items()]
    groups = pandas.DataFrame(rows).groupby([*parts.POINT, "metric", "unit"], sort=False,
                                            dropna=False)
    found = groups.value.agg(["size", "median", "min", "max"]).reset_index().rename(
        columns={"size": "repetitions"})
    costs = pandas.DataFrame(output_cost(studies, points), columns=found.columns)
    found = pandas.concat([found, costs], ignore_index=True) if len(costs) else found
    order = [*METRICS, *dict.fromkeys(found.metric)]
    return found.sort_values("metric", key=lambda names: names.map(order.index),
                             kind="stable").reset_index(drop=True)


def output_cost(studies, points):
    """Each point whose run without output was run, too: its total over that of the other one."""
    vary, nulls = {}, []
    for sample, run, point in parts.samples_of(studies):
        curve = point["machine"], point["curve"]
        vary[curve] = {(name, str(value)) for name, value in run["vary"].items()}
        if sample.form == "null":
            nulls.append(curve)
    totals = points[points.part == parts.TOTAL]
    for null in dict.fromkeys(nulls):
        same = {item for item in vary[null] if item[1] != "null"}
        of_machine = totals[totals.machine == null[0]]
        others = of_machine[of_machine.curve != null[1]].to_dict("records")
        for base in of_machine[of_machine.curve == null[1]].to_dict("records"):
            for row in others:
                alike = all(row[key] == base[key] for key in ("mode", "nodes", "ranks", "threads"))
                if (alike and row["comparable"] and base["comparable"] and
                    same <= vary[null[0], row["curve"]]):
                    low, high = parts.interval(row["times"], base["times"])
                    yield {**{key: row[key] for key in parts.POINT}, "metric": "data output cost",
                           "unit": METRICS["data output cost"],
                           "repetitions": min(row["repetitions"], base["repetitions"]),
                           "median": row["median"] / base["median"], "min": low, "max": high}


def limited(studies):
    """Where the cards or the latency of an emulated cluster, whose rates are known, take most of a
    part's time: {(mode, machine, curve, part, what takes it): {cores: [fraction of the time,
    ...]}}."""
    found = {}
    for sample, run, point in parts.samples_of(studies):
        machine = next(s.machine for s in studies if s.name == point["machine"])
        network = re.match(r"([\d.]+) ([kMG])bit/s, ([\d.]+) us", str(machine.get("network") or ""))
        if not network:
            continue
        rate = float(network[1]) * {"k": 1e3, "M": 1e6, "G": 1e9}[network[2]] / 8
        cards = 1 if sample.form == "serial" else min(sample.servers or run["nodes"], run["nodes"])
        whose = ("rank 0" if sample.form == "serial" else "the servers" if sample.servers
                 else "all nodes")
        count = sample.counts.get
        sent = count("bytes written", 0) + count("bytes of output between nodes", 0)
        rounds = count("exchanges per rank", 0) + count("collectives per rank", 0)
        compute = sum(mean for _, kind, _, mean in sample.times if kind == "compute")
        for part, seconds, least, what in (
            ("compute", compute, rounds * float(network[3]) * 1e-6 if run["nodes"] > 1 else 0.0,
             "the latency of its messages"),
            ("output", sample.output, sent / rate / cards,
             f"sending by {whose} at {network[1]} {network[2]}bit/s")):
            # sent while ranks computed
            hidden = part == "output" and sample.servers and least > seconds
            if seconds >= parts.SMALL * sample.total and least >= LIMITED * seconds and not hidden:
                key = (point["mode"], point["machine"], point["curve"], part, what)
                at = found.setdefault(key, {}).setdefault(run["cores"], [])
                at.append(min(least / seconds, 1.0))
    return found
