#!/usr/bin/env python3
"""Print how each solve of the stress balance converged, and plot it: from the JSON that nunatak
writes with -report.

    scripts/convergence.py report.json [-o convergence.png] [-n ROWS]

One row per solve: nonlinear steps, how many of them were damped, linear iterations, reductions over
all ranks, the residual over the load before and after, cells excluded because nothing holds them,
seconds, and why the solve ended. At the end medians and largest values. Fields: SsaReport in
kernels/ssa/solver.hpp.
"""
import argparse
import json
import statistics
import sys

from course.project_python import require

COLUMNS = (("year", "{:10.4f}"), ("steps", "{:6d}"), ("damped", "{:6d}"), ("linear", "{:6d}"),
           ("reductions", "{:10d}"), ("before", "{:9.2e}"), ("after", "{:9.2e}"),
           ("excluded", "{:8d}"), ("seconds", "{:8.3f}"), ("reason", "{}"))


def row(solve):
    """The columns of one solve. Residuals are over the load; a solve without unknowns has none."""
    load = solve["load"] or 1.0
    return {"year": solve["year"], "steps": solve["steps"], "damped": solve["damped_steps"],
            "linear": solve["linear_iterations"], "reductions": solve["reductions"],
            "before": solve["initial_residual"] / load, "after": solve["final_residual"] / load,
            "excluded": solve["excluded_cells"], "seconds": solve["seconds"],
            "reason": solve["reason"]}


def print_table(rows, limit):
    heads = [name.rjust(len(form.format(rows[0][name]))) for name, form in COLUMNS]
    print("  ".join(heads))
    for number, values in enumerate(rows):
        if limit == 0 or number < limit:
            print("  ".join(form.format(values[name]) for name, form in COLUMNS))
    if 0 < limit < len(rows):
        print(f"... {len(rows) - limit} more")
    for name in ("steps", "damped", "linear", "reductions", "excluded", "seconds"):
        values = [r[name] for r in rows]
        print(f"{name:>10}: first {values[0]:.4g}, median {statistics.median(values):.4g}, largest "
              f"{max(values):.4g}, sum {sum(values):.5g}")


def plot(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    years = [r["year"] for r in rows]
    figure, (counts, residuals) = plt.subplots(2, 1, sharex=True, figsize=(8, 6),
                                               constrained_layout=True)
    for name, colour in (("linear", "#0072b2"), ("steps", "#d55e00"), ("damped", "0.5")):
        counts.plot(years, [r[name] for r in rows], ".-", color=colour, label=name)
    counts.set_ylabel("iterations per solve")
    counts.set_ylim(bottom=0)
    counts.legend()
    for name, colour in (("before", "#d55e00"), ("after", "#0072b2")):
        residuals.semilogy(years, [max(r[name], 1e-16) for r in rows], ".-", color=colour,
                           label=name)
    residuals.set_ylabel("|residual| / |load|")
    residuals.set_xlabel("year")
    residuals.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", help="JSON file written by nunatak -report")
    parser.add_argument("-o", "--output", default=None, help="picture to write (default: none)")
    parser.add_argument("-n", "--rows", type=int, default=0,
                        help="print at most N solves (default: all)")
    args = parser.parse_args()
    if args.output:
        require("matplotlib", "scripts/setup.sh makes a Python that has it")
    try:
        with open(args.report, encoding="utf-8") as file:
            history = json.load(file).get("ssa", {}).get("history", [])
    except (OSError, ValueError, AttributeError) as error:
        sys.exit(f"convergence.py: {args.report}: expected a report of nunatak (JSON), found: "
                 f"{getattr(error, 'strerror', None) or error}")
    if not history:
        sys.exit(f"{args.report}: no solves of the stress balance in it (-stress sia, or not a "
                 "report of nunatak)")
    rows = [row(solve) for solve in history]
    print_table(rows, args.rows)
    if args.output:
        plot(rows, args.output)
        print(f"wrote {args.output}")


if __name__ == "__main__":
    main()
