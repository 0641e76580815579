#!/usr/bin/env python3
"""Whole runs on the emulated cluster next to nunatak-step -output: modelled and measured seconds,
and their ratio.

    perf/check_output_model.py --nodes 2,4,8 --json check.json

For each number of nodes a cluster is brought up, `calibrate -o` measures the constants of network
and file system on it, and each method of output is run --repeat times: steps of the continent, a
result, until it is durable. Work is measured on this machine; as on the cluster, ranks share its
cores. Measured time is `wall_seconds` without `init`, median. Run it on a quiet machine. Status 1
if a ratio is off by more than --limit.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import launcher  # noqa: F401 (ranks may outnumber cores)

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = HERE / "cluster" / "cluster"


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"check_output_model.py: {' '.join(map(str, words))}\n{done.stdout[-1000:]}"
                 f"{done.stderr[-2000:]}")
    return done.stdout


def json_of(path):
    return json.loads(path.read_text())


class Check:
    def __init__(self, arguments, folder):
        self.a, self.folder = arguments, folder
        self.programs = arguments.build / "miniapp"
        self.problem = ["-grid_dx", arguments.grid, "-grid_Mz", arguments.levels]

    def calibrate(self, nodes):
        found = json.loads(call(CLUSTER, "mpirun", "-n", nodes, self.a.build / "perf" / "calibrate",
                                "-o", "/mnt/pfs"))
        found["machine"]["cores"] = os.cpu_count()
        # the cluster gives both the same cards
        found["output"]["server_rate"] = found["output"]["card_rate"]
        path = self.folder / "machine.json"
        path.write_text(json.dumps(found))
        return path, found

    def measured(self, nodes, method):
        """{part: median seconds} of runs on the cluster."""
        report = self.folder / "run.json"
        options = (["-io_transport", method] if method.startswith("async:")
                   else ["-io_format", method])
        runs = []
        for _ in range(self.a.repeat):
            call(CLUSTER, "mpirun", "-n", nodes, self.programs / "nunatak", "-init", "marine",
                 *self.problem, "-run_steps", self.a.steps,
                 *options, "-o", "/mnt/pfs/x.nc", "-report", report)
            run = json_of(report)
            timers = {name: timer["max"] for name, timer in run["timers"].items()}
            output = sum(timers[name] for name in ("output: result", "output: drain"))
            runs.append((run["wall_seconds"] - timers["init"] - output, output))
        return {"compute": statistics.median(r[0] for r in runs),
                "output": statistics.median(r[1] for r in runs),
                "run": statistics.median(sum(r) for r in runs)}

    def modelled(self, nodes, method, machine):
        servers = int(method[6:]) if method.startswith("async:") else 0
        report = self.folder / "model.json"
        call(self.programs / "nunatak-step", *self.problem, "-steps", self.a.steps,
             "-virtual_ranks", nodes - servers, "-output", method,
             "-work", "measured", "-ranks_per_node", 1, "-servers", self.a.servers, "-machine",
             machine, "-report", report)
        r = json_of(report)["output"][0]
        return {"compute": r["compute_s"], "output": r["output_s"] + r["drain_s"],
                "run": r["run_s"]}

    def rows(self):
        for nodes in self.a.nodes:
            print(call(CLUSTER, "up", "-n", nodes, "-s", self.a.servers, "-r", self.a.rate, "-l",
                       self.a.latency), end="", flush=True)
            try:
                machine, constants = self.calibrate(nodes)
                for method in self.a.methods:
                    yield {"nodes": nodes, "method": method,
                           "modelled": self.modelled(nodes, method, machine),
                           "measured": self.measured(nodes, method), "constants": constants}
            finally:
                call(CLUSTER, "down")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="2,4,8",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--methods", default="direct,pnetcdf,serial,async:1",
                        type=lambda text: text.split(","))
    parser.add_argument("--grid", default="32km", help="-grid_dx (default 32km)")
    parser.add_argument("--levels", default="31", help="-grid_Mz (default 31)")
    parser.add_argument("--steps", default=2, type=int)
    parser.add_argument("--servers", default=4, type=int, help="storage servers (default 4)")
    parser.add_argument("--rate", default="50mbit", help="of every card (default 50mbit)")
    parser.add_argument("--latency", default="1ms", help="one way (default 1ms)")
    parser.add_argument("--repeat", default=3, type=int)
    parser.add_argument("--limit", default=0.25, type=float,
                        help="largest deviation of a whole run (default 0.25)")
    parser.add_argument("--build", default=HERE.parent / "build" / "release", type=pathlib.Path,
                        help="build folder (default build/release)")
    parser.add_argument("--json", type=pathlib.Path, help="write everything here, too")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    rows, parts = [], ("run", "compute", "output")
    print("nodes  method    " +
          "".join(f"{part + ': modelled':>20}{'measured':>10}{'ratio':>7}" for part in parts))
    with tempfile.TemporaryDirectory() as folder:
        for row in Check(arguments, pathlib.Path(folder)).rows():
            rows.append(row)
            print(f"{row['nodes']:>5}  {row['method']:<10}" + "".join(
                f"{row['modelled'][part]:>20.3f}{row['measured'][part]:>10.3f}"
                f"{row['modelled'][part] / row['measured'][part]:>7.2f}"
                for part in parts), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    off = [r for r in rows
           if abs(r["modelled"]["run"] / r["measured"]["run"] - 1.0) > arguments.limit]
    print(f"{len(rows) - len(off)} of {len(rows)} runs are within {arguments.limit:.0%}")
    sys.exit(1 if off else 0)


if __name__ == "__main__":
    main()
