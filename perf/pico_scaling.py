#!/usr/bin/env python3
"""Strong scaling of PICO and its distances on virtual ranks: counted messages, modelled time; tables, JSON, plots.

    perf/upsample.py antarctica_32km.nc 1km antarctica_1km.nc
    perf/pico_scaling.py distances antarctica_1km.nc --ranks 1,4,16,64,256,1024,4096 --json distances.json
    perf/pico_scaling.py updates antarctica_1km.nc --ranks 1,4,16,64,256,1024,4096 --json updates.json
    perf/pico_scaling.py check antarctica_8km.nc --ranks 2,3,4,5,6
    perf/pico_scaling.py plot --distances distances.json --updates updates.json --plot docs/img/pico_scaling.png

Virtual ranks are one process that plays all ranks (nunatak-distance, bench_pico). What they send is counted, not estimated;
`check` holds it against the same solvers on that many real processes. Times are those of a LogGP machine, whose numbers the
JSON states: modelled, not measured.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

import launcher

COUNTS = ("rounds", "messages", "bytes", "collectives", "collective_bytes", "lagged", "work")
# Okabe & Ito (2008): colours that differ for all common kinds of colour vision
STYLE = {"sweep": ("#000000", "o"), "bfs": ("#D55E00", "s"), "gather": ("#0072B2", "D"), "buckets": ("#009E73", "^"), "auto": ("#CC79A7", "v")}
NAMES = {"sweep": "sweep (original)", "bfs": "bfs (2025)", "gather": "gather", "buckets": "buckets", "auto": "auto"}


def run(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"pico_scaling.py: '{shlex.join(map(str, command))}' failed with status {done.returncode}:\n{done.stderr}{done.stdout[-2000:]}")
    return done.stdout


def distances_of(arguments, launcher, ranks, solvers):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.json")
        words = ["-i", arguments.input, "-solvers", solvers, "-compare", "-report", path]
        words += ["-virtual_ranks", ranks] if not launcher else []
        run(launcher + [os.path.join(arguments.build, "miniapp", "nunatak-distance")] + words)
        with open(path) as file:
            return json.load(file)


def distances(arguments):
    result = distances_of(arguments, [], arguments.ranks, arguments.solvers)
    print(f"{'ranks':>6} {'solver':>8} {'rounds':>7} {'messages':>10} {'bytes':>12} {'collectives':>11} {'lagged':>6} {'modelled us':>12} {'of it work':>11}")
    for r in result["runs"]:
        print(f"{r['ranks']:6d} {r['solver']:>8} {r['rounds']:7d} {r['messages']:10d} {r['bytes']:12d} {r['collectives']:11d} {r['lagged']:6d}"
              f" {1e6 * r['loggp_s']:12.1f} {1e6 * r['loggp_work_s']:11.1f}")
    return result


def updates(arguments):
    result = json.loads(run([os.path.join(arguments.build, "perf", "bench_pico"), "-i", arguments.input, "-virtual_ranks", arguments.ranks]))
    print(f"{'ranks':>6} {'rounds':>6} {'messages':>9} {'bytes':>12} {'collectives':>11} {'lagged':>6} {'modelled ms':>12} {'of it work':>11} {'max/mean':>9}")
    for r in result["runs"]:
        print(f"{r['ranks']:6d} {r['rounds']:6d} {r['messages']:9d} {r['bytes']:12d} {r['collectives']:11d} {r['lagged_reductions']:6d}"
              f" {r['modelled_ms']:12.4f} {r['modelled_work_ms']:11.4f} {r['domain_imbalance']:9.1f}")
    return result


def check(arguments):
    """Real processes against virtual ranks, count by count."""
    wrong = 0
    for ranks in arguments.ranks.split(","):
        virtual = distances_of(arguments, [], ranks, arguments.solvers)["runs"]
        real = distances_of(arguments, shlex.split(arguments.mpiexec) + [ranks], ranks, arguments.solvers)["runs"]
        for v, r in zip(virtual, real):
            same = all(v[key] == r[key] for key in COUNTS)
            wrong += not same
            print(f"{ranks:>3} ranks, {v['solver']:>8}: {r['rounds']} rounds, {r['messages']} messages, {r['bytes']} bytes, "
                  f"{r['collectives']} collectives: {'as on virtual ranks' if same else 'DIFFERS: ' + str({k: (v[k], r[k]) for k in COUNTS})}")
    if wrong:
        sys.exit(f"pico_scaling.py: {wrong} counts differ between real and virtual ranks")
    return {}


def plot(arguments):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with open(arguments.distances) as file:
        runs = json.load(file)["runs"]
    with open(arguments.updates) as file:
        updates_json = json.load(file)
    whole, machine = updates_json["runs"], updates_json["machine"]
    figure, ((time, rounds), (update, balance)) = plt.subplots(2, 2, figsize=(11, 8.5), constrained_layout=True)
    for solver, (colour, marker) in STYLE.items():
        of_solver = [r for r in runs if r["solver"] == solver]
        if not of_solver or solver == "auto":
            continue
        ranks = [r["ranks"] for r in of_solver]
        time.plot(ranks, [1e3 * r["loggp_s"] for r in of_solver], color=colour, marker=marker, label=NAMES[solver])
        if solver != "gather":
            points = [r for r in of_solver if r["rounds"] > 0]
            rounds.plot([r["ranks"] for r in points], [r["rounds"] for r in points], color=colour, marker=marker, label=NAMES[solver])
    first = [r for r in runs if r["solver"] == "buckets"]
    ranks = [r["ranks"] for r in first]
    time.plot(ranks, [1e3 * first[0]["loggp_s"] * ranks[0] / n for n in ranks], color="0.6", ls=":", label="buckets, ideal")
    time.set_title("Two distance fields: modelled time")
    time.set_ylabel("time (ms)")
    rounds.set_title("Rounds of messages between neighbours: counted")
    rounds.set_ylabel("rounds")
    ranks = [r["ranks"] for r in whole]
    update.plot(ranks, [r["modelled_ms"] for r in whole], color="#0072B2", marker="o", label="whole update")
    parts = (("masks and labels", lambda r: r["modelled_geometry_ms"] - r["modelled_distances_ms"], "#E69F00", "s"),
             ("distances", lambda r: r["modelled_distances_ms"], "#009E73", "^"), ("physics", lambda r: r["modelled_melt_ms"], "#CC79A7", "D"))
    for name, value, colour, marker in parts:
        update.plot(ranks, [value(r) for r in whole], color=colour, marker=marker, label=name)
    update.plot(ranks, [whole[0]["modelled_ms"] * ranks[0] / n for n in ranks], color="0.6", ls=":", label="ideal")
    update.set_title("PICO update, geometry changed: modelled time")
    update.set_ylabel("time (ms)")
    balance.plot(ranks, [r["domain_imbalance"] for r in whole], color="#0072B2", marker="o", label="cells of the distance domain")
    balance.plot(ranks, [r["shelf_imbalance"] for r in whole], color="#D55E00", marker="s", ls="--", label="shelf cells")
    balance.set_title("Load of the fullest rank over the mean: counted")
    balance.set_ylabel("largest / mean")
    for axes in (time, rounds, update, balance):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("ranks (virtual)")
        axes.grid(alpha=0.3, which="both")
        axes.legend(frameon=False, fontsize=9)
    figure.supxlabel(f"modelled machine (LogGP): latency L = {1e6 * machine['L_s']:g} us, overhead o = {1e6 * machine['o_s']:g} us, gap g = "
                     f"{1e6 * machine['g_s']:g} us, G = {1e9 * machine['G_s_per_byte']:g} ns per byte; {1e9 * machine['visit_s']:g} ns per visit of a cell", fontsize=10)
    figure.savefig(arguments.plot, dpi=120)
    print(f"wrote {arguments.plot}")
    return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    for name, function in (("distances", distances), ("updates", updates), ("check", check)):
        mode = modes.add_parser(name)
        mode.set_defaults(function=function)
        mode.add_argument("input", help="NetCDF file with thk and topg (updates: also basins, theta_ocean, salinity_ocean)")
        mode.add_argument("--ranks", default="2,3,4" if name == "check" else "1,4,16,64,256")
        mode.add_argument("--solvers", default="sweep,bfs,buckets,gather,auto")
        mode.add_argument("--build", default="build/release", help="build folder (default %(default)s)")
        mode.add_argument("--mpiexec", default=launcher.MPIEXEC, help="words before the rank count (default '%(default)s')")
        mode.add_argument("--json", metavar="FILE")
    mode = modes.add_parser("plot")
    mode.set_defaults(function=plot, json=None)
    for name in ("distances", "updates", "plot"):
        mode.add_argument(f"--{name}", metavar="FILE", required=True)
    arguments = parser.parse_args()
    result = arguments.function(arguments)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
