#!/usr/bin/env python3
"""Is the default of the output the fastest of our methods, for other models, orders and numbers of
ranks?

    perf/check_defaults.py  # nunatak-io on 2, 4 and 8 ranks of this machine
    NUNATAK_MPIEXEC="srun -n" perf/check_defaults.py --output /scratch/me --ranks 128 1024 --scale 1

For each workload, order of dimensions and number of ranks nunatak-io writes by all methods in
alternation. Printed are the calls and the bytes that the default moves between ranks (counted), its
time over that of the fastest other method (medians), and which that is; at the end how many cases
are within --tolerance, and those that are not. Times are of one node unless the launcher says
otherwise.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import launcher

WORKLOADS = {"pism:G5km": 0.2, "cam:FV-B": 0.3, "mom:0.25": 0.2, "gcrm:5": 1, "e3sm:F": 0.0334,
             "e3sm:G": 0.0138, "e3sm:I": 0.1, "icon:R2B3": 1}
DEFAULT, OTHERS = "direct", ["direct/native", "direct/zslab", "serial", "pnetcdf", "netcdf4"]
# of cells along one dimension: levels first or last in their own files
ONE_ORDER = ("gcrm", "e3sm", "icon")


def measure(workload, scale, order, ranks, methods, options):
    """The methods of the report of nunatak-io, by name, without those that it refuses (too many
    blocks for a library)."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        report = pathlib.Path(folder) / "report.json"
        words = [*launcher.MPIEXEC.split(), str(ranks), options.nunatak_io, "-workload", workload,
                 "-scale", str(scale), "-o", options.output or folder, "-verify", "no", "-methods",
                 ",".join(methods), "-repeat", str(options.repeat), "-report", str(report)]
        done = subprocess.run(words + (["-io_order", order] if order else []), capture_output=True,
                              text=True, check=False)
        if done.returncode == 0:
            return {method["method"]: method
                    for method in json.loads(report.read_text())["methods"]}
    refused = re.search("error: method of output '([^']*)': expected at most", done.stderr)
    if not refused:
        sys.exit(f"check_defaults.py: {workload} on {ranks} ranks: status {done.returncode}: "
                 f"{done.stderr.strip()}")
    return measure(workload, scale, order, ranks,
                   [method for method in methods if method != refused[1]], options)


def case(workload, order, ranks, methods):
    default = methods.pop(DEFAULT)
    best = min(methods.values(), key=lambda method: method["seconds"]["median"])
    return {"workload": workload, "order": order or "own", "ranks": ranks,
            "calls": default["written_operations"], "moved_MB": default["message_bytes"] / 1e6,
            "seconds": default["seconds"]["median"], "best": best["method"],
            "ratio": default["seconds"]["median"] / best["seconds"]["median"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunatak-io", default="nunatak-io",
                        help="the program (default: %(default)s)")
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4, 8],
                        help="default: 2 4 8; on one nothing can move, and direct is direct/native")
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS),
                        help=f"default: {' '.join(WORKLOADS)}")
    parser.add_argument("--scale", type=float, help="of all workloads (default: what takes less "
                        "than a second on a laptop)")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--others", nargs="+", default=OTHERS,
                        help=f"methods to compare with (default: {' '.join(OTHERS)})")
    parser.add_argument("--folder", default=".",
                        help="where files are written and removed (default: here)")
    parser.add_argument("--output", help="where nunatak-io writes, if that is another folder, "
                        "which only its ranks need to see")
    parser.add_argument("--json")
    options = parser.parse_args()
    cases = []
    print(f"{'workload':12s} {'order':5s} {'ranks':>5s} {'calls':>8s} {'moved MB':>9s} "
          f"{'seconds':>8s} {'ratio':>6s}  fastest other method")
    for workload in options.workloads:
        scale = options.scale or WORKLOADS.get(workload, 1)
        for order in [None] if workload.startswith(ONE_ORDER) else ["yxz", "zyx"]:
            for ranks in options.ranks:
                one = case(workload, order, ranks, measure(workload, scale, order, ranks,
                                                           [DEFAULT, *options.others], options))
                cases.append(one)
                print(f"{workload:12s} {one['order']:5s} {ranks:5d} {one['calls']:8d} "
                      f"{one['moved_MB']:9.2f} {one['seconds']:8.4f} {one['ratio']:6.2f}  "
                      f"{one['best']}", flush=True)
    slower = [one for one in cases if one["ratio"] > 1 + options.tolerance]
    print(f"\n{len(cases) - len(slower)} of {len(cases)} within {100 * options.tolerance:.0f} % of "
          "the fastest other method")
    for one in slower:
        print(f"  not: {one['workload']}, order {one['order']}, {one['ranks']} ranks: "
              f"{one['ratio']:.2f} times {one['best']}")
    if options.json:
        pathlib.Path(options.json).write_text(
            json.dumps({"cases": cases, "within": len(cases) - len(slower), "all": len(cases),
                        "worst": max(one["ratio"] for one in cases)}, indent=1) + "\n")


if __name__ == "__main__":
    main()
