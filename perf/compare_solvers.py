#!/usr/bin/env python3
"""Compare linear solvers and settings of the SSA, by bench_ssa.

    perf/compare_solvers.py table --input antarctica.nc --json table.json
    perf/compare_solvers.py sweep --input antarctica.nc --json sweep.json --plot docs/img/ssa

table: every setting on a few problems. sweep: the solvers on finer and finer grids; --plot draws <prefix>_iterations.png and
<prefix>_time.png. --from FILE draws from the JSON of an earlier sweep.

Times are processor time of one rank, from rest, with the set-up of the solver; the solve that warms up is dropped. Settings take
turns, so that a slow hour of the machine meets all alike; medians. A solve that fails, or whose velocity is wrong, is reported
with the program's words.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

SETTINGS = {
    "default": [],
    "solver petsc": ["-ssa_solver", "petsc"],
    "double precision": ["-ssa_multigrid_precision", "double"],
    "smoothing 1": ["-ssa_multigrid_smoothing", "1"],
    "smoothing 3": ["-ssa_multigrid_smoothing", "3"],
    "smoothing 4": ["-ssa_multigrid_smoothing", "4"],
    "minres": ["-ssa_ksp_type", "minres", "-ssa_ksp_norm_type", "preconditioned"],
    "fcg": ["-ssa_ksp_type", "fcg"],
    "gmres": ["-ssa_ksp_type", "gmres"],
    "rtol 0.3": ["-ssa_ksp_rtol", "0.3"],
    "rtol 0.2": ["-ssa_ksp_rtol", "0.2"],
    "rtol 0.1": ["-ssa_ksp_rtol", "0.1"],
    "rtol 0.01": ["-ssa_ksp_rtol", "0.01"],
    "Eisenstat-Walker": ["-ssa_snes_ksp_ew"],
    "matrix every 2nd step": ["-ssa_snes_lag_jacobian", "2"],
    "multigrid every 2nd step": ["-ssa_snes_lag_preconditioner", "2"],
    "BoomerAMG": ["-ssa_pc_type", "hypre"],
    "GAMG": ["-ssa_pc_type", "gamg"],
    "block Jacobi, ILU(0)": ["-ssa_pc_type", "bjacobi"],
    "additive Schwarz, ILU(0)": ["-ssa_pc_type", "asm"],
}
SOLVERS = ["default", "BoomerAMG", "GAMG", "block Jacobi, ILU(0)"]
# Okabe & Ito (2008): colours that differ for all common kinds of colour vision
COLOURS = {"default": "#0072B2", "BoomerAMG": "#D55E00", "GAMG": "#009E73", "block Jacobi, ILU(0)": "#CC79A7"}
MARKERS = {"default": "o-", "BoomerAMG": "s--", "GAMG": "^-.", "block Jacobi, ILU(0)": "D:"}


def fail(message):
    sys.exit(f"compare_solvers.py: {message}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["table", "sweep"])
    parser.add_argument("--program", default="build/release/perf/bench_ssa", help="bench_ssa (default %(default)s)")
    parser.add_argument("--input", metavar="FILE", help="an ice sheet: adds it to the problems")
    parser.add_argument("--repeat", type=int, default=3, help="rounds over all settings (default 3)")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a run is stopped (default %(default)g)")
    parser.add_argument("--finest", type=float, default=8, help="sweep: finest grid of the ice sheet, km (default %(default)g)")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--from", dest="source", metavar="FILE", help="sweep: read the results there instead of measuring")
    parser.add_argument("--plot", metavar="PREFIX", help="sweep: draw PREFIX_iterations.png and PREFIX_time.png")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        fail(f"--repeat: expected 1 or more, found {arguments.repeat}")
    if not arguments.source and (not os.access(arguments.program, os.X_OK) or os.path.isdir(arguments.program)):
        fail(f"--program: '{arguments.program}' cannot be executed")
    return arguments


def problems_of_table(arguments):
    problems = {"J, 241 x 241": ["-problem", "J", "-M", "241"], "marine, 16 km": ["-init", "marine", "-grid_dx", "16km"]}
    if arguments.input:
        problems = {"ice sheet, 16 km": ["-i", arguments.input, "-grid_dx", "16km"], **problems}
    return problems


def problems_of_sweep(arguments):
    """family -> label -> arguments"""
    families = {
        "J": {str(M): ["-problem", "J", "-M", str(M)] for M in (61, 121, 241, 481)},
        "plug flow": {str(M): ["-problem", "plug", "-M", str(M)] for M in (61, 121, 241)},
    }
    if arguments.input:
        spacings = [dx for dx in (32, 16, 8, 4) if dx >= arguments.finest]
        families["ice sheet"] = {f"{dx} km": ["-i", arguments.input, "-grid_dx", f"{dx}km"] for dx in spacings}
    return families


def solve(arguments, problem, options):
    """The JSON of one run of bench_ssa, or {"failed": why}."""
    command = [arguments.program, *problem, *options, "-repeat", "1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=arguments.limit, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": f"stopped after {arguments.limit:g} s"}
    if done.returncode != 0:
        told = [line for line in done.stderr.splitlines() if "error: " in line or "Signal: " in line]
        return {"failed": (told or [f"status {done.returncode}"])[0].replace("bench_ssa: error: ", "")}
    return json.loads(done.stdout)


def measure(arguments, cases):
    """cases: name -> (problem, options). In turns; a case that has failed once is not tried again."""
    runs = {name: [] for name in cases}
    for n in range(arguments.repeat):
        for name, (problem, options) in cases.items():
            if runs[name] and "failed" in runs[name][-1]:
                continue
            run = solve(arguments, problem, options)
            runs[name].append(run)
            word = run.get("failed") or f"{run['work']['linear_iterations']} iterations, {run['seconds']['cpu']['median']:.2f} s"
            print(f"round {n + 1} of {arguments.repeat}, {', '.join(name)}: {word}", file=sys.stderr)
    return {name: summarise(all_runs) for name, all_runs in runs.items()}


def summarise(runs):
    if "failed" in runs[-1]:
        return runs[-1]
    work = runs[0]["work"]
    if any(run["work"] != work for run in runs):
        fail(f"runs differ: expected {work}, found {[run['work'] for run in runs]}")
    seconds = {
        part: statistics.median(run["seconds"][part]["median"] for run in runs)
        for part in ("cpu", "wall", "residual", "jacobian", "linear")
    }
    return {**work, "cpu_seconds": seconds.pop("cpu"), "wall_seconds": seconds, "residual": runs[0]["result"]["residual_per_load"]}


def table(arguments):
    problems = problems_of_table(arguments)
    cases = {(p, s): (problems[p], options) for p in problems for s, options in SETTINGS.items()}
    results = measure(arguments, cases)
    for p in problems:
        print(f"\n{p}\n\n| setting | steps | damped | linear iterations | CPU s | of it matrix and residual | \n|---|---|---|---|---|---|")
        for s in SETTINGS:
            r = results[p, s]
            if "failed" in r:
                print(f"| {s} | failed: {r['failed']} |")
                continue
            share = (r["wall_seconds"]["jacobian"] + r["wall_seconds"]["residual"]) / r["wall_seconds"]["wall"]
            print(f"| {s} | {r['steps']} | {r['damped_steps']} | {r['linear_iterations']} | {r['cpu_seconds']:.3f} | {100 * share:.0f} % |")
    return {p: {s: results[p, s] for s in SETTINGS} for p in problems}


def sweep(arguments):
    families = problems_of_sweep(arguments)
    cases = {(f, g, s): (problem, SETTINGS[s]) for f, grids in families.items() for g, problem in grids.items() for s in SOLVERS}
    results = measure(arguments, cases)
    return {f: {s: {g: results[f, g, s] for g in grids} for s in SOLVERS} for f, grids in families.items()}


def print_sweep(result):
    for family, solvers in result.items():
        print(f"\n{family}\n")
        grids = list(next(iter(solvers.values())))
        print("| solver | " + " | ".join(grids) + " |\n|---|" + "---|" * len(grids))
        for s, runs in solvers.items():
            words = [r.get("failed", "").split(";")[0] or f"{r['linear_iterations']} in {r['steps']}, {r['cpu_seconds']:.2f} s" for r in runs.values()]
            print(f"| {s} | " + " | ".join(words) + " |")


def plot(result, prefix):
    import matplotlib  # only if a plot is wanted

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = [
        ("iterations", "linear iterations of a solve", lambda r: r["linear_iterations"]),
        ("time", "processor time of a solve (s)", lambda r: r["cpu_seconds"]),
    ]
    for name, label, value in panels:
        figure, axes = plt.subplots(1, len(result), figsize=(3.6 * len(result), 3.8), layout="constrained", sharex=True, sharey=True)
        for ax, (family, solvers) in zip(axes if len(result) > 1 else [axes], result.items()):
            for s, runs in solvers.items():
                good = [r for r in runs.values() if "failed" not in r]
                x, y = [2 * r["unknown_cells"] for r in good], [value(r) for r in good]
                words = s
                if name == "time" and len(good) > 2:
                    import numpy

                    words += f": N^{numpy.polyfit(numpy.log(x), numpy.log(y), 1)[0]:.2f}"
                words = "multigrid of nunatak" + words[7:] if s == "default" else words
                ax.plot(x, y, MARKERS[s], color=COLOURS[s], markersize=5, markerfacecolor="none", label=words)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title({"J": "test J"}.get(family, family), fontsize=10)
            ax.set_xlabel("unknowns N")
            ax.xaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
            ax.grid(True, which="major", color="0.9")
            if name == "time" or ax is (axes[0] if len(result) > 1 else axes):
                ax.legend(frameon=False, fontsize=7)
        (axes[0] if len(result) > 1 else axes).set_ylabel(label)
        figure.savefig(f"{prefix}_{name}.png", dpi=130)


def main():
    arguments = read_arguments()
    if arguments.source:
        with open(arguments.source, encoding="utf-8") as file:
            result = json.load(file)
    else:
        result = table(arguments) if arguments.what == "table" else sweep(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=2)
            file.write("\n")
    if arguments.what == "sweep":
        print_sweep(result)
        if arguments.plot:
            plot(result, arguments.plot)


if __name__ == "__main__":
    main()
