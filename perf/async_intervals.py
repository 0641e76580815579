#!/usr/bin/env python3
"""From which interval between records on does an output server pay? The same records after the same computation, in three ways:

  sync     P ranks compute and write
  async    P ranks compute, S more serve
  equal    P + S ranks compute and write: the same cores, each P/(P+S) of the computation

    perf/async_intervals.py --build build/ci --intervals 0,0.1,0.2,0.4,0.8

The ways take turns. `output`: what sync adds to the computation; `visible`, `stall`, `drain`: of async; `wall`: from the first record
to all durable, computation included. --rate MB/s is one disk without a cache for all ranks (tests/faults/slow_disk.cpp); 0 is the disk
as it is. Computation between records is arithmetic (nunatak-io -compute) and, but for new values, nothing else.
"""
import argparse
import itertools
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

import io_runs
import launcher


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the programs (default %(default)s)")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="to it the number of ranks is added (default %(default)s)")
    parser.add_argument("--ranks", type=int, default=1, help="P (default %(default)s)")
    parser.add_argument("--servers", type=int, default=1, help="S (default %(default)s)")
    parser.add_argument("--way", default="direct", help="default %(default)s")
    parser.add_argument("--rate", type=float, default=100.0, help="MB/s of the disk; 0: as it is (default %(default)s)")
    parser.add_argument("--intervals", default="0,0.1,0.2,0.4,0.8", help="seconds of computation on P ranks (default %(default)s)")
    parser.add_argument("--records", type=int, default=8)
    parser.add_argument("--scale", default="0.15", help="of pism:G5km (default %(default)s: 37 MB a record)")
    parser.add_argument("--pool", default="64MiB", help="ring of a rank (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", default="/dev/shm", help="of the files: in memory, the slow disk is emulated (default %(default)s)")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def one_run(a, case, interval):
    ranks = a.ranks + (0 if case == "sync" else a.servers)
    compute = interval * a.ranks / ranks if case == "equal" else interval
    build = pathlib.Path(a.build).resolve()
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        command = shlex.split(a.mpiexec) + [str(ranks)]
        if a.rate > 0:
            command += ["env", f"LD_PRELOAD={build / 'tests/faults/libslow_disk.so'}", f"NUNATAK_DISK={1e6 * a.rate} {folder} {folder}/disk"]
        command += [str(build / "miniapp/nunatak-io"), "-workload", "pism:G5km", "-scale", a.scale, "-records", str(a.records), "-compute",
                    str(compute), "-io_pool", a.pool, "-ways", a.way, "-repeat", "1", "-verify", "no", "-o", folder, "-report",
                    f"{folder}/out.json", *(["-io_transport", f"async:{a.servers}"] if case == "async" else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            io_runs.fail(f"{shlex.join(command)}: {done.stderr.strip()}")
        way = json.loads(pathlib.Path(folder, "out.json").read_text())["ways"][0]
    total, visible = way["seconds"]["median"], way["visible_seconds"]["median"]
    stall = way["phases"]["stall"]
    return {"case": case, "interval": interval, "payload_bytes": way["payload_bytes"], "total": total, "visible": visible,
            "wall": total + way["compute_seconds"], "stall": stall["max_s"], "stall_mean": stall["mean_s"],
            "slowdown": way["compute_slowdown"], "servers": way["servers"]}


def main():
    a = read_arguments()
    intervals = [float(word) for word in a.intervals.split(",")]
    runs = [one_run(a, case, interval) for _, interval, case in itertools.product(range(a.repeat), intervals, ("sync", "async", "equal"))]

    def median(case, interval, what):
        return statistics.median(r[what] for r in runs if (r["case"], r["interval"]) == (case, interval))

    rows = []
    for interval in intervals:
        walls = {case: median(case, interval, "wall") for case in ("sync", "async", "equal")}
        pairs = [a["wall"] / b["wall"] for a, b in zip(*[[r for r in runs if (r["case"], r["interval"]) == (case, interval)]
                                                         for case in ("async", "sync")])]
        rows.append({"interval s": interval, "sync: output s": median("sync", interval, "total"),
                     "async: visible s": median("async", interval, "visible"), "stall s": median("async", interval, "stall"),
                     "drain s": statistics.median(r["total"] - r["visible"] for r in runs if (r["case"], r["interval"]) == ("async", interval)),
                     "total s": median("async", interval, "total"), "slow-down": median("async", interval, "slowdown"),
                     **{f"wall, {case} s": wall for case, wall in walls.items()}, "async / sync": statistics.median(pairs),
                     "spread": f"{min(pairs):.2f} to {max(pairs):.2f}", "async / equal": walls["async"] / walls["equal"]})
    print(f"{a.way}: {1e-6 * runs[0]['payload_bytes']:.0f} MB in {a.records} records, {a.ranks} + {a.servers} ranks, medians of {a.repeat}, "
          f"load {os.getloadavg()[0]:.1f}")
    io_runs.table(rows)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps({"benchmark": "async_intervals", "arguments": vars(a), "load_average": os.getloadavg()[0],
                                                    "rows": rows, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
