"""Laws of scaling, fitted to the runs of a curve.

Universal Scalability Law (Gunther 2007): with N cores (ranks times threads) the work per second is

    X(N) = X(1) N / (1 + sigma (N - 1) + kappa N (N - 1)),

sigma the share that is serial or waits for a shared thing, kappa the cost of agreement between pairs. kappa = 0 is Amdahl's law (1967)
with the serial fraction sigma. N / X is linear in 1/X(1), sigma/X(1), kappa/X(1), none of them negative: a non-negative least squares
problem, which has one minimum and needs no first guess, as a general curve fit would. Each run is weighted by its own time, since the
noise of times is relative. X(1) is fitted too; a curve need not begin at one core.

The interval of sigma (kappa) is a profile: all values at which the best fit with the others free leaves no more than F(1, n - 3) allows
at 95 %. It ends at the bound 0 where it should, is not symmetric, and needs no random numbers, which a bootstrap of three repetitions
at four points would draw from too small a bag. It holds if the law does.
"""
import math

import numpy as np
from scipy.optimize import brentq, nnls
from scipy.stats import f as f_distribution

CONFIDENCE = 0.95
LARGEST = 1e6  # of sigma and kappa; an end of an interval beyond it is none


def columns(cores):
    n = np.asarray(cores, float)
    return np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1)


def usl_rate(cores, fit):
    return fit["rate_of_one"] * np.asarray(cores, float) / (columns(cores) @ [1.0, fit["sigma"], fit["kappa"]])


def usl(cores, rates):
    """Fit of all runs: {"sigma", "kappa", "rate_of_one", "sigma_interval", ...}, or {"why_not": sentence}."""
    cores, rates = np.asarray(cores, float), np.asarray(rates, float)
    different = len(set(cores))
    if different < 3:
        return {"why_not": f"three unknowns, {different} number{'s' if different > 1 else ''} of cores: expected 3 or more"}
    weighted = columns(cores) * (rates / cores)[:, None]
    (a, b, c), residual = solve(weighted)
    if a <= 1e-12 * max(b, c):
        return {"why_not": "the law has no rate of one core here: slower than with any sigma and kappa"}
    fit = {"sigma": float(b / a), "kappa": float(c / a), "rate_of_one": float(1 / a), "runs": len(cores), "relative_error": None,
           "sigma_interval": None, "kappa_interval": None, "most_cores": None}
    if c > 0:
        fit["most_cores"] = math.sqrt(max(1 - fit["sigma"], 0.0) / fit["kappa"])
    free = len(cores) - 3
    if free > 0:
        fit["relative_error"] = float(residual) / math.sqrt(free)
        allowed = residual**2 * (1 + f_distribution.ppf(CONFIDENCE, 1, free) / free)
        fit["sigma_interval"] = interval(fit["sigma"], lambda s: profile(weighted, 1, s) - allowed)
        fit["kappa_interval"] = interval(fit["kappa"], lambda k: profile(weighted, 2, k) - allowed)
    return fit


def solve(weighted):
    """Non-negative factors of the columns that sum to one in every row, and the norm of what is left."""
    size = weighted.max(axis=0)
    factors, residual = nnls(weighted / size, np.ones(len(weighted)))
    return factors / size, residual


def profile(weighted, which, value):
    """The least sum of squares with sigma (which = 1) or kappa (2) given."""
    held = weighted[:, 0] + value * weighted[:, which]
    return solve(np.stack([held, weighted[:, 3 - which]], axis=1))[1] ** 2


def interval(best, excess):
    """Where `excess` changes its sign below and above `best`."""
    if excess(best) >= 0:  # an exact fit: no scatter
        return [float(best), float(best)]
    low = 0.0 if excess(0.0) <= 0 else brentq(excess, 0.0, best, rtol=1e-6, xtol=1e-12)
    high = max(2 * best, 1e-9)
    while high < LARGEST and excess(high) <= 0:
        high *= 2
    return [float(low), float(brentq(excess, best, high, rtol=1e-6, xtol=1e-12)) if high < LARGEST else None]


def crossing(cores, shares, budget):
    """Where the share of output (%) passes the budget: {"first": cores, "last_within": cores or None, "between": interpolated}."""
    last = None
    for n, share in zip(cores, shares):
        if share > budget:
            found = {"first": int(n), "last_within": None if last is None else int(last[0]), "between": None}
            if last is not None:
                weight = (budget - last[1]) / (share - last[1])
                found["between"] = float(2 ** (math.log2(last[0]) + weight * math.log2(n / last[0])))
            return found
        last = (n, share)
    return None


def passes(output):
    """`crossing` of the points of a curve's output; of those with enough cores, if there are any."""
    fair = output[~output.oversubscribed] if not output.oversubscribed.all() else output
    return crossing(fair.cores, 100 * fair.share, output.budget.max())


def all_curves(runs, least_share=0.01):
    """A fit for each sum and each part of at least this share of some run, on each curve: [{machine, mode, curve, part, ...}]."""
    fits = []
    for (machine, mode, curve, part), rows in runs.groupby(["machine", "mode", "curve", "part"], sort=False):
        if rows.kind.iloc[0] != "sum" and (rows.share.max() < least_share or rows.kind.iloc[0] in ("other", "within")):
            continue
        used = rows[rows.comparable & (rows.slowest > 0)]
        work = used.cells.fillna(1.0) if used.cells.notna().all() else 1.0
        fit = usl(used.cores, work / used.slowest) if len(used) else {"why_not": why_none(rows)}
        if len(used) and len(used) < len(rows) and "why_not" in fit:
            fit["why_not"] += f"; left out: {why_none(rows)}"
        fits.append({"machine": machine, "mode": mode, "curve": curve, "part": part, "kind": rows.kind.iloc[0], **fit})
    return fits


def why_none(rows):
    return "more ranks than cores" if rows.oversubscribed.any() else "emulated nodes share their cores"
