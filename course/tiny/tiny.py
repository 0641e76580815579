#!/usr/bin/env python3
"""tiny.cpp in Python: the same ice, decomposition and halo, with NumPy and mpi4py; rank 0 writes.

    python3 -m pip install mpi4py numpy netCDF4        needs an MPI library (Open MPI, MPICH)
    mpiexec -n 4 python3 tiny.py --dx 80 --years 1000 -o tiny.nc
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

YEAR = 31556926.0  # s
GAMMA = 2.0 * 3.1689e-24 * (910.0 * 9.81) ** 3 / 5.0  # m-3 s-1
HALF_WIDTH = 1200e3  # m
COMM = MPI.COMM_WORLD


class Grid:
    """Rows ys..ys+ym-1 and columns xs..xs+xm-1 belong to this rank, at the indices 1..ym and 1..xm
    of its arrays."""

    def __init__(self, dx, px):
        self.dx, self.M = dx, round(2.0 * HALF_WIDTH / dx) + 1
        self.py, self.px = MPI.Compute_dims(COMM.size, [0, px])
        row, column = divmod(COMM.rank, self.px)
        self.ys, self.ym = self.part(self.py, row)
        self.xs, self.xm = self.part(self.px, column)
        self.west = COMM.rank - 1 if column > 0 else MPI.PROC_NULL
        self.east = COMM.rank + 1 if column < self.px - 1 else MPI.PROC_NULL
        self.south = COMM.rank - self.px if row > 0 else MPI.PROC_NULL
        self.north = COMM.rank + self.px if row < self.py - 1 else MPI.PROC_NULL

    def part(self, parts, n):
        """(the first, how many) of part n of the points; the first parts are one longer."""
        first = [k * (self.M // parts) + min(k, self.M % parts) for k in (n, n + 1)]
        return first[0], first[1] - first[0]

    def axis(self, first, n):
        return -HALF_WIDTH + self.dx * np.arange(first, first + n)

    def field(self):
        return np.zeros((self.ym + 2, self.xm + 2))


def move(cells, to, ghosts, source):
    """Sends `cells` to the rank `to`, and receives `ghosts` from the rank `source`."""
    received = np.empty_like(ghosts)
    COMM.Sendrecv(np.ascontiguousarray(cells), to, recvbuf=received, source=source)
    if source != MPI.PROC_NULL:
        ghosts[:] = received


def fill_ghosts(g, a):
    """Columns first, then rows with the ghosts at their ends: corners need no messages of their
    own."""
    # lab 11 begin: west and east, then south and north | stub: sys.exit("lab 11: not written yet")
    move(a[1:-1, 1], g.west, a[1:-1, -1], g.east)
    move(a[1:-1, -2], g.east, a[1:-1, 0], g.west)
    move(a[1, :], g.south, a[-1, :], g.north)
    move(a[-2, :], g.north, a[0, :], g.south)
    # lab 11 end


def check_ghosts(g):
    """Exchanges the cells' numbers in the grid and looks at every ghost; returns how many are
    wrong."""
    a = g.field()
    J, I = np.meshgrid(np.arange(g.ys - 1, g.ys + g.ym + 1), np.arange(g.xs - 1, g.xs + g.xm + 1),
                       indexing="ij")
    inside = (J >= 0) & (I >= 0) & (J < g.M) & (I < g.M)
    a[1:-1, 1:-1] = (J * g.M + I)[1:-1, 1:-1]
    fill_ghosts(g, a)
    wrong = np.argwhere(inside & (a != J * g.M + I))
    for j, i in wrong[:3]:
        side = (("south" if j == 0 else "north" if j > g.ym else "") +
                ("west" if i == 0 else "east" if i > g.xm else ""))
        print(
            f"rank {COMM.rank}, cell (j {j}, i {i}), {'from the ' + side if side else 'its own'}: "
            f"expected {J[j, i] * g.M + I[j, i]}, found {a[j, i]:g}", file=sys.stderr, flush=True)
    return COMM.allreduce(len(wrong))


def flux(H_a, H_b, s, t):
    """(flux in m2 s-1 through faces between cells of thickness H_a and H_b, diffusivity), as
    arrays."""
    D = GAMMA * (0.5 * (H_a + H_b)) ** 5 * (s * s + t * t)
    return -D * s, D


def fluxes(g, H):
    """q_x (ym, xm + 1) and q_y (ym + 1, xm) on all faces of the owned cells, and the largest
    diffusivity. Needs ghosts of H."""
    # lab 11 begin: q_x, q_y and D_max, by flux() | stub: sys.exit("lab 11: not written yet")
    along_y, along_x = H[2:, :] - H[:-2, :], H[:, 2:] - H[:, :-2]  # over two cells
    west, east = H[1:-1, :-1], H[1:-1, 1:]
    q_x, D_x = flux(west, east, (east - west) / g.dx,
                    (along_y[:, :-1] + along_y[:, 1:]) / (4 * g.dx))
    south, north = H[:-1, 1:-1], H[1:, 1:-1]
    q_y, D_y = flux(south, north, (north - south) / g.dx, (along_x[:-1] + along_x[1:]) / (4 * g.dx))
    D_max = max(D_x.max(), D_y.max())
    # lab 11 end
    return q_x, q_y, D_max


def step_length(g, D_max, left):
    """Seconds: r = 0.12 of what diffusion allows, in two equal steps before the end."""
    D_max = COMM.allreduce(D_max, MPI.MAX)
    stable = 2.0 * 0.12 / (D_max * (2.0 / g.dx**2)) if D_max > 0.0 else left
    return left if stable >= left else 0.5 * left if stable > 0.5 * left else stable


def write(g, H, path):
    """Rank 0 gathers and writes y, x (m) and thk(y, x) (m)."""
    parts = COMM.gather((g.ys, g.xs, H[1:-1, 1:-1].copy()))
    if COMM.rank > 0:
        return
    import netCDF4

    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name in ("y", "x"):
            file.createDimension(name, g.M)
            file.createVariable(name, "f8", (name,)).units = "m"
            file[name][:] = g.axis(0, g.M)
        thk = file.createVariable("thk", "f8", ("y", "x"))
        thk.units, thk.standard_name = "m", "land_ice_thickness"
        for ys, xs, part in parts:
            thk[ys:ys + part.shape[0], xs:xs + part.shape[1]] = part


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dx", type=float, default=80.0, help="km")
    parser.add_argument("--years", type=float, default=1000.0)
    parser.add_argument("--px", type=int, default=0,
                        help="ranks along x (0: as square as possible)")
    parser.add_argument("--check", action="store_true",
                        help="look at every ghost of an exchange, and end")
    parser.add_argument("-o", default="tiny.nc", help="NetCDF file")
    options = parser.parse_args()
    g = Grid(1e3 * options.dx, options.px)
    if options.check:
        wrong = check_ghosts(g)
        if COMM.rank == 0:
            print(f"{wrong} ghosts are wrong on {g.px} x {g.py} ranks")
        return int(wrong > 0)
    H = g.field()
    r = np.hypot(g.axis(g.xs, g.xm)[None, :], g.axis(g.ys, g.ym)[:, None]) / 750e3
    H[1:-1, 1:-1] = 3600.0 * np.maximum(1.0 - r ** (4.0 / 3.0), 0.0) ** (3.0 / 7.0)  # Halfar's dome
    left, steps = options.years * YEAR, 0
    while left > 0.0:
        fill_ghosts(g, H)
        q_x, q_y, D_max = fluxes(g, H)
        dt = step_length(g, D_max, left)
        H[1:-1, 1:-1] += dt / g.dx * ((q_x[:, :-1] - q_x[:, 1:]) + (q_y[:-1] - q_y[1:]))
        left, steps = left - dt if dt < left else 0.0, steps + 1
    write(g, H, options.o)
    if COMM.rank == 0:
        print(f"{g.M} x {g.M} points, {g.px} x {g.py} ranks, {steps} steps, {options.o}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
