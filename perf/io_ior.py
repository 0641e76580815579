#!/usr/bin/env python3
"""The built-in probe of nunatak-io beside IOR (https://github.com/hpc/ior), where that is installed: same bytes, same ranks, calls
of 16 MiB, one shared file, fsync (-e); IOR through POSIX and through MPI-IO.

    perf/io_ior.py --ranks 2 --workload pism:G5km --scale 0.8 --json ior.json

IOR's time is from open to close with fsync inside; it neither renames the file nor flushes the folder.
"""
import argparse
import json
import math
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import tempfile

import io_runs

CALL = 16 << 20


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    io_runs.add_arguments(parser, "pism:G5km", 0.5, 7, 2)
    parser.add_argument("--ior", default="ior", help="the program (default %(default)s)")
    return parser.parse_args()


def ior(arguments, api, share):
    """Seconds of each repetition."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "ior.json"
        file = pathlib.Path(arguments.folder) / "ior.data"
        command = shlex.split(arguments.mpiexec) + [str(arguments.ranks), arguments.ior, "-a", api, "-w", "-e", "-t", str(CALL), "-b",
                                                    str(share), "-i", str(arguments.repeat), "-o", str(file), "-O",
                                                    f"summaryFormat=JSON,summaryFile={out}"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMPI_MCA_io": "^ompio"})
        if done.returncode != 0:
            io_runs.fail(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        results = json.loads(out.read_text())["tests"][0]["Results"]
        return [r["totalTime"] for r in results if r["access"] == "write"]


def main():
    arguments = read_arguments()
    told = io_runs.run(arguments, ["null"], "-verify", "no")
    rows = [{"program": "probe of nunatak-io", "bytes": told["probe"]["bytes"], "seconds": told["probe"]["seconds"]["median"]}]
    if shutil.which(arguments.ior):
        share = math.ceil(told["probe"]["bytes"] / arguments.ranks / CALL) * CALL  # IOR writes whole calls
        for api in ("POSIX", "MPIIO"):
            rows.append({"program": f"IOR {api}", "bytes": share * arguments.ranks,
                         "seconds": statistics.median(ior(arguments, api, share))})
    else:
        print(f"{arguments.ior} is not installed: only the probe is measured")
    for row in rows:
        row["MB/s"] = row["bytes"] / row["seconds"] / 1e6
    io_runs.table(rows)
    io_runs.save(arguments, {"rows": rows, "run": told})


if __name__ == "__main__":
    main()
