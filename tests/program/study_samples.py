"""Results folders of a study as `perf/study run` writes them, with times that follow known laws.
For test_study_report.py and lab 9 of docs/course; the standard library suffices."""
import json
import math
import random

# sigma, kappa and the fraction of the run on one rank
LAWS = {"init: read or generate": (0.3, 0.0, 0.04), "ocean": (0.02, 1e-3, 0.06),
        "stress balance: SSA": (0.03, 5e-4, 0.6),
        "energy": (0.0, 0.0, 0.15), "mass transport": (0.01, 0.0, 0.05)}
PHASES = {"open": (1.0, 0.0, 0.002), "post": (0.0, 0.0, 0.008), "wait": (0.6, 0.01, 0.06),
          "checksum": (0.0, 0.0, 0.01), "fsync": (1.0, 0.0, 0.02)}
ALL_PHASES = ("open", "define", "reserve", "post", "exchange", "stall", "wait", "flush", "close",
              "checksum", "fsync")
MACHINE = {"system": "cluster", "nodes": 8, "cores_per_node": 1, "cpu": "AMD EPYC",
           "mpi": "Open MPI v4.1.4", "file_system": "striped, 8 servers",
           "versions": {"nunatak": "1.0.0"}, "network": "50 Mbit/s, 200 us",
           "emulated": False, "physical_cores": 8}


def seconds(law, ranks, cells, noise):
    sigma, kappa, one = law
    work = cells / 36864
    return 20.0 * one * work * (
        1 + sigma * (ranks - 1) + kappa * ranks * (ranks - 1)) / ranks * noise()


def model_report(ranks, side, steps=3, noise=lambda: 1.0, slower=None, laws=None, alone=1.0):
    """A report of nunatak, of two years; slower = {part: factor}, laws = {part: law} in place of
    LAWS; `alone`: see pop()."""
    def spread(value):
        return {"min": 0.98 * value, "mean": 0.99 * value, "max": value}

    def timer(value, calls=1):
        return {"calls": calls, **spread(value)}

    def pop(value, alone=1.0):
        """Ranks that wait in MPI for a tenth of the time, on cores that run them for the fraction
        `alone` of the rest."""
        return {"useful_seconds": spread(0.9 * alone * value),
                "in_mpi_seconds": spread(0.1 * value), "seconds": spread(value)}

    slower = slower or {}
    timers = {name: timer(slower.get(name, 1.0) * seconds(law, ranks, side * side, noise), steps)
              for name, law in {**LAWS, **(laws or {})}.items()}
    computing = {name: timer["max"]
                 for name, timer in timers.items() if not name.startswith("init")}
    for name, value in computing.items():
        timers[name]["pop"] = pop(value, alone)
    phases = {name: {**timer(0.0), "bytes": 0, "operations": 0} for name in ALL_PHASES}
    for name, law in PHASES.items():
        phases[name].update(
            timer(slower.get("output", 1.0) * seconds(law, ranks, side * side, noise)))
    in_phases = sum(p["mean"] for p in phases.values())
    timers["output: open"] = timer(phases["open"]["max"])
    timers["output: result"] = timer(in_phases * 1.1 / 0.99 - phases["open"]["max"])
    timers["init"] = timer(
        timers["init: read or generate"]["max"] * 1.5 + timers["output: open"]["max"])
    parts = sum(t["mean"] for name, t in timers.items() if name not in ("init: read or generate",
                                                                        "output: open"))
    return {
        "steps": steps, "years": 2.0, "ended_early": "",
        "grid": {"Mx": side, "My": side, "Mz": 31, "dx": 32000.0, "dy": 32000.0, "Lz": 4300.0},
        "options": {"stress": "ssa+sia", "ocean": "pico", "grid_Mx": side, "io_format": "pnetcdf",
                    "o": f"r{ranks}.nc"},
        "mass_budget": {"volume_end_km3": 18585616.27 + 1e-4 * ranks,
                        "volume_start_km3": 18601220.67, "closure": 1e-16 * ranks},
        "messages": {"messages": 300 * ranks, "bytes": 700000 * ranks, "collectives_per_rank": 44},
        "pop": pop(sum(computing.values()), alone),
        "ocean": {"shelf_cells": 270, "shelves": 29, "distance_rounds": 2},
        "ssa": {"steps": 16, "linear_iterations": 41 + ranks},
        "output": {"budget_percent": 10.0, "percent_of_run": 100 * in_phases / parts,
                   "phases": phases, "written_bytes": 312 * side**2},
        "timers": timers, "wall_seconds": 1.01 * parts, "peak_resident_MiB_per_rank": 80.0,
        "versions": {"nunatak": "1.0.0"}}


def method(name, ranks, total):
    phases = {p: {"max_s": 0.0, "mean_s": 0.0, "min_s": 0.0, "bytes": 0, "operations": 0}
              for p in ALL_PHASES}
    phases["wait"].update(max_s=0.8 * total, mean_s=0.7 * total)
    return {"method": name, "seconds": {"median": total, "all": [total]}, "phases": phases,
            "payload_bytes": 10**7, "written_bytes": 10**7,
            "moved_bytes": 0, "messages": ranks, "message_bytes": 0, "off_node_bytes": 0}


def io_report(ranks):
    return {"tool": "nunatak-io",
            "workload": {"name": "pism:G5km", "scale": 0.1, "records": 1, "text": "31 x 57 x 201"},
            "methods": [method("pnetcdf", ranks, 2.0 * (0.3 + 0.7 / ranks)),
                        method("serial", ranks, 3.0)]}


class Folder:
    """A results folder that grows run by run."""

    def __init__(self, path, machine=None, title="Compute and output, strong and weak"):
        self.path = path
        (path / "reports").mkdir(parents=True)
        (path / "study.yaml").write_text(f"title: {title}\nprogram: nunatak\nrepetitions: 3\n")
        (path / "machine.json").write_text(json.dumps({**MACHINE, **(machine or {})}))
        (path / "runs.jsonl").touch()

    def add(self, mode, ranks, repetition, content, vary=None, **line):
        """`content`: of its report; `line` replaces keys of its line."""
        point = "-".join([mode, str(ranks), *[f"{k}={v}" for k, v in (vary or {}).items()]])
        name = f"reports/{point}.{repetition}.json"
        grid = content.get("grid") if isinstance(content, dict) else None
        run = {"point": point, "mode": mode, "vary": vary or {}, "nodes": ranks, "ranks": ranks,
               "threads": 1, "cells": grid["Mx"] * grid["My"] if grid else None,
               "repetition": repetition, "status": "ok", "reason": "",
               "report": name, "seconds": 1.0, "oversubscribed": False, **line}
        if content is not None:
            (self.path / name).write_text(content if isinstance(content, str)
                                          else json.dumps(content))
        with open(self.path / "runs.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")

    def fill(self, modes=("strong", "weak"), ranks=(1, 2, 4, 8), methods=("pnetcdf", "serial"),
             repetitions=3, noise=0.02, seed=1, laws=None, **line):
        """Strong: 192 x 192 cells in all. Weak: 128 x 128 on each rank. `serial` takes three times
        as long to write."""
        draw = random.Random(seed)
        for mode in modes:
            for name in methods:
                for n in ranks:
                    for repetition in range(repetitions):
                        side = 192 if mode == "strong" else round((16384 * n) ** 0.5)
                        report = model_report(
                            n, side, noise=lambda: math.exp(noise * draw.gauss(0.0, 1.0)),
                            slower={"output": 3.0 if name == "serial" else 1.0}, laws=laws)
                        self.add(mode, n, repetition, report, {"io_format": name}, **line)
        return self
