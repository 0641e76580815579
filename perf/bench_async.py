#!/usr/bin/env python3
"""What the model sees of its output with a server or a thread, beside the synchronous ways, on one slow disk or on this one.

    perf/bench_async.py --build build/ci --rate 100 --json async.json

All ways take turns in one run of nunatak-io, which compares every value that it has written. The synchronous ways write with as many
ranks as compute; the server, one more, then sleeps. `visible`: seconds until close() returns, of the slowest rank; `total`: until the
file is durable. `copying`: the bytes of a rank, copied once within memory, in the same turns. --rate MB/s is one disk without a cache
for all ranks (tests/faults/slow_disk.cpp); 0 is the disk as it is.
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/ci", help="folder of the programs (default %(default)s)")
    parser.add_argument("--ranks", type=int, default=2, help="that compute (default %(default)s)")
    parser.add_argument("--transport", default="async:1", help="or thread (default %(default)s)")
    parser.add_argument("--rate", type=float, default=100.0, help="MB/s of the disk; 0: as it is (default %(default)s)")
    parser.add_argument("--ways", default="serial,pnetcdf,direct", help="synchronous (default %(default)s)")
    parser.add_argument("--way", default="direct", help="of the servers (default %(default)s)")
    parser.add_argument("--workload", default="pism:G5km")
    parser.add_argument("--scale", default="0.2")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--mpiexec", default="mpiexec --oversubscribe -n")
    parser.add_argument("--folder", default=None, help="of the files (default: a temporary one)")
    parser.add_argument("--json", default="")
    return parser.parse_args()


def servers_of(transport):
    return 0 if transport == "thread" else sum(map(int, transport.split(":")[1].split("+")))


def measure(a, folder):
    build, result = pathlib.Path(a.build).resolve(), folder / "result.json"
    ways = [f"{way}/transport=sync" for way in a.ways.split(",")] + [a.way]
    command = shlex.split(a.mpiexec) + [str(a.ranks + servers_of(a.transport))]
    if a.rate > 0:
        command += ["env", f"LD_PRELOAD={build / 'tests/faults/libslow_disk.so'}", f"NUNATAK_DISK={1e6 * a.rate} {folder} {folder / 'disk'}"]
    command += [str(build / "miniapp/nunatak-io"), "-workload", a.workload, "-scale", a.scale, "-ways", ",".join(ways), "-repeat",
                str(a.repeat), "-io_transport", a.transport, "-o", str(folder), "-report", str(result)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"bench_async: {shlex.join(command)}\n{done.stderr}")
    return json.loads(result.read_text())


def main():
    a = read_arguments()
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        result = measure(a, pathlib.Path(folder))
    *ways, servers = result["ways"]
    seconds = {way["way"].removesuffix("/transport=sync"): way["seconds"]["median"] for way in ways}
    visible, best = servers["visible_seconds"]["median"], min(seconds, key=seconds.get)
    copying = result["copy"]["seconds"]["median"] / result["copy"]["bytes"] * servers["payload_bytes"] / a.ranks  # without ghosts
    record = {"benchmark": "async", "rate_MB_per_s": a.rate, "ranks": a.ranks, "transport": a.transport, "way": a.way,
              "payload_bytes": servers["payload_bytes"], "repeat": a.repeat, "load_average": result["host"]["load_average"],
              "synchronous_s": seconds, "best_synchronous": best, "visible_s": servers["visible_seconds"],
              "total_s": servers["seconds"], "stall_s": servers["phases"]["stall"]["max_s"],
              "visible_to_serial": visible / seconds["serial"] if "serial" in seconds else None,
              "visible_to_best": visible / seconds[best], "total_to_best": servers["seconds"]["median"] / seconds[best],
              "copying_s": copying, "visible_to_copying": visible / copying,
              "servers": servers["servers"], "verified_values": servers["verified_values"]}
    assert record["verified_values"] > 0
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1) if not a.json else
          f"{a.transport}, {a.rate:g} MB/s: visible {visible:.4f} s, total {servers['seconds']['median']:.3f} s; synchronous "
          + ", ".join(f"{way} {s:.3f} s" for way, s in seconds.items())
          + f"; visible / {best} {record['visible_to_best']:.3f}" + (f", / serial {record['visible_to_serial']:.3f}" if "serial" in seconds else "")
          + f"; copying {copying:.4f} s, visible / copying {visible / copying:.2f}")


if __name__ == "__main__":
    main()
