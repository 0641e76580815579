#!/usr/bin/env python3
"""Is the modelled time the measured one? LogGP (kernels/grid/loggp.hpp) against the emulated cluster (perf/cluster).

    perf/upsample.py antarctica_32km.nc 8km antarctica_8km.nc
    perf/check_model.py antarctica_8km.nc --latency 1ms --nodes 2,4,8 --json check.json

For each latency it brings up a cluster of one rank per node. For each number of nodes calibrate measures the network and the
collectives, and a run of each program on one rank the time of a visit; nothing else is fitted. Then the model predicts from virtual
ranks, and the same program runs on the nodes. Both are medians in milliseconds, the measured one of the mean of the ranks. The
cores of this machine, which all nodes share, are part of the model. A minute and a half per latency.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE / "cluster" / "cluster"
CORES = len(os.sched_getaffinity(0))


def run(words, environment=None):
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=500, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        sys.exit(f"check_model.py: '{shlex.join(words)}' failed with status {done.returncode}:\n{done.stderr[-2000:]}{done.stdout[-2000:]}")
    return done.stdout


def free_share():
    """The share of its cores that this script can have, now."""
    spin = "import time\nwhile time.process_time() < 0.3: pass"
    begin = time.perf_counter()
    spinning = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(CORES)]
    for process in spinning:
        process.wait()
    return min(1.0, 0.3 / (time.perf_counter() - begin))


class Check:
    """One cluster; `programs`: the build folder."""

    def __init__(self, arguments, folder):
        self.build, self.input, self.folder = pathlib.Path(arguments.build).resolve(), pathlib.Path(arguments.input).resolve(), folder
        self.environment = {"NUNATAK_CLUSTER": f"{folder}/c"}
        self.patience = arguments.patience
        self.visits = {}  # seconds of a visit, by what is solved

    def cluster(self, *words):
        return run([sys.executable, CLUSTER, *words], self.environment)

    def report(self, words, nodes=None):
        """The JSON of a tool, alone or on the nodes."""
        path = f"{self.folder}/report.json"
        words = [*words, "-report", path]
        self.cluster("mpirun", "-n", nodes, *words) if nodes else run(words)
        with open(path) as file:
            return json.load(file)["runs"][0]

    def machine(self, calibration, what):
        """The file of the machine on which a visit takes what it takes in `what`."""
        path = f"{self.folder}/machine.json"
        with open(path, "w") as file:
            json.dump({"machine": {**calibration["machine"], "visit_s": self.visits[what], "cores": CORES}}, file)
        return path

    def tool(self, what, words, nodes, calibration, repeat):
        """nunatak-distance or nunatak-labels."""
        words = [self.build / "miniapp" / words[0], "-i", self.input, *words[1:]]
        if what not in self.visits:
            one = self.report([*words, "-virtual_ranks", 1, "-repeat", 5])
            self.visits[what] = one["wall_min_s"] / one["work"]
        model = self.report([*words, "-virtual_ranks", nodes, "-machine", self.machine(calibration, what)])
        real = self.report([*words, "-repeat", repeat], nodes)
        different = [k for k in ("messages", "bytes", "exchanges", "collectives", "lagged", "work") if model[k] != real[k]]
        if different:
            sys.exit(f"check_model.py: {what} on {nodes} nodes: {', '.join(different)} differ from those of virtual ranks")
        return 1e3 * model["loggp_s"], 1e3 * real["wall_mean_s"]

    def update(self, nodes, calibration):
        """A PICO update."""
        words = [self.build / "perf" / "bench_pico", "-i", self.input, "-repeat", 7]
        virtual = [self.build / "perf" / "bench_pico", "-i", self.input]
        if "PICO" not in self.visits:
            work = json.loads(run([*virtual, "-virtual_ranks", 1]))["runs"][0]["work"]
            self.visits["PICO"] = 1e-3 * json.loads(run(words))["parts"]["update"]["min_ms"] / work
        model = json.loads(run([*virtual, "-virtual_ranks", nodes, "-machine", self.machine(calibration, "PICO")]))["runs"][0]
        real = json.loads(self.cluster("mpirun", "-n", nodes, *words))["parts"]["update"]
        return model["modelled_ms"], real["median_mean_ms"]

    def all(self, latency, nodes):
        end = time.time() + self.patience
        while (free := free_share()) < 0.8 and time.time() < end:  # others work on this machine
            time.sleep(2)
        calibration = json.loads(self.cluster("mpirun", "-n", nodes, self.build / "perf" / "calibrate"))
        results = []

        def add(what, times):
            row = {"latency": latency, "nodes": nodes, "what": what, "modelled_ms": times[0], "measured_ms": times[1],
                   "ratio": times[0] / times[1], "free_before": free, "free_after": free_share()}
            results.append(row)
            print(f"{latency:>7} {nodes:5d} {what:>20} {times[0]:12.2f} {times[1]:12.2f} {row['ratio']:7.2f} {100 * min(free, row['free_after']):5.0f}", flush=True)

        for solver, repeat in (("sweep", 3), ("bfs", 21), ("buckets", 21), ("gather", 21)):
            add(solver, self.tool(solver, ["nunatak-distance", "-solvers", solver], nodes, calibration, repeat))
        add("labels", self.tool("labels", ["nunatak-labels"], nodes, calibration, 21))
        add("PICO update", self.update(nodes, calibration))
        return calibration, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", help="NetCDF file with thk, topg, basins, theta_ocean, salinity_ocean")
    parser.add_argument("--latency", default="200us,1ms,2ms", help="one way, a list (default %(default)s)")
    parser.add_argument("--nodes", default="2,4,8", help="a list (default %(default)s)")
    parser.add_argument("--rate", default="200mbit", help="of the network cards (default %(default)s)")
    parser.add_argument("--build", default="build/release", help="build folder (default %(default)s)")
    parser.add_argument("--patience", type=float, default=60, help="seconds to wait for idle cores (default %(default)s)")
    parser.add_argument("--json", metavar="FILE")
    arguments = parser.parse_args()
    nodes = [int(word) for word in arguments.nodes.split(",")]
    result = {"cores": CORES, "rate": arguments.rate, "input": arguments.input, "runs": [], "calibrations": []}
    print(f"{'latency':>7} {'nodes':>5} {'what':>20} {'modelled ms':>12} {'measured ms':>12} {'ratio':>7} {'free%':>5}")
    for latency in arguments.latency.split(","):
        with tempfile.TemporaryDirectory(prefix="nk", dir="/tmp") as folder:  # short: Open MPI makes sockets below it
            check = Check(arguments, folder)
            check.cluster("up", "-n", max(nodes), "-r", arguments.rate, "-l", latency)
            try:
                for n in nodes:
                    calibration, rows = check.all(latency, n)
                    result["calibrations"].append({"latency": latency, **calibration})
                    result["runs"] += rows
            finally:
                check.cluster("down")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
