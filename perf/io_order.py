#!/usr/bin/env python3
"""The order of dimensions in the file: what it costs to write (time, z, y, x), which tools want, instead of (time, y, x, z), which
is in memory; and what ncpdq (NCO) costs those who turn the file afterwards.

    perf/io_order.py --ranks 2 --json order.json --plot order.png

The two orders of each way take turns in one run of nunatak-io. The last yxz file of the first way is turned by ncpdq, as often
as there are turns, fsync included; the result must hold the values of the zyx file, all variables, bit for bit.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import io_runs
from io_runs import BLUE, GREEN, ORANGE


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    io_runs.add_arguments(parser, "pism:G5km", 0.2, 3, 2)
    parser.add_argument("--ways", default="serial,pnetcdf,pnetcdf/zslab,pnetcdf/box:1,pnetcdf/morton:1,netcdf4,netcdf4/zslab",
                        help="without order= (default %(default)s)")
    return parser.parse_args()


def turn(source, target, times):
    """Seconds of ncpdq, file durable; as often as `times`."""
    seconds = []
    for _ in range(times):
        target.unlink(missing_ok=True)
        start = time.perf_counter()
        done = subprocess.run(["ncpdq", "-O", "-h", "-a", "time,z,y,x", str(source), str(target)], capture_output=True, text=True)
        if done.returncode != 0:
            io_runs.fail(f"ncpdq: {done.stderr.strip()}")
        with open(target, "rb+") as file:
            os.fsync(file.fileno())
        seconds.append(time.perf_counter() - start)
    return seconds


def require_equal(one, other):
    import netCDF4
    import numpy as np
    with netCDF4.Dataset(one) as a, netCDF4.Dataset(other) as b:
        a.set_auto_mask(False), b.set_auto_mask(False)
        if list(a.variables) != list(b.variables) and set(a.variables) != set(b.variables):
            io_runs.fail(f"{one} and {other}: expected the same variables")
        for name in a.variables:
            if a[name].dimensions != b[name].dimensions or not np.array_equal(a[name][:], b[name][:]):
                io_runs.fail(f"{one} and {other}: variable {name} differs")


def plot(path, told, rows, ncpdq):
    plt = io_runs.pyplot()
    names = [row["way"] for row in rows]
    figure, axis = plt.subplots(figsize=(8, 1.6 + 0.45 * len(names)), constrained_layout=True)
    for shift, order, colour in ((-0.18, "yxz", BLUE), (0.18, "zyx", ORANGE)):
        axis.barh([n + shift for n in range(len(names))], [row[f"{order}, s"] for row in rows], 0.34, color=colour, label=f"written {order}")
        for n, way in enumerate(told["ways"][0 if order == "yxz" else 1::2]): # each run
            axis.plot(way["seconds"]["all"], [n + shift] * len(way["seconds"]["all"]), "k|", markersize=7)
    if ncpdq:
        axis.barh([n - 0.18 for n in range(len(names))], [statistics.median(ncpdq["seconds"])] * len(names), 0.34,
                  left=[row["yxz, s"] for row in rows], color=GREEN, hatch="//", edgecolor="white", label="then ncpdq")
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set_xlabel("seconds until durable: median (bar) and each run (line)")
    axis.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1), frameon=False)
    axis.set_title(f"{told['workload']['name']}, {told['workload']['text']}: {told['probe']['bytes'] / 1e6:.3g} MB", fontsize=9, pad=26)
    figure.get_layout_engine().set(rect=(0, 0.04, 1, 0.96))
    io_runs.footnote(figure, told)
    figure.savefig(path, dpi=150)


def main():
    arguments = read_arguments()
    ways = arguments.ways.split(",")
    told = io_runs.run(arguments, [f"{way}/order={order}" for way in ways for order in ("yxz", "zyx")], "-keep")
    files = pathlib.Path(arguments.folder) / "nunatak-io.files"
    rows = []
    for n, way in enumerate(ways):
        yxz, zyx = told["ways"][2 * n:2 * n + 2]
        rows.append({"way": way, "yxz, s": yxz["seconds"]["median"], "zyx, s": zyx["seconds"]["median"],
                     "zyx/yxz": io_runs.ratio(zyx, yxz), "calls yxz": yxz["written_operations"], "calls zyx": zyx["written_operations"],
                     "messages": zyx["messages"], "message bytes yxz": yxz["message_bytes"], "message bytes zyx": zyx["message_bytes"]})
    io_runs.table(rows)
    ncpdq = None
    if shutil.which("ncpdq"):
        source, target = files / "way0.nc", files / "turned.nc"
        ncpdq = {"seconds": turn(source, target, arguments.repeat),
                 "bytes_read": source.stat().st_size, "bytes_written": target.stat().st_size}
        require_equal(target, files / "way1.nc")
        print(f"\nncpdq of the first: {statistics.median(ncpdq['seconds']):.4g} s, {ncpdq['bytes_read']} bytes read and "
              f"{ncpdq['bytes_written']} written; its values are those of the zyx file")
    else:
        print("\nncpdq is not installed (NCO): its cost is not measured")
    shutil.rmtree(files)
    io_runs.save(arguments, {"rows": rows, "ncpdq": ncpdq, "run": told})
    if arguments.plot:
        plot(arguments.plot, told, rows, ncpdq)


if __name__ == "__main__":
    main()
