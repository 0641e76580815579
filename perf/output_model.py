#!/usr/bin/env python3
r"""One record of output on the emulated cluster: how long the real exchange plan takes by queues of cards and storage servers.

    perf/output_model.py --nodes 2,4,8 --rate 50mbit --servers 8 --json output.json

output_plan (the functions that the writers use) says who sends what to whom and which calls each rank makes on the file. Every node
has a card, every server too; what is under way at a time shares them fairly.

The exchange: all messages at once. What two ranks send each other goes over one connection, which may carry both ways at once, or take
turns: two predictions, for both were seen. The writing: each rank makes one call after the other, in requests of 1 MiB (FUSE), which
go to the servers that hold their stripes; a request waits for the last of them, and a latency there and back. Ranks that begin at the
same instant would meet on the same servers for ever: they begin at random within the time that a stripe takes, and the time is the
mean of some draws. Nothing is fitted: rates and latency are those that the cluster was told.

Then nunatak-io writes the same record on the nodes; compared are its phases 'exchange' and 'wait' or 'post', of the slowest rank.

    perf/output_model.py --count 64,1024 --ranks-per-node 64 --rate 100000mbit --latency 50us --workload pism:G1km --scale 1 \
        --variables 0

For thousands of ranks: nothing is run; the plan is counted, and the least times are those of the card of a node, of all servers
together, and of the rank with most calls, each of which waits for a latency there and back.
"""
import argparse
import json
import pathlib
import random
import statistics
import sys
import tempfile

from check_model import CLUSTER, run

REQUEST = STRIPE = 1 << 20  # bytes
DRAWS = 8


def bytes_per_second(text):
    return float(text.removesuffix("mbit")) * 1e6 / 8


class Queues:
    """Flows over cards and connections, which share them fairly (max-min): that with least for each of its flows is shared out first."""

    def __init__(self, rate):
        self.rate, self.flows, self.time = rate, {}, 0.0

    def start(self, key, over, size):
        self.flows[key] = [over, size]

    def rates(self):
        sharers = {}
        for key, (over, _) in self.flows.items():
            for one in over:
                sharers.setdefault(one, set()).add(key)
        left, rates = dict.fromkeys(sharers, self.rate), {}
        while len(rates) < len(self.flows):
            tight = min((one for one in sharers if sharers[one]), key=lambda one: left[one] / len(sharers[one]))
            share = left[tight] / len(sharers[tight])
            for key in list(sharers[tight]):
                rates[key] = share
                for one in self.flows[key][0]:
                    sharers[one].discard(key)
                    left[one] -= share
        return rates

    def step(self, until):
        """Goes on to the next end of a flow, or to `until`; returns the flows that have ended."""
        rates = self.rates()
        end = min([self.time + flow[1] / rates[key] for key, flow in self.flows.items()] + [until])
        ended = []
        for key, flow in list(self.flows.items()):
            flow[1] -= rates[key] * (end - self.time)
            if flow[1] < 1e-6:
                ended.append(key)
                del self.flows[key]
        self.time = end
        return ended


def exchange_time(ranks, rate, latency, in_turns):
    queues = Queues(rate)
    for k, rank in enumerate(ranks):
        for to, size in rank["messages"]:
            queues.start((k, to), [("out", k), ("in", to), *([frozenset((k, to))] if in_turns else [])], size)
    while queues.flows:
        queues.step(float("inf"))
    return queues.time + 3 * latency if queues.time > 0 else 0.0  # a long message asks first whether it may come


def requests_of(calls, servers):
    """What a rank asks of which servers, one request after the other: [(server, bytes), ...]."""
    for begin, size in calls:
        while size > 0:
            left = min(size, REQUEST)
            size, parts = size - left, []
            while left > 0:
                part = min(left, STRIPE - begin % STRIPE)
                parts.append((begin // STRIPE % servers, part))
                begin, left = begin + part, left - part
            yield parts


def write_time(ranks, rate, latency, servers):
    return statistics.mean(one_write(ranks, rate, latency, servers, random.Random(draw)) for draw in range(DRAWS))


def one_write(ranks, rate, latency, servers, draw):
    queues = Queues(rate)
    waiting = {k: requests_of(rank["calls"], servers) for k, rank in enumerate(ranks)}
    first = {k: draw.random() * STRIPE / rate for k in waiting}
    begins, open_parts, last = dict(first), {}, 0.0
    while begins or queues.flows:
        for k in [k for k, when in begins.items() if when <= queues.time + 1e-12]:
            del begins[k]
            parts = next(waiting[k], None)
            if parts is None:
                last = max(last, queues.time - first[k])  # of the slowest rank, by its own clock
                continue
            open_parts[k] = len(parts)
            for n, (server, size) in enumerate(parts):
                queues.start((k, n), [("out", k), ("server", server)], size)
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
             "-repeat", arguments.repeat, "-verify", "no", "-o", "/mnt/pfs", "-report", f"{folder}/io.json"], environment)
    finally:
        run([*cluster, "down"], environment)
    with open(f"{folder}/io.json") as file:
        return json.load(file)


def workload(arguments):
    return ["-workload", arguments.workload, "-scale", arguments.scale, "-variables", arguments.variables]


def least_times(layout, nodes, rate, latency, servers):
    """Of exchange and write, as if all that is exchanged left its node."""
    sent, calls = layout["messages"], layout["calls"]
    of_node = max(calls["bytes"] / nodes, calls["most_bytes"])
    return sent["bytes"] / nodes / rate, max(calls["bytes"] / (servers * rate), of_node / rate, 2 * latency * calls["most"])


def count(arguments, rate, latency):
    runs = []
    print(f"{'ranks':>6} {'layout':>8} {'writers':>7} {'messages':>8} {'GB':>7} {'calls':>9} {'bytes each':>11} {'most calls':>10} "
          f"{'exchange s':>10} {'write s':>8}")
    for ranks in map(int, arguments.count.split(",")):
        plan = json.loads(run([pathlib.Path(arguments.build) / "perf" / "output_plan", *workload(arguments), "-ranks", ranks, "-counts",
                               "-ranks_per_node", arguments.ranks_per_node, "-layouts", arguments.layouts]))
        for layout in plan["layouts"]:
            times = least_times(layout, -(-ranks // arguments.ranks_per_node), rate, latency, arguments.servers)
            runs.append({"ranks": ranks, **layout, "exchange_s": times[0], "write_s": times[1]})
            sent, calls = layout["messages"], layout["calls"]
            print(f"{ranks:6d} {layout['name']:>8} {layout['writers']:7d} {sent['number']:8d} {1e-9 * sent['bytes']:7.2f} "
                  f"{calls['number']:9d} {calls['bytes'] / calls['number']:11.0f} {calls['most']:10d} {times[0]:10.3f} {times[1]:8.3f}",
                  flush=True)
    return runs


def plan_of(arguments, nodes):
    return json.loads(run([pathlib.Path(arguments.build) / "perf" / "output_plan", *workload(arguments), "-ranks", nodes, "-layouts",
                           arguments.layouts]))


def predict(arguments, rate, latency):
    runs = []
    print(f"{'nodes':>5} {'layout':>10} {'write s':>8} {'cards alone':>11}")
    for nodes in map(int, arguments.nodes.split(",")):
        for layout in plan_of(arguments, nodes)["layouts"]:
            write = write_time(layout["ranks"], rate, latency, arguments.servers)
            cards = max(sum(size for _, size in rank["calls"]) for rank in layout["ranks"]) / rate
            runs.append({"nodes": nodes, "layout": layout["name"], "write_s": write, "cards_s": cards})
            print(f"{nodes:5d} {layout['name']:>10} {write:8.2f} {cards:11.2f}", flush=True)
    return runs


def compare(arguments, rate, latency, layouts):
    runs = []
    print(f"{'nodes':>5} {'layout':>10} {'what':>18} {'modelled s':>10} {'measured s':>10} {'ratio':>6}")
    for nodes in map(int, arguments.nodes.split(",")):
        plan = plan_of(arguments, nodes)
        with tempfile.TemporaryDirectory(prefix="nk", dir="/tmp") as folder:  # short: Open MPI makes sockets below it
            ways = measured(arguments, nodes, folder, layouts)["ways"]
        for layout, way in zip(plan["layouts"], ways):
            phases = {name: phase["max_s"] for name, phase in way["phases"].items()}
            ranks = layout["ranks"]
            pairs = [("write", write_time(ranks, rate, latency, arguments.servers), phases["post"] + phases["wait"])]
            if sum(size for rank in ranks for _, size in rank["messages"]) >= 1 << 16:  # something to speak of
                pairs += [(what, exchange_time(ranks, rate, latency, what.endswith("turns")), phases["exchange"])
                          for what in ("exchange", "exchange, in turns")]
            for what, model, real in pairs:
                runs.append({"nodes": nodes, "layout": layout["name"], "what": what, "modelled_s": model, "measured_s": real,
                             "ratio": model / real})
                print(f"{nodes:5d} {layout['name']:>10} {what:>18} {model:10.3f} {real:10.3f} {model / real:6.2f}", flush=True)
    return runs


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
    parser.add_argument("--count", metavar="RANKS", help="count the plan on so many ranks, a list; run nothing")
    parser.add_argument("--predict", action="store_true", help="of --nodes only what the queues say of writing; run nothing")
    parser.add_argument("--ranks-per-node", type=int, default=1, help="with --count (default 1)")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    rate, latency, layouts = bytes_per_second(arguments.rate), 1e-6 * float(arguments.latency.removesuffix("us")), arguments.layouts.split(",")
    result = {"rate": arguments.rate, "latency": arguments.latency, "servers": arguments.servers}
    if arguments.count:
        result["runs"] = count(arguments, rate, latency)
    else:
        result["runs"] = predict(arguments, rate, latency) if arguments.predict else compare(arguments, rate, latency, layouts)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
