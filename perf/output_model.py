#!/usr/bin/env python3
"""One record of output on the emulated cluster: how long the real exchange plan takes by queues of cards and storage servers.

    perf/output_model.py --nodes 2,4,8 --rate 50mbit --servers 8 --json output.json

output_plan (the functions that the writers use) says who sends what to whom and which calls each rank makes on the file. Every node
has a card, every server too; what is under way at a time shares them fairly. The exchange: all messages at once. The writing: each
rank makes one call after the other, in requests of 1 MiB (FUSE), which go to the servers that hold their stripes; a request waits
for the last of them, and a latency there and back. Nothing is fitted: rates and latency are those that the cluster was told.

Then nunatak-io writes the same record on the nodes; compared are its phases 'exchange' and 'wait' or 'post', of the slowest rank.
"""
import argparse
import json
import pathlib
import sys
import tempfile

from check_model import ALONE, CLUSTER, run

REQUEST = 1 << 20  # bytes


def bytes_per_second(text):
    return float(text.removesuffix("mbit")) * 1e6 / 8


class Queues:
    """Flows between cards, which share them fairly (max-min): the card with least for each of its flows is shared out first."""

    def __init__(self, rate):
        self.rate, self.flows, self.time = rate, {}, 0.0

    def start(self, key, source, target, size):
        self.flows[key] = [("out", source), ("in", target), size]

    def rates(self):
        cards = {}
        for key, (out, into, _) in self.flows.items():
            cards.setdefault(out, set()).add(key)
            cards.setdefault(into, set()).add(key)
        left, rates = dict.fromkeys(cards, self.rate), {}
        while len(rates) < len(self.flows):
            card = min((c for c in cards if cards[c]), key=lambda c: left[c] / len(cards[c]))
            share = left[card] / len(cards[card])
            for key in list(cards[card]):
                rates[key] = share
                for end in self.flows[key][:2]:
                    cards[end].discard(key)
                    left[end] -= share
        return rates

    def step(self, until):
        """Goes on to the next end of a flow, or to `until`; returns the flows that have ended."""
        rates = self.rates()
        end = min([self.time + flow[2] / rates[key] for key, flow in self.flows.items()] + [until])
        ended = []
        for key, flow in list(self.flows.items()):
            flow[2] -= rates[key] * (end - self.time)
            if flow[2] < 1e-6:
                ended.append(key)
                del self.flows[key]
        self.time = end
        return ended


def exchange_time(ranks, rate, latency):
    queues = Queues(rate)
    for k, rank in enumerate(ranks):
        for to, size in rank["messages"]:
            queues.start((k, to), k, to, size)
    while queues.flows:
        queues.step(float("inf"))
    return queues.time + 3 * latency if queues.time > 0 else 0.0  # a long message asks first whether it may come


def requests_of(calls, stripe, servers):
    """What a rank asks of which servers, one request after the other: [(server, bytes), ...]."""
    for begin, size in calls:
        while size > 0:
            left = min(size, REQUEST)
            size, parts = size - left, []
            while left > 0:
                part = min(left, stripe - begin % stripe)
                parts.append((begin // stripe % servers, part))
                begin, left = begin + part, left - part
            yield parts


def write_time(ranks, rate, latency, stripe, servers):
    queues = Queues(rate)
    waiting = {k: requests_of(rank["calls"], stripe, servers) for k, rank in enumerate(ranks)}
    begins, open_parts, last = {k: 0.0 for k in waiting}, {}, 0.0
    while begins or queues.flows:
        for k in [k for k, when in begins.items() if when <= queues.time + 1e-12]:
            del begins[k]
            parts = next(waiting[k], None)
            if parts is None:
                last = max(last, queues.time)
                continue
            open_parts[k] = len(parts)
            for n, (server, size) in enumerate(parts):
                queues.start((k, n), k, f"server{server}", size)
        for k, _ in queues.step(min(begins.values(), default=float("inf"))):
            open_parts[k] -= 1
            if open_parts[k] == 0:
                begins[k] = queues.time + 2 * latency
    return last


def measured(arguments, nodes, folder, layouts):
    environment = {"NUNATAK_CLUSTER": f"{folder}/c"}
    cluster = [sys.executable, CLUSTER]
    run([*cluster, "up", "-n", nodes, "-s", arguments.servers, "-r", arguments.rate, "-l", arguments.latency], environment)
    try:
        ways = ",".join("posix" if layout == "native" else f"posix/{layout}" for layout in layouts)
        run([*cluster, "mpirun", "-n", nodes, pathlib.Path(arguments.build).resolve() / "miniapp" / "nunatak-io", *workload(arguments), "-ways", ways,
             "-repeat", arguments.repeat, "-verify", "no", "-o", "/mnt/pfs", "-json", f"{folder}/io.json"], environment)
    finally:
        run([*cluster, "down"], environment)
    with open(f"{folder}/io.json") as file:
        return json.load(file)


def workload(arguments):
    return ["-workload", arguments.workload, "-scale", arguments.scale, "-variables", arguments.variables]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="2,4,8", help="a list (default %(default)s)")
    parser.add_argument("--rate", default="50mbit", help="of all cards (default %(default)s)")
    parser.add_argument("--latency", default="200us", help="one way, in us (default %(default)s)")
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--workload", default="pism:G5km")
    parser.add_argument("--scale", default="0.2")
    parser.add_argument("--variables", default="8")
    parser.add_argument("--layouts", default="native,zslab,box:1", help="a list (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--build", default="build/release", help="build folder (default %(default)s)")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rate, latency, layouts = bytes_per_second(arguments.rate), 1e-6 * float(arguments.latency.removesuffix("us")), arguments.layouts.split(",")
    result = {"rate": arguments.rate, "latency": arguments.latency, "servers": arguments.servers, "runs": []}
    print(f"{'nodes':>5} {'layout':>10} {'what':>10} {'modelled s':>10} {'measured s':>10} {'ratio':>6}")
    for nodes in map(int, arguments.nodes.split(",")):
        plan = json.loads(run([pathlib.Path(arguments.build) / "perf" / "output_plan", *workload(arguments), "-ranks", nodes, "-layouts",
                               arguments.layouts], ALONE))
        with tempfile.TemporaryDirectory(prefix="nk", dir="/tmp") as folder:  # short: Open MPI makes sockets below it
            ways = measured(arguments, nodes, folder, layouts)["ways"]
        for layout, way in zip(plan["layouts"], ways):
            phases = {name: phase["max_s"] for name, phase in way["phases"].items()}
            writes = write_time(layout["ranks"], rate, latency, 1 << 20, arguments.servers)
            for what, model, real in (("exchange", exchange_time(layout["ranks"], rate, latency), phases["exchange"]),
                                      ("write", writes, phases["post"] + phases["wait"])):
                if model == 0.0 or sum(size for rank in layout["ranks"] for _, size in rank["messages"]) < 1 << 16 and what == "exchange":
                    continue  # nothing to speak of
                result["runs"].append({"nodes": nodes, "layout": layout["name"], "what": what, "modelled_s": model, "measured_s": real,
                                       "ratio": model / real})
                print(f"{nodes:5d} {layout['name']:>10} {what:>10} {model:10.3f} {real:10.3f} {model / real:6.2f}", flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
