#!/usr/bin/env python3
"""Measures what a visit of a cell costs in each loop (kernels/grid/ranks.hpp: Work), for `-work
counted` of virtual ranks.

    perf/calibrate_loops.py
        prints {"visit_s": {...}}
    perf/calibrate_loops.py --machine machine.json
        puts it into the machine that calibrate has printed

One virtual rank does the work of the synthetic continent and of a mask twice: by its visits, and by
the time of its loops. Run it on a quiet machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build" / "release" / "miniapp"
SOLVERS = ("sweep", "bfs", "buckets", "fmm")


def records(programs, tool, *options):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([programs / tool, "-virtual_ranks", "1", *options, "-report", report],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"calibrate_loops.py: {tool}: {done.stderr[-2000:]}")
        found = json.loads(report.read_text(encoding="utf-8"))
    return found.get("records") or found["runs"], found["machine"]["visit_s"]


def costs(programs, grid):
    visit_s = {}
    counted, constants = records(programs, "nunatak-step", "-grid_dx", grid)
    measured, _ = records(programs, "nunatak-step", "-grid_dx", grid, "-work", "measured",
                          "-repeat", "5")
    for before, now in zip(counted, measured):
        if loop := before["loop"]:
            visit_s[loop] = constants[loop] * now["loggp_work_s"] / before["loggp_work_s"]
    mask = ["-mask", "shelves", "-grid_Mx", "1000", "-work", "measured", "-repeat", "5"]
    for solver in SOLVERS:
        record = records(programs, "nunatak-distance", *mask, "-solvers", solver)[0][0]
        visit_s[solver] = record["loggp_work_s"] / record["work"]
    # two masks of as many cells, with few segments and with many: costs of a cell and of a segment
    few, many = (records(programs, "nunatak-labels", "-mask", name, *mask[2:])[0][0]
                 for name in ("shelves", "percolation:0.593"))
    visit_s["labels"] = (many["loggp_work_s"] - few["loggp_work_s"]) / (many["work"] - few["work"])
    cells = few["Mx"] * few["My"]
    visit_s["segments"] = (few["loggp_work_s"] - visit_s["labels"] * (few["work"] - cells)) / cells
    return {loop: float(f"{visit_s[loop]:.3g}") for loop in constants}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", default="8km", help="width of a cell of the step (default 8km)")
    parser.add_argument("--machine", type=pathlib.Path, help="file to put the costs into")
    parser.add_argument("--programs", type=pathlib.Path, default=BUILD,
                        help="folder of the tools (default build/release/miniapp)")
    arguments = parser.parse_args()
    found = costs(arguments.programs, arguments.grid)
    if arguments.machine:
        machine = json.loads(arguments.machine.read_text(encoding="utf-8"))
        machine["machine"]["visit_s"] = found
        arguments.machine.write_text(json.dumps(machine, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({"visit_s": found}, indent=1))


if __name__ == "__main__":
    main()
