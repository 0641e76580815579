#!/usr/bin/env python3
"""The experiment by which PISM's asynchronous output was judged, repeated: longer and longer runs that write a series at every step,
maps every year, snapshots every five and the result, in each way of output. What the model sees of it grows with the years: slopes.

    perf/async_sprint.py --build build/ci --rate 100 --json sprint.json --plot sprint.png

`visible`: all timers of output but the last wait (drain), mean over the ranks that compute. The ways take turns, and every run must
end with the same thickness. --rate MB/s is one disk without a cache for all ranks (tests/faults/slow_disk.cpp); 0 is the disk as it is.
"""
import argparse
import hashlib
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
import netCDF4
import numpy as np

FILES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "1", "-snapshot_file", "s.nc",
         "-snapshot_every", "5", "-o", "result.nc")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="folder of the programs (default %(default)s)")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="to it the number of ranks is added (default %(default)s)")
    parser.add_argument("--ranks", type=int, default=2, help="that compute (default %(default)s)")
    parser.add_argument("--years", default="10,20,40,80")
    parser.add_argument("--ways", default="serial,direct,direct@async:1", help="formats, and after @ the transport (default %(default)s)")
    parser.add_argument("--model", default="-init marine -grid_dx 32km -grid_Mz 31 -stress sia -dt_max 1", help="default %(default)s")
    parser.add_argument("--rate", type=float, default=100.0, help="MB/s of the disk; 0: as it is (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE")
    return parser.parse_args()


def one_run(a, way, years, folder):
    build = pathlib.Path(a.build).resolve()
    output_format, _, transport = way.partition("@")
    servers = sum(map(int, transport.split(":")[1].split("+"))) if transport else 0
    command = shlex.split(a.mpiexec) + [str(a.ranks + servers)]
    if a.rate > 0:
        command += ["env", f"LD_PRELOAD={build / 'tests/faults/libslow_disk.so'}", f"NUNATAK_DISK={1e6 * a.rate} {folder} {folder}/disk"]
    command += [str(build / "miniapp/nunatak"), *shlex.split(a.model), "-run_years", str(years), *FILES, "-io_format", output_format,
                "-report", "report.json", "-verbose", "no"] + (["-io_transport", transport] if transport else [])
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        io_runs.fail(f"{shlex.join(command)}: {done.stderr.strip()}")
    report = json.loads((pathlib.Path(folder) / "report.json").read_text())
    with netCDF4.Dataset(pathlib.Path(folder) / "result.nc") as result:
        answer = hashlib.sha256(result["thk"][:].tobytes()).hexdigest()
    outputs = {name: t["mean"] for name, t in report["timers"].items() if name.startswith("output: ")}
    drain = outputs.pop("output: drain", 0.0)
    return {"way": way, "years": years, "visible_s": sum(outputs.values()), "snapshots_s": outputs.get("output: snapshot", 0.0),
            "drain_s": drain, "wall_s": report["wall_seconds"], "answer": answer, "timers": outputs}


def slope(runs, what):
    """Seconds a year, from the medians of each length."""
    medians = {y: statistics.median(r[what] for r in runs if r["years"] == y) for y in {r["years"] for r in runs}}
    return float(np.polyfit(list(medians), list(medians.values()), 1)[0])


def plot(path, runs, ways, rate):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for way, color, marker in zip(ways, (io_runs.BLUE, io_runs.GREEN, io_runs.VERMILION, io_runs.PURPLE), "os^D"):
        mine = [r for r in runs if r["way"] == way]
        years = sorted({r["years"] for r in mine})
        of = [[r["visible_s"] for r in mine if r["years"] == y] for y in years]
        middle = [statistics.median(v) for v in of]
        axes.errorbar(years, middle, [[m - min(v) for m, v in zip(middle, of)], [max(v) - m for m, v in zip(middle, of)]], color=color,
                      marker=marker, capsize=3, label=way.replace("@", ", "))
    axes.set(xlabel="length of the run (years)", ylabel="output that the model sees (s)", ylim=(0, None))
    axes.set_title(f"Output of a run, disk of {rate:g} MB/s" if rate else "Output of a run")
    axes.legend()
    figure.savefig(path, dpi=150)


def main():
    a = read_arguments()
    ways, runs = a.ways.split(","), []
    for _, years, way in itertools.product(range(a.repeat), map(int, a.years.split(",")), ways):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(one_run(a, way, years, folder))
    for years in {r["years"] for r in runs}:
        if len({r["answer"] for r in runs if r["years"] == years}) != 1:
            io_runs.fail(f"the runs of {years} years end with different thicknesses")
    rows = []
    for way in ways:
        mine = [r for r in runs if r["way"] == way]
        rows.append({"way": way, "visible s/year": slope(mine, "visible_s"), "snapshots s/year": slope(mine, "snapshots_s"),
                     "wall s/year": slope(mine, "wall_s"), "longest drain s": max(r["drain_s"] for r in mine)})
    best = min((r for r in rows if "@" not in r["way"]), key=lambda r: r["visible s/year"])
    for row in rows:
        row["visible / serial"] = row["visible s/year"] / rows[0]["visible s/year"]
        row["snapshots / serial"] = row["snapshots s/year"] / rows[0]["snapshots s/year"]
        row["visible / best sync"] = row["visible s/year"] / best["visible s/year"]
    io_runs.table(rows)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps({"benchmark": "async_sprint", "arguments": vars(a), "load_average": os.getloadavg()[0],
                                                    "ways": rows, "runs": runs}, indent=1) + "\n")
    if a.plot:
        plot(a.plot, runs, ways, a.rate)


if __name__ == "__main__":
    main()
