"""Metrics of a report of nunatak, POP's of a part of the step and others, without numpy
(docs/reference/report.md has the definitions)."""
import math

# part of the time outside MPI in which a processor ran the rank: from here on it had a core alone
ALONE = 0.95


def of_part(pop):
    """`processor`, the useful computation of the rank that has most, and `useful`, the mean of all;
    `elapsed` time of the slowest rank; `alone`, the fraction of the time outside MPI in which a
    processor ran it."""
    useful, elapsed, waiting = pop["useful_seconds"], pop["seconds"], pop["in_mpi_seconds"]
    for value in (seconds[which] for seconds in (useful, elapsed, waiting)
                  for which in ("max", "mean")):
        if (not isinstance(value, (int, float)) or isinstance(value, bool) or
            not math.isfinite(value)):
            raise ValueError("expected seconds of POP's metrics, found none")
    outside = elapsed["mean"] - waiting["mean"]
    return {"processor": useful["max"], "useful": useful["mean"], "elapsed": elapsed["max"],
            "alone": useful["mean"] / outside if outside > 0 else math.nan}


def loop(report):
    """Seconds of the time steps: the run without init, the result file and the last drain of
    servers."""
    timers = report["timers"]
    return (report["wall_seconds"] -
            sum(timers[name]["max"]
                for name in ("init", "output: result", "output: drain") if name in timers))
