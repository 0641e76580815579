#!/usr/bin/env python3
"""The model of output servers (virtual_async) beside measured times, and for thousands of ranks.

    perf/virtual_async.py --build build/ci --check                           six runs of nunatak-io on one slow disk
    perf/virtual_async.py --build build/ci --plot servers.png                up to 16 384 ranks and 256 servers

--check calibrates first, without a slow disk: the rate at which a server takes comes from a run of the format `null`, those at which a
client packs and a server's processor writes from one of `direct` (where nobody writes, values stay in the cache). Then nothing is fitted: the disk is told to be one of 100
MB/s for all processes (tests/faults/slow_disk.cpp).
"""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

import io_runs
import launcher

DISK = 100  # MB/s
# clients, servers, scale, records, seconds of computation between them, ring
POINTS = [(1, 1, 0.2, 1, 0.0, "64MiB"), (2, 1, 0.2, 1, 0.0, "64MiB"), (1, 2, 0.2, 1, 0.0, "8MiB"), (1, 1, 0.15, 4, 1.0, "64MiB"),
          (1, 1, 0.15, 4, 0.2, "16MiB"), (1, 2, 0.15, 4, 0.2, "8MiB")]
# a machine of which nothing is known but these round numbers; rates in MB/s, of each server and its disk
MACHINE = {"pack": 2000, "take": 5000, "write": 2000, "disk": 1000, "message": 5, "latency": 2}


def virtual(a, clients, servers, **options):
    words = [word for name, value in options.items() for word in (f"-{name}", str(value))]
    command = [str(pathlib.Path(a.build) / "perf/virtual_async"), "-clients", str(clients), "-servers", str(servers), *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        io_runs.fail(f"{shlex.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["runs"]


def measured(a, point, way="direct", disk=DISK):
    clients, servers, scale, records, compute, pool = point
    build = pathlib.Path(a.build).resolve()
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        command = shlex.split(a.mpiexec) + [str(clients + servers)]
        if disk:
            command += ["env", f"LD_PRELOAD={build / 'tests/faults/libslow_disk.so'}", f"NUNATAK_DISK={1e6 * disk} {folder} {folder}/disk"]
        command += [str(build / "miniapp/nunatak-io"), "-workload", "pism:G5km", "-scale", str(scale), "-records", str(records), "-compute",
                    str(compute), "-io_pool", pool, "-ways", way, "-io_transport", f"async:{servers}", "-repeat", str(a.repeat), "-verify",
                    "no", "-o", folder, "-report", f"{folder}/out.json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            io_runs.fail(f"{shlex.join(command)}: {done.stderr.strip()}")
        return json.loads(pathlib.Path(folder, "out.json").read_text())["ways"][0]


def calibrate(a):
    point = (1, 1, 0.2, 1, 0.0, "128MiB")  # never waits for room
    null, direct = measured(a, point, "null", 0), measured(a, point, "direct", 0)
    megabytes = 1e-6 * null["payload_bytes"]
    total, written = null["seconds"]["median"], direct["seconds"]["median"]
    return {"pack": megabytes / direct["visible_seconds"]["median"], "take": megabytes / total, "write": megabytes / max(written - total, 1e-3),
            "disk": DISK, "shared": "yes", "message": 0, "latency": 0}


def check(a):
    machine, rows = calibrate(a), []
    print(", ".join(f"{name} {value:.0f} MB/s" for name, value in machine.items() if name in ("pack", "take", "write", "disk")), flush=True)
    for point in POINTS:
        clients, servers, scale, records, compute, pool = point
        real = measured(a, point)
        interval = real["compute_seconds"] / max(records - 1, 1)  # with the filling of arrays
        model = virtual(a, clients, servers, workload="pism:G5km", scale=scale, records=records, compute=interval, io_pool=pool,
                        **machine)[0]
        visible, total = real["visible_seconds"]["median"], real["seconds"]["median"]
        rows.append({"clients": clients, "servers": servers, "MB a record": 1e-6 * real["payload_bytes"] / records, "records": records,
                     "interval s": interval, "ring": pool, "visible, modelled s": model["modelled"]["visible_s"], "measured s": visible,
                     "total, modelled s": model["modelled"]["total_s"], " measured s": total,
                     "ratio": model["modelled"]["total_s"] / total, "ratio, visible": model["modelled"]["visible_s"] / visible})
    io_runs.table(rows)
    return {"machine": machine, "points": rows}


def predict(a):
    """A record of 81 GB on more and more ranks, 64 for each server; then intervals."""
    many = {"workload": a.workload, "ranks_per_node": 130, **MACHINE}
    clients = [256, 1024, 4096, 16384]
    lists = ",".join(map(str, clients)), ",".join(str(c // 64) for c in clients)
    layouts = {layout: virtual(a, *lists, **many, io_layout=layout) for layout in ("native", "box", "morton")}
    io_runs.table([{"clients": r["clients"], "servers": r["servers"], "layout": layout, "messages": int(r["messages"]["sum"]),
                    "most of a server": int(r["messages"]["max"]), "GB of a server": 1e-9 * r["message_bytes"]["max"],
                    "batches": r["first_record"]["batches"], "off node": r["first_record"]["bytes_off_node"] / r["message_bytes"]["sum"],
                    "visible s": r["modelled"]["visible_s"], "total s": r["modelled"]["total_s"]}
                   for layout, runs in layouts.items() for r in runs])
    intervals = []
    for compute in (0, 0.5, 1, 1.5, 2, 2.5, 3):
        run = virtual(a, 4096, 64, **many, records=a.records, compute=compute)[0]["modelled"]
        intervals.append({"interval s": compute, **{name: run[name] for name in ("visible_s", "drain_s", "stall_s")}})
    io_runs.table(intervals)
    return {"machine": MACHINE, "layouts": layouts, "intervals": intervals}


def plot(a, predicted):
    plt = io_runs.pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")
    for (layout, runs), color, marker in zip(predicted["layouts"].items(), (io_runs.BLUE, io_runs.GREEN, io_runs.VERMILION), ("o-", "s--", "^-")):
        left.plot([r["clients"] for r in runs], [r["messages"]["max"] for r in runs], marker, color=color, label=layout,
                  **({"markersize": 10, "fillstyle": "none"} if marker == "s--" else {}))  # what lies under it is seen
    left.set(xscale="log", yscale="log", xlabel="ranks that compute (64 for each server)", ylabel="messages of one record",
             title="Taken by the server with most (counted)")
    left.set_xticks([r["clients"] for r in runs], [f"{r['clients']}" for r in runs])
    left.set_yticks([1500, 3000, 6000, 12000, 24000], ["1500", "3000", "6000", "12000", "24000"])
    left.minorticks_off()
    left.legend(title="layout")
    x = [r["interval s"] for r in predicted["intervals"]]
    for name, label, color, marker in (("visible_s", "visible, of a record", io_runs.VERMILION, "o"), ("drain_s", "last wait", io_runs.BLUE, "s")):
        share = a.records if name == "visible_s" else 1
        right.plot(x, [r[name] / share for r in predicted["intervals"]], color=color, marker=marker, label=label)
    right.set(xlabel="computation between records (s)", ylabel="time (s)", ylim=(0, None),
              title=f"4096 ranks, 64 servers, {1e-3 * MACHINE['disk']:g} GB/s each (modelled)")
    right.legend(loc="center left")
    figure.savefig(a.plot, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the programs (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="measure six points, and compare")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="to it the number of ranks is added (default %(default)s)")
    parser.add_argument("--folder", default="/dev/shm", help="of the files: in memory, the slow disk is emulated (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workload", default="pism:G1km", help="of the many ranks (default %(default)s)")
    parser.add_argument("--records", type=int, default=10, help="of each interval (default %(default)s)")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    a = parser.parse_args()
    result = {"benchmark": "virtual_async", "load_average": os.getloadavg()[0], **(check(a) if a.check else predict(a))}
    if a.plot and not a.check:
        plot(a, result)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
