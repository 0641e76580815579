#!/usr/bin/env python3
"""Two discretisations of the SSA side by side: cell faces (finite differences) and nunatak's Q1
elements, with a direct solver.

    scripts/ssa_stencils.py reference.nc
        which ingredient explains which difference from the file's velocities
    scripts/ssa_stencils.py --channel
        plug flow between walls at an angle to the grid: error of both

An independent implementation, small rather than fast; docs/notes/ssa-and-pism.md holds its results,
says what they mean, and how such a file is made. It has thk, topg, tauc, hardav, uvelbase, vvelbase
(m/a), with no ice at its edges. Plastic till. Arrays are periodic.
"""
import argparse

from course.project_python import require

require("scipy", "scripts/setup.sh makes a Python that has it")
import netCDF4  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import scipy.sparse.linalg  # noqa: E402
from scipy.ndimage import binary_dilation, label  # noqa: E402

YEAR, RHO, RHO_W, G = 31556926.0, 910.0, 1028.0, 9.81
GROUNDED, FLOATING, OCEAN = 2, 3, 4
X, Y = (0, 1), (1, 0)  # (dj, di) of the neighbour in +x, +y


def at(a, dj, di):
    """The neighbour's value, for every cell."""
    return np.roll(a, (-dj, -di), (0, 1))


class Grid:
    """Ice, unknown cells and thickness; the velocity of icy cells that are not unknown is 0."""

    def __init__(self, ice, unknown, H, B, dx):
        self.ice, self.H, self.B, self.dx, self.unknown = ice, H, B, dx, unknown
        self.cells = np.nonzero(unknown)
        self.number = np.full(ice.shape, -1)
        self.number[self.cells] = np.arange(len(self.cells[0]))

    def form(self, rows, terms):
        """Sparse matrix of one linear form per row: terms (j, i, component, weight)."""
        parts = [[], [], []]
        for j, i, component, weight in terms:
            n = self.number[j % self.ice.shape[0], i % self.ice.shape[1]]
            weight = np.broadcast_to(weight, rows.shape)
            used = (n >= 0) & (weight != 0)
            for part, values in zip(parts, (weight[used], rows[used], 2 * n[used] + component)):
                part.append(values)
        data, row, column = (np.concatenate(part) for part in parts)
        return sp.csr_matrix((data, (row, column)), shape=(len(rows), 2 * len(self.cells[0])))

    def pick(self, a, j, i):
        return a[j % a.shape[0], i % a.shape[1]]


def glen(e2, eps):
    return 0.5 * (e2 + eps**2) ** (-1 / 3)


def invariant(ux, uy, vx, vy):
    return ux * ux + vy * vy + ux * vy + 0.25 * (uy + vx) ** 2


class Faces:
    """Bueler and Brown (2009); margins after Winkelmann et al. (2011)."""

    def __init__(self, grid, thickness="mean", stress_mean=False, viscosity_mean=True, thin=50.0,
                 floor=1e13):
        self.grid, self.faces, self.floor = grid, [], floor
        for axis, (ej, ei) in enumerate((X, Y)):
            pair = grid.ice & at(grid.ice, ej, ei) & (grid.unknown | at(grid.unknown, ej, ei))
            j, i = np.nonzero(pair)
            rows, dx = np.arange(len(j)), grid.dx
            sides = [(j, i), (j + ej, i + ei)]
            steps = [(a, b, s, grid.pick(grid.ice, a + s * ei, b + s * ej)) for a, b in sides
                     for s in (1, -1)]
            present = np.maximum(sum(step[3].astype(float) for step in steps), 1)

            def across(c):
                return grid.form(rows, [(*sides[0], c, -1 / dx), (*sides[1], c, 1 / dx)])

            def along(c, mean):
                weight = 1 / dx / (present if mean else 4)
                terms = []
                for a, b, s, there in steps:
                    terms += [(a + s * ei, b + s * ej, c, s * weight * there),
                              (a, b, c, -s * weight * there)]
                return grid.form(rows, terms)

            def order(mean):  # u_x, u_y, v_x, v_y
                n, t = [across(c) for c in (0, 1)], [along(c, mean) for c in (0, 1)]
                return (n[0], t[0], n[1], t[1]) if axis == 0 else (t[0], n[0], t[1], n[1])

            ux, uy, vx, vy = order(stress_mean)
            stress = (4 * ux + 2 * vy, uy + vx) if axis == 0 else (uy + vx, 4 * vy + 2 * ux)
            H, B = ([grid.pick(f, *side) for side in sides] for f in (grid.H, grid.B))
            Hf = {"mean": 0.5 * (H[0] + H[1]),
                  "harmonic": 2 * H[0] * H[1] / (H[0] + H[1])}[thickness]
            self.faces.append((order(viscosity_mean), stress, [dx**2 * across(c).T for c in (0, 1)],
                               0.5 * (B[0] + B[1]) * Hf, Hf < thin))

    def operator(self, w, eps):
        total = 0
        for derivatives, stress, force, BH, thin in self.faces:
            nuH = BH * glen(invariant(*(d @ w for d in derivatives)), eps)
            nuH = np.where(thin, 50 * 9.48680701906572e14, nuH) + self.floor
            for s, f in zip(stress, force):
                total = total + f @ sp.diags(nuH) @ s
        return total


class Elements:
    """nunatak's elements (kernels/ssa/element.hpp): Gauss points of icy quadrants; viscosity per
    element, or per point."""

    def __init__(self, grid, per_point=False):
        self.grid, self.groups, self.per_point = grid, [], per_point
        corners = [(0, 0), (0, 1), (1, 0), (1, 1)]
        code = sum(at(grid.ice, *c) * (1 << k) for k, c in enumerate(corners))
        near = np.any([at(grid.unknown, *c) for c in corners], axis=0)
        for ice in (k for k in range(3, 16) if k & (k - 1)):
            j, i = np.nonzero((code == ice) & near)
            if len(j) == 0:
                continue
            icy = [bool(ice >> c & 1) for c in range(4)]
            E = np.zeros((4, 4))
            for c in range(4):
                a, b, opposite = c ^ 1, c ^ 2, c ^ 3
                if icy[c]:
                    E[c, c] = 1
                elif icy[a] and icy[b]:
                    E[c, [a, b]] = 1 if icy[opposite] else 0.5
                    E[c, opposite] = -1 if icy[opposite] else 0
                else:
                    E[c, a if icy[a] else b if icy[b] else opposite] = 1
            BH = np.stack([icy[k] * grid.pick(grid.B * grid.H, j + c[0], i + c[1])
                           for k, c in enumerate(corners)], axis=1)
            points = []
            for g in (g for g in range(4) if icy[g]):
                x, y = (0.5 + (0.5 if g & bit else -0.5) / np.sqrt(3) for bit in (1, 2))
                fx, fy = ([[1 - x, x][c & 1] for c in range(4)],
                          [[1 - y, y][c >> 1] for c in range(4)])
                N = np.multiply(fx, fy) @ E
                Nx = np.array([(1 if c & 1 else -1) * fy[c] for c in range(4)]) @ E / grid.dx
                Ny = np.array([(1 if c & 2 else -1) * fx[c] for c in range(4)]) @ E / grid.dx
                forms = [grid.form(np.arange(len(j)), [(j + c[0], i + c[1], component, D[k])
                                                       for k, c in enumerate(corners)])
                         for component in (0, 1) for D in (Nx, Ny)]
                points.append((forms, BH @ N))
            self.groups.append(points)

    def operator(self, w, eps):
        total = 0
        for points in self.groups:
            e2 = [invariant(*(d @ w for d in forms)) for forms, _ in points]
            BH = [values for _, values in points]
            if not self.per_point:
                e2, BH = [sum(e2) / len(e2)] * len(e2), [sum(BH) / len(BH)] * len(BH)
            for (forms, _), e, b in zip(points, e2, BH):
                ux, uy, vx, vy = forms
                nuH = sp.diags(b * glen(e, eps) * self.grid.dx**2 / 4)
                total = (total + ux.T @ nuH @ (4 * ux + 2 * vy) + vy.T @ nuH @ (4 * vy + 2 * ux) +
                         (uy + vx).T @ nuH @ (uy + vx))
        return total


def solve(grid, stencil, force, tauc, start, eps=1e-6 / YEAR, delta=0.01 / YEAR, tolerance=1e-5):
    """Picard steps, stretched by a half. force, start: (x, y) fields; tauc: yield stress times
    grounded fraction, Pa."""
    f, w = (np.stack([field[grid.cells] for field in pair], axis=1).ravel()
            for pair in (force, start))
    for step in range(60):
        beta = tauc[grid.cells] * grid.dx**2 / np.sqrt(w[::2] ** 2 + w[1::2] ** 2 + delta**2)
        A = sp.csc_matrix(stencil.operator(w, eps) + sp.diags(np.repeat(beta, 2)))
        new = sp.linalg.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.01,
                             options={"SymmetricMode": True}).solve(f)
        change = np.linalg.norm(new - w) / np.linalg.norm(new)
        w = w + (1.5 if step > 0 else 1) * (new - w)
        if change < tolerance:
            break
    speed = np.zeros(grid.ice.shape)
    speed[grid.cells] = np.hypot(w[::2], w[1::2])
    return speed


def driving_force(mask, H, h, b, dx, across_lines=False, level_fronts=True, smooth=False):
    """Force on each cell, N: - rho g H grad h, differences within one kind of ice, and the pressure
    on faces without ice."""
    ice = (mask == GROUNDED) | (mask == FLOATING)
    draft = np.where(mask == FLOATING, RHO / RHO_W * H, np.maximum(-b, 0))
    pressure = 0.5 * G * (RHO * H**2 - RHO_W * draft**2)
    force = []
    for e, t in ((X, Y), (Y, X)):
        slope, count, front, load = (np.zeros(H.shape), np.zeros(H.shape), np.zeros(H.shape, bool),
                                     np.zeros(H.shape))
        for s in (1, -1):
            other = (s * e[0], s * e[1])
            free = ice & ~at(ice, *other)
            same = ice & at(ice, *other) & ((at(mask, *other) == mask) | across_lines)
            rise = own = s * (at(h, *other) - h)
            # the mean of a bilinear surface over half a cell, as in kernels/ssa/load.hpp
            if smooth:
                rise = 0.75 * own
                for q in (t, (-t[0], -t[1])):
                    known = same & ice & at(same, *q) & at(ice, *q) & (at(mask, *q) == mask)
                    rise = rise + 0.125 * np.where(known, at(own, *q), own)
            slope, count = slope + same * rise, count + same
            front |= free & (at(mask, *other) == OCEAN) & (mask == FLOATING)
            load += np.where(free & (at(b, *other) <= h), s * pressure * dx, 0)
        slope /= np.maximum(count, 1)
        force.append(load - RHO * G * H * np.where(front & level_fronts, 0.5, 1) * slope * dx)
    return force


def grounded_fraction(ice, F):
    """Area of each cell where F, linear on eight triangles, is positive (kernels/ssa/element.hpp);
    F = b + rho/rho_w H."""
    def positive(*f):
        a, b, c = np.sort(np.stack(f), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.zeros(a.shape), c * c / ((c - a) * (c - b)),
                     1 - a * a / ((a - b) * (a - c)), np.ones(a.shape)]
        return np.choose(np.sum(np.stack(f) > 0, axis=0), parts)

    total = 0
    for sj in (-1, 1):
        for si in (-1, 1):
            f, (p, q, r) = ([F, at(F, 0, si), at(F, sj, 0), at(F, sj, si)],
                            (at(ice, 0, si), at(ice, sj, 0), at(ice, sj, si)))
            x = np.where(p, f[1], np.where(r, np.where(q, F - f[2] + f[3], 0.5 * (F + f[3])), F))
            y = np.where(q, f[2], np.where(r, np.where(p, F - f[1] + f[3], 0.5 * (F + f[3])), F))
            diagonal = np.where(
                r, f[3], np.where(p & q, f[1] + f[2] - F, np.where(p, f[1], np.where(q, f[2], F))))
            centre = 0.25 * (F + x + y + diagonal)
            total = total + 0.125 * (
                positive(F, 0.5 * (F + x), centre) + positive(F, 0.5 * (F + y), centre))
    return np.where(ice, total, 0)


def compare(path):
    with netCDF4.Dataset(path) as data:
        H, b, tauc, B, u, v = (np.array(data[k][:], float)
                               for k in ("thk", "topg", "tauc", "hardav", "uvelbase", "vvelbase"))
        dx = float(data["x"][1] - data["x"][0])
    floats, some = b + H <= (1 - RHO / RHO_W) * H, H > 0.01
    mask = np.where(some, np.where(floats, FLOATING, GROUNDED), np.where(floats, OCEAN, 0))
    h = np.maximum(b + H, (1 - RHO / RHO_W) * H)
    parts, _ = label(some, structure=np.ones((3, 3)))
    ice = some & np.isin(parts, np.unique(parts[mask == GROUNDED]))  # without icebergs
    # grounded ice far from the shelves does not move: the till of this file is strong
    grid = Grid(ice, ice & binary_dilation(mask == FLOATING, np.ones((3, 3)), 3), H, B, dx)
    fraction, reference, start = (grounded_fraction(ice, b + RHO / RHO_W * H), np.hypot(u, v),
                                  (u / YEAR, v / YEAR))

    def row(name, stencil, force=None, part=fraction, **solver):
        force = driving_force(mask, H, h, b, dx) if force is None else force
        speed = YEAR * solve(grid, stencil, force, tauc * part, start, **solver)
        d = (speed / np.where(reference > 0, reference, 1) - 1)[(reference > 10) & ice]
        print(f"{name:58s} {100 * np.median(abs(d)):7.2f} {100 * np.quantile(abs(d), 0.9):7.2f} "
              f"{100 * np.median(d):+7.2f}", flush=True)

    print(f"{'relative difference of speed, %':58s} {'median':>7s} {'p90':>7s} {'signed':>7s}")
    faces, smooth = Faces(grid), driving_force(mask, H, h, b, dx, smooth=True)
    row("faces", faces)
    row("faces, no minimum strength of thin ice", Faces(grid, thin=0))
    row("faces, nothing added to nu H", Faces(grid, floor=0))
    row("faces, eps 10 times as large", faces, eps=1e-5 / YEAR)
    row("faces, delta 10 times as large", faces, delta=0.1 / YEAR)
    row("faces, smoothed driving stress of nunatak", faces, smooth)
    row("faces, harmonic mean thickness", Faces(grid, thickness="harmonic"))
    row("faces, stresses: mean of the differences that are there", Faces(grid, stress_mean=True))
    row("faces, viscosity: absent differences count as 0", Faces(grid, viscosity_mean=False))
    row("faces, surface differenced across grounding lines", faces,
        driving_force(mask, H, h, b, dx, across_lines=True))
    row("faces, full surface slope at fronts", faces,
        driving_force(mask, H, h, b, dx, level_fronts=False))
    row("faces, drag by mask on whole cells", faces, part=mask == GROUNDED)
    row("elements", Elements(grid))
    row("elements, smoothed driving stress: nunatak", Elements(grid), smooth)
    row("elements, viscosity at Gauss points", Elements(grid, per_point=True))


def channel():
    """Plug flow between walls at levels a i + b j = 0 and K on a periodic grid: error of the speed
    in the middle."""
    H0, B0, f, dx = 500.0, 2e8, 1000.0, 1e3
    print("error of the speed in the middle, %        cells across    faces  elements")
    for a, b in ((0, 1), (1, 1), (1, 2), (1, 3), (2, 3)):
        for cells in (8, 16, 32):
            slant = np.hypot(a, b)
            K = 2 * round(cells * slant / 2)
            N = K + 2 * (a + b)
            j, i = np.mgrid[0:N, 0:N]
            level = (a * i + b * j) % N
            inside = (level > 0) & (level < K)
            ones = np.ones((N, N))
            grid = Grid(ones > 0, inside, H0 * ones, B0 * ones, dx)
            half = K * dx / slant / 2
            exact = 0.5 * (f / (B0 * H0)) ** 3 * half**4
            profile = exact * (1 - ((level - K / 2) / (K / 2)) ** 4)
            along = [inside * t / slant for t in (b, -a)]
            error = [solve(grid, stencil, [f * dx**2 * t for t in along], 0 * ones,
                           [profile * t for t in along], eps=1e-9 / YEAR) .max() / exact - 1
                     for stencil in (Faces(grid, thin=0, floor=0), Elements(grid))]
            print(f"walls along ({b}, {-a}){K / slant:38.1f} {100 * error[0]:+8.1f} "
                  f"{100 * error[1]:+9.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?",
                        help="file with the geometry and a velocity to compare with")
    parser.add_argument("--channel", action="store_true",
                        help="plug flow between walls at an angle")
    args = parser.parse_args()
    if args.channel == (args.file is not None):
        parser.error("expected a file or --channel")
    channel() if args.channel else compare(args.file)


if __name__ == "__main__":
    main()
