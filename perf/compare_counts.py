#!/usr/bin/env python3
"""Count what PISM and nunatak send for the same steps, part by part, with perf/count's library
(libnunatak_count.so).

    perf/compare_counts.py --pism DIR --nunatak EXE --count LIB --data antarctica.nc \\
        --ranks 4 16 64 --json counts.json

The case and the command lines are those of compare_pism.py. Counts are those of a step and a rank,
on average over ranks and over the steps after the first: those of a run of --steps steps less those
of a run of one, both with the same start and end. Output: one state. Ranks may outnumber cores:
counts do not mind.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import re
import shlex
import sys
import tempfile

import compare_pism

# part: (events of PISM, timers of nunatak); a name that ends in * is the beginning of names
PARTS = {"SSA": (["stress_balance.shallow", "ssafd*"],
                 ["stress balance: till; hardness", "stress balance: SSA"]),
         "SIA, velocity": (["stress_balance", "stress_balance.modifier", "sia.*",
                            "stress_balance.strain_heat", "stress_balance.vertical_velocity"],
                           ["stress balance: SIA", "stress balance: 3-D velocity"]),
         "energy": (["energy", "ice_energy", "btu"], ["energy"]),
         "mass transport": (["mass_transport", "ge.*"], ["mass transport"]),
         "ocean": (["ocean*"], ["ocean"]),
         "output": (["io.*"], ["output*"]),
}
LINEAR, OTHER = "SSA, linear solves", "other"
COLUMNS = ["messages", "kB", "starts", "waits", "reductions", "reduced B", "gathers",
           "communicators", "solves"]
INSTRUCTIONS = {  # column: (its unit, events of callgrind)
    "million instructions": (1e6, ["Ir"]),
    "thousand misses of L1": (1e3, ["D1mr", "D1mw"]),
    "thousand misses of 1 MiB": (1e3, ["DLmr", "DLmw"]),
}
CALLGRIND = ("valgrind -q --tool=callgrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 "
             "--LL=1048576,16,64 --callgrind-out-file=pieces".split())
REDUCTIONS, GATHERS = (("Allreduce", "Iallreduce", "Reduce", "Reduce_scatter", "Scan"),
                       ("Allgather", "Gather", "Bcast", "Alltoall", "Scatter"))
SINGLE = {"Start": "starts", "Wait": "waits", "Communicator": "communicators", "Solve": "solves"}
NO_COLUMN = ("Barrier", "Ibarrier")
RUNS = {  # name: (program, options)
    "PISM, finite differences": ("pism", ""),
    "PISM, finite elements": ("pism", "-ssa_method fem"),
    "PISM, finite elements, 1e-2": ("pism", "-ssa_method fem -ksp_rtol 1e-2"),
    "-like pism": ("nunatak", "-like pism"),
    "-like pism2026": ("nunatak", "-like pism2026"),
    "-like pism2026, drag of nunatak": ("nunatak", "-like pism2026 -till_subgrid yes"),
    "-like pism, 1e-2": ("nunatak", "-like pism -ssa_ksp_rtol 1e-2"),
    "default": ("nunatak", ""),
}


def part_of(event, program, linear):
    if linear:
        return LINEAR
    for part, names in PARTS.items():
        for name in names[0 if program == "pism" else 1]:
            if event == name or (name.endswith("*") and event.startswith(name[:-1])):
                return part
    return OTHER


def counts_of(path, program, ranks):
    """Of a file of the library: part -> column -> number per rank."""
    table = {part: dict.fromkeys(COLUMNS, 0.0) for part in [LINEAR, *PARTS, OTHER]}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            part, calls, size = (table[part_of(row["part"], program, row["linear"] == "1")],
                                 int(row["calls"]) / ranks, int(row["bytes"]) / ranks)
            operation = row["operation"]
            if operation in REDUCTIONS:
                part["reductions"] += calls
                part["reduced B"] += size
            elif operation in GATHERS:
                part["gathers"] += calls
            elif operation == "Message":
                part["messages"] += calls
                part["kB"] += size / 1000
            elif operation in SINGLE:
                part[SINGLE[operation]] += calls
            elif operation not in NO_COLUMN:
                raise compare_pism.RunFailed(
                    f"{path}: operation '{operation}': no column of the table has it")
    return table


def add_instructions(folder, table, program):
    """Of the dumps of callgrind, one for each piece of a part, which are deleted."""
    pieces = 0
    for path in pathlib.Path(folder).glob("pieces*"):
        text = path.read_text(encoding="utf-8", errors="replace")
        path.unlink()
        said, events, totals = (re.search(rf"^{line}: (.*)$", text, re.M)
                                for line in ("desc: Trigger", "events", "totals"))
        if not totals:
            continue
        piece = re.fullmatch("Client Request: (.*),([01])", said[1]) if said else None
        part = table[part_of(piece[1], program, piece[2] == "1") if piece else OTHER]
        pieces += piece is not None
        found = dict(zip(events[1].split(), map(int, totals[1].split())))
        for column, (unit, names) in INSTRUCTIONS.items():
            part[column] += sum(found.get(name, 0) for name in names) / unit
    if pieces == 0:
        raise compare_pism.RunFailed("expected dumps of callgrind by part, found none: perf/count "
                                     "is to be built where valgrind/callgrind.h is")


def run(case, a, ranks, name, steps):
    """One run of a program with the library: its counts and its iterations, nonlinear and
    linear."""
    program, options = RUNS[name]
    counts = os.path.join(case.folder, "counts.csv")
    pathlib.Path(counts).unlink(missing_ok=True)  # of the run before
    if program == "pism":
        command = compare_pism.pism_command(a.pism, case.case, steps, "end.nc", options.split())
        command = [word for word in command if not word.startswith((":log.py", "-log_view"))]
    else:
        # as many advances of the ice as steps; a run of one update alone would have one of 0 years
        command = compare_pism.nunatak_command(a.nunatak, case.own_case, steps + 1, "end.nc",
                                               options.split())
    inside = CALLGRIND if a.callgrind else []
    text, _ = compare_pism.run(a.mpiexec, ranks, [
        "env", f"LD_PRELOAD={a.count}", f"NUNATAK_COUNTS={counts}", *inside, *command], case.folder)
    if program == "pism":
        pairs = [compare_pism.linear_iterations(text, prefix) for prefix in ("ssafd_", "")]
        iterations = [pairs[0][k] + pairs[1][k] for k in (0, 1)]
    else:
        iterations = [case.report()["ssa"][key] for key in ("steps", "linear_iterations")]
    if not os.path.exists(counts):
        raise compare_pism.RunFailed(f"--count: '{a.count}': expected libnunatak_count.so, which "
                                     "writes counts, found none of them")
    table = counts_of(counts, program, ranks)
    if a.callgrind:
        add_instructions(case.folder, table, program)
    return table, iterations


def per_step(case, a, ranks, name):
    """Counts and iterations of a step after the first; iterations of the first solve, from rest."""
    (few, first), (many, last) = (run(case, a, ranks, name, steps) for steps in (1, a.steps))
    solve = (case.report()["ssa"]["history"][0] if RUNS[name][0] == "nunatak"
             else {"steps": first[0], "linear_iterations": first[1]})
    n = a.steps - 1
    parts = {part: {c: (many[part][c] - few[part][c]) / n for c in COLUMNS} for part in many}
    parts["all but output"] = {c: sum(parts[part][c] for part in parts if part != "output")
                               for c in COLUMNS}
    parts["output"] = many["output"]
    found = {"parts": parts, "nonlinear": (last[0] - first[0]) / n,
             "linear": (last[1] - first[1]) / n,
             "from rest": {"nonlinear": solve["steps"], "linear": solve["linear_iterations"]}}
    if RUNS[name][0] == "nunatak":
        useful = case.report()["timers"]["stress balance: SSA"]["pop"]["useful_seconds"]["max"]
        found["SSA, ns of processor time of a cell and linear iteration"] = 1e9 * useful * ranks / (
            last[1] * math.prod(case.shape))
    if a.callgrind:
        found["million instructions of a linear iteration"] = (
            parts[LINEAR]["million instructions"] / max(found["linear"], 1))
    return found


def vector(parts, columns=("messages", "kB", "reductions", "gathers", "waits")):
    """Counters of each part but output as logarithms, for the cosine of two runs."""
    return [math.log1p(max(0.0, parts[part][c])) for part in parts if "output" not in part
            for c in columns]


def cosine(one, other):
    return sum(x * y for x, y in zip(one, other)) / math.sqrt(
        sum(x * x for x in one) * sum(y * y for y in other))


def print_table(ranks, table):
    say = compare_pism.say
    say(f"\n{ranks} ranks, per step and rank" + "".join(f"{c:>14s}" for c in COLUMNS))
    for name, found in table.items():
        say(f"{name}: {found['nonlinear']:.1f} nonlinear, {found['linear']:.1f} linear iterations")
        for part, counts in found["parts"].items():
            say(f"    {part:20s}     " + "".join(f"{counts[c]:14.1f}" for c in COLUMNS))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    compare_pism.add_case(parser)
    parser.add_argument("--count", required=True, metavar="LIB", help="libnunatak_count.so")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 16, 64])
    parser.add_argument("--steps", type=int, default=3, help="steps of the longer run (default 3)")
    parser.add_argument("--callgrind", action="store_true", help="instructions and cache misses, "
                        "too, by valgrind's simulation, on one rank")
    parser.add_argument("--runs", nargs="+", default=list(RUNS), choices=RUNS, metavar="NAME",
                        help="of " + "; ".join(RUNS))
    a = parser.parse_args()
    if a.callgrind:
        a.ranks = [1]
        COLUMNS.extend(INSTRUCTIONS)
    if a.steps < 2:
        compare_pism.fail(
            f"--steps: expected 2 or more, of which the first does not count, found {a.steps}")
    if min(a.ranks) < 1:
        compare_pism.fail(f"--ranks: expected 1 or more, found {min(a.ranks)}")
    compare_pism.find_programs(a)
    a.count, a.ours = os.path.abspath(a.count), ""
    if not os.path.isfile(a.count):
        compare_pism.fail(f"'{a.count}': expected a library, found none")
    result = {"command": shlex.join(["perf/compare_counts.py",
                                     *map(os.path.basename, sys.argv[1:])]), "ranks": {}}
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = compare_pism.Antarctica(a, folder)
            result.update(grid=[*case.shape], levels=compare_pism.LEVELS, steps=a.steps)
            for ranks in a.ranks:
                table = result["ranks"][ranks] = {}
                for name in a.runs:
                    table[name] = per_step(case, a, ranks, name)
                print_table(ranks, table)
                if a.runs[0] in table:
                    for name in a.runs:
                        alike = {n: round(cosine(vector(table[n]["parts"]),
                                                 vector(table[name]["parts"])), 4) for n in a.runs}
                        table[name]["cosine"] = alike
        except compare_pism.RunFailed as error:
            compare_pism.fail(str(error))
    compare_pism.give(result, a.json)


if __name__ == "__main__":
    main()
