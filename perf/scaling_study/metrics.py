"""The metrics of Balaji et al. (2017, CPMIP), and what limits the output, from reports of runs.

A simulated year is one of the report (`years`); a core-hour is an hour of a core (ranks times threads) that the run holds, servers of
output included.
"""
import math
import re

import pandas

from . import parts

# name: (unit, definition)
METRICS = {
    "SYPD of the loop": ("years/day", "simulated years per day of the time steps: the run without init, the result and the last drain"),
    "SYPD to the last durable byte": ("years/day", "simulated years per day of the whole run, which ends when its files are durable"),
    "CHSY": ("core-hours/year", "core-hours of the whole run per simulated year"),
    "parallelization": ("cores", "ranks times threads, servers included"),
    "data intensity": ("GB/core-hour", "bytes written (10^9) per core-hour of the whole run"),
    "durable rate": ("MB/s", "bytes written (10^6) over the time of the output, all its waiting and fsync included; none with servers, "
                             "whose writing the model does not see"),
    "data output cost": ("1", "core-hours of the run over those of the same run with -io_format null (median by median)"),
}
LIMITED = 0.7  # of the time of a part, from which on the network is called its limit


def output_of(run, sample):
    """Format of a run, and how many nodes write: rank 0, some servers, or all."""
    output = run["report"].get("output")
    output = output if isinstance(output, dict) else {}
    name = str(output.get("format", sample.method or "")).split("/")[0]
    servers = sum(map(int, re.findall(r"\d+", str(output.get("transport", ""))))) if "servers" in output and output["servers"] else 0
    return name, 1 if name == "serial" else min(servers or run["nodes"], run["nodes"]), servers


def values(run, sample):
    hours = run["cores"] * sample.total / 3600
    written = sample.counts.get("bytes written", 0)
    found = {"parallelization": run["cores"]}
    if parts.is_number(sample.years) and sample.years > 0:
        found["SYPD of the loop"] = 86400 * sample.years / sample.loop if sample.loop > 0 else None
        found["SYPD to the last durable byte"] = 86400 * sample.years / sample.total
        found["CHSY"] = hours / sample.years
    if written > 0:
        found["data intensity"] = written / 1e9 / hours
        if sample.output > 0 and not output_of(run, sample)[2]:
            found["durable rate"] = written / 1e6 / sample.output
    return found


def table(studies, points):
    """A row for each metric of each point, in the order of METRICS."""
    rows = [{**point, "metric": name, "unit": METRICS[name][0], "value": float(v)}
            for sample, run, point in parts.samples_of(studies) for name, v in values(run, sample).items() if v is not None]
    found = parts.numbers(rows, ["metric", "unit"])
    costs = pandas.DataFrame(output_cost(studies, points), columns=found.columns)
    found = pandas.concat([found, costs], ignore_index=True) if len(costs) else found
    return found.sort_values("metric", key=lambda names: names.map(list(METRICS).index), kind="stable").reset_index(drop=True)


def output_cost(studies, points):
    """Each point whose run without output was run, too: its total over that of the other one."""
    vary, nulls = {}, []
    for sample, run, point in parts.samples_of(studies):
        vary[point["machine"], point["curve"]] = set(run["vary"].items())
        if output_of(run, sample)[0] == "null":
            nulls.append((point["machine"], point["curve"]))
    totals = points[points.part == parts.TOTAL]
    for null in dict.fromkeys(nulls):
        same = {item for item in vary[null] if item[1] != "null"}
        for base in totals[(totals.machine == null[0]) & (totals.curve == null[1])].to_dict("records"):
            for row in totals[(totals.machine == null[0]) & (totals.curve != null[1])].to_dict("records"):
                alike = all(row[key] == base[key] for key in ("mode", "nodes", "ranks", "threads"))
                if alike and row["comparable"] and base["comparable"] and same <= vary[null[0], row["curve"]]:
                    low, high = parts.interval(row["times"], base["times"])
                    yield {**{key: row[key] for key in parts.POINT}, "metric": "data output cost", "unit": "1",
                           "repetitions": min(row["repetitions"], base["repetitions"]), "median": row["median"] / base["median"],
                           "min": low, "max": high}


def limits(studies):
    """Sentences: points of an emulated cluster, whose rates are known, at which the cards or the latency take most of a part's time."""
    found = {}
    for sample, run, point in parts.samples_of(studies):
        study = next(s for s in studies if s.name == point["machine"])
        network = re.match(r"([\d.]+) ([kMG])bit/s, ([\d.]+) us", str(study.machine.get("network") or ""))
        if not network:
            continue
        rate = float(network[1]) * {"k": 1e3, "M": 1e6, "G": 1e9}[network[2]] / 8
        messages = run["report"].get("messages")
        messages = messages if isinstance(messages, dict) else {}
        compute = sum(mean for _, kind, _, mean in sample.times if kind == "compute")
        rounds = messages.get("exchanges_per_rank", 0) + messages.get("collectives_per_rank", 0) * math.ceil(math.log2(run["nodes"]))
        moved = sample.counts.get("bytes written", 0) + sample.counts.get("bytes of output between nodes", 0)
        writers = output_of(run, sample)[1]
        waits = (("compute", compute, rounds * float(network[3]) * 1e-6 if run["nodes"] > 1 else 0, "the latency of its messages"),
                 ("output", sample.output, moved / rate / writers, f"{writers} card{'s' if writers > 1 else ''} of {network[1]} {network[2]}bit/s"))
        for part, seconds, least, what in waits:
            if seconds >= parts.SMALL * sample.total and least >= LIMITED * seconds:
                curve = ", ".join(text for text in (point["mode"], point["curve"].replace("=", " ")) if text)
                found.setdefault((curve, part, what), {}).setdefault(run["cores"], []).append(min(least / seconds, 1.0))
    return [f"The network is the limit of the {part} ({curve}, {', '.join(map(str, sorted(at)))} cores): {what} need "
            f"{100 * min(map(min, at.values())):.0f} % of its time or more." for (curve, part, what), at in found.items()]
