"""The law of strong scaling of the course (lab 9; Gunther), fitted where five comparable points
carry it:

t(n) = t(1) / n (1 + sigma (n - 1) + kappa n (n - 1)), n times the fewest cores of the curve: sigma
is the fraction that is not shared, kappa the cost of each pair. n t(n) is linear in t(1), t(1)
sigma and t(1) kappa: least squares of relative errors.
"""
import numpy

LEAST = 5  # points; three numbers are fitted
DRAWN = 2000


def coefficients(cores):
    n = numpy.asarray(cores, float) / min(cores)
    return n, numpy.stack([numpy.ones_like(n), n - 1, n * (n - 1)], axis=1)


def seconds(law, cores):
    """Of a law on `cores`, the fewest of its curve first."""
    n, columns = coefficients(cores)
    return columns @ [law["seconds"], law["seconds"] * law["sigma"],
                      law["seconds"] * law["kappa"]] / n


def fit(cores, times):
    """t(1), sigma and kappa of the medians of `times`, a list of repetitions at each of `cores`;
    their bootstrap intervals of 95 % if all have three or more; by how much of it the law misses
    the point that it fits worst."""
    n, columns = coefficients(cores)
    medians = numpy.array([numpy.median(values) for values in times])
    weights = 1 / (n * medians)
    inverse = numpy.linalg.pinv(columns * weights[:, None])

    def solve(of_points):  # one fit a column
        first, *others = inverse @ (of_points.T * n * weights).T
        return numpy.array([first, *(other / first for other in others)])

    found = dict(zip(("seconds", "sigma", "kappa"), solve(medians)))
    if not found["seconds"] > 0:
        return None
    found["misses"] = max(abs(seconds(found, cores) / medians - 1))
    few = min(map(len, times)) < 3
    drawn = None if few else solve(numpy.array(
        [numpy.median(numpy.random.default_rng(seed).choice(values, (DRAWN, len(values))), axis=1)
         for seed, values in enumerate(times)]))
    for row, name in enumerate(("seconds", "sigma", "kappa")):
        ends = (None, None) if few else numpy.percentile(drawn[row], [2.5, 97.5])
        found[f"{name}_low"], found[f"{name}_high"] = ends
    return found


def laws(points):
    """Of the run and its sums on each curve: what fit() finds, with the curve, the part and the
    cores of the points."""
    from . import parts  # which needs pandas; a fit does not
    found = []
    strong = points[(points["mode"] == "strong") & points.part.isin(parts.SUMS) &
                    points.comparable & (points.fraction >= parts.SMALL) &
                    (points.no_efficiency == "")]
    for (machine, curve, part), rows in strong.groupby(["machine", "curve", "part"], sort=False):
        rows = rows.drop_duplicates("cores").sort_values("cores")
        law = fit(rows.cores.tolist(), rows.times.tolist()) if len(rows) >= LEAST else None
        found += [{"machine": machine, "mode": "strong", "curve": curve, "part": part,
                   "cores": rows.cores.tolist(), **law}] if law else []
    return found
