"""Running PISM as a peer: the input of both programs, the command lines, PISM's iterations and times. Used by compare_pism.py.

The Antarctic case is one problem for both programs: thickness, bed, till strength, ocean and basins from the given data; air at
248 K, 300 kg m-2 year-1 of snow, 0.05 W m-2 from below; and the ice temperature with which PISM fills the ice when it
bootstraps. PISM bootstraps in every run; nunatak reads the temperature that PISM wrote after a run of no length.
"""
import json
import os
import re
import shlex
import subprocess
import time

import netCDF4
import numpy as np

STEP = 0.02  # years
LEVELS, HEIGHT = 31, 5000.0
LINEAR = ["KSPSolve", "PCSetUp"]  # events of linear solves in PISM's log
# part: (events of PISM, timers of nunatak). PISM counts the averaging of hardness to the shallow stress balance.
PARTS = {
    "SSA": (["stress_balance.shallow"], ["stress balance: till, hardness", "stress balance: SSA"]),
    "SIA, 3-D velocity": (["stress_balance.modifier", "stress_balance.strain_heat", "stress_balance.vertical_velocity"],
                          ["stress balance: SIA", "stress balance: 3-D velocity"]),
    "energy": (["energy"], ["energy"]),
    "mass transport": (["mass_transport"], ["mass transport"]),
    "PICO": (["ocean"], ["ocean"]),
}
UNITS = {"thk": "m", "topg": "m", "tauc": "Pa", "theta_ocean": "K", "salinity_ocean": "g/kg", "ice_surface_temp": "K",
         "climatic_mass_balance": "kg m-2 year-1", "bheatflx": "W m-2"}
STANDARD_NAMES = {"thk": "land_ice_thickness", "topg": "bedrock_altitude", "x": "projection_x_coordinate",
                  "y": "projection_y_coordinate",
                  "climatic_mass_balance": "land_ice_surface_specific_mass_balance_flux"}


class RunFailed(Exception):
    """A program did not do what was asked of it."""


def run(mpiexec, ranks, command, folder):
    """Run a command: (standard output, wall seconds, user + system seconds of all ranks)."""
    words = shlex.split(mpiexec) + [str(ranks), *map(str, command)]
    log = os.path.join(folder, "out.txt")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    with open(log, "w", encoding="utf-8") as out:
        start = time.monotonic()
        process = subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(log, encoding="utf-8", errors="replace") as out:
        text = out.read()
    if process.returncode != 0:
        raise RunFailed(f"status {process.returncode}: {shlex.join(words)}\n{text[-2000:]}")
    return text, wall, usage.ru_utime + usage.ru_stime


def logged(path, stage):
    """PETSc's log of one stage (-log_view :FILE:ascii_info_detail): event -> (calls, seconds of the slowest rank)."""
    line = re.compile(r'Stages\["(.*?)"\]\["(.*?)"\]\[\d+\] = \{"count" : ([^,]+), "time" : ([^,]+),')
    events = {}
    with open(path, encoding="utf-8") as file:
        for found in map(line.match, file):
            if found and found[1] == stage and float(found[3]) > 0:
                calls, seconds = events.get(found[2], (0, 0.0))
                events[found[2]] = (int(float(found[3])), max(seconds, float(found[4])))
    return events


def linear_iterations(text, prefix):
    """From -*ksp_converged_reason: (linear solves, their iterations)."""
    if re.search(r"solve did not converge|re-trying", text):
        raise RunFailed("a linear solve of PISM did not converge")
    found = re.findall(rf"Linear {prefix + ' ' if prefix else ''}solve converged due to \w+ iterations (\d+)", text)
    return len(found), sum(map(int, found))


# --- the input -------------------------------------------------------------------------------------------------------------


def read_data(paths):
    """x, y and the fields, each from the first of the files that has it."""
    fields = {}
    wanted = ["x", "y", "thk", "topg", "basins", "theta_ocean", "salinity_ocean", "tauc"]
    for path in paths:
        with netCDF4.Dataset(path) as file:
            for name in wanted:
                if name in file.variables and name not in fields:
                    values = np.ma.filled(np.ma.asarray(file[name][:], dtype=float), np.nan).squeeze()
                    celsius = "elsius" in getattr(file[name], "units", "") or getattr(file[name], "units", "") == "degC"
                    fields[name] = values + 273.15 if name == "theta_ocean" and celsius else values
    missing = [name for name in wanted[:-1] if name not in fields]
    if missing:
        raise RunFailed(f"--data: expected thk, topg, basins, theta_ocean and salinity_ocean, found no {', '.join(missing)}")
    return fields


def refine(fields):
    """Twice as many intervals: bilinear; extent of the ice, basins and ocean by nearest neighbour; thickness over icy points."""

    def corners(a):
        low, high = [np.arange(2 * n - 1) // 2 for n in a.shape], [(np.arange(2 * n - 1) + 1) // 2 for n in a.shape]
        return np.array([a[np.ix_(j, i)] for j in (low[0], high[0]) for i in (low[1], high[1])])

    fine = {name: np.linspace(fields[name][0], fields[name][-1], 2 * len(fields[name]) - 1) for name in "xy"}
    for name, a in fields.items():
        if name == "thk":
            four = corners(a)
            fine[name] = np.where(four[0] > 0, four.sum(axis=0) / np.maximum((four > 0).sum(axis=0), 1), 0.0)
        elif name in ("topg", "tauc"):
            fine[name] = corners(a).mean(axis=0)
        elif name not in "xy":
            fine[name] = corners(a)[0]
    return fine


def write_input(path, fields, temperature=None):
    """A file for either program; `temperature`: (z, temp(y, x, z)), for nunatak."""
    shape = fields["thk"].shape
    fields = dict(fields)
    fields.setdefault("tauc", 0.1 * 910.0 * 9.81 * fields["thk"] * np.tan(np.radians(15.0)))
    constants = {"ice_surface_temp": 248.0, "climatic_mass_balance": 300.0, "bheatflx": 0.05}
    fields.update({name: np.full(shape, value) for name, value in constants.items()})
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, values in [("x", fields["x"]), ("y", fields["y"])] + ([("z", temperature[0])] if temperature else []):
            file.createDimension(name, len(values))
            variable = file.createVariable(name, "f8", (name,))
            variable.units = "m"
            if name in STANDARD_NAMES:
                variable.standard_name = STANDARD_NAMES[name]
            variable[:] = values
        for name, values in fields.items():
            if name in "xy":
                continue
            variable = file.createVariable(name, "f8", ("y", "x"))
            if name in UNITS:
                variable.units = UNITS[name]
            if name in STANDARD_NAMES:
                variable.standard_name = STANDARD_NAMES[name]
            variable[:] = values
        if temperature:
            variable = file.createVariable("temp", "f8", ("y", "x", "z"))
            variable.units = "K"
            variable[:] = temperature[1]


def read(path, *names):
    """Fields of a result, without time."""
    with netCDF4.Dataset(path) as file:
        return [np.ma.filled(np.ma.asarray(file[name][:], dtype=float), np.nan).squeeze() for name in names]


# --- the command lines -----------------------------------------------------------------------------------------------------


def pism_command(pism, case, steps, output, options):
    """The hybrid step with the physics of nunatak_command; icebergs are removed, as PISM wants with its front condition."""
    words = f"""-i {case} -bootstrap -Mz {LEVELS} -Lz {HEIGHT} -z_spacing quadratic -grid.recompute_longitude_and_latitude no
        -stress_balance ssa+sia -cfbc -kill_icebergs -pseudo_plastic -pseudo_plastic_q 0.25 -yield_stress constant
        -bed_smoother_range 0 -gradient mahaffy -energy cold -hydrology null -surface given -surface_given_file {case}
        -ocean pico -ocean_pico_file {case} -ocean.pico.exclude_ice_rises yes
        -max_dt {STEP} -y {steps * STEP:.10g} -ssafd_ksp_converged_reason -ksp_converged_reason
        -o {output} -o_size small -log_view :log.py:ascii_info_detail"""
    return [os.path.join(pism, "pism"), *words.split(), *options]


def nunatak_command(nunatak, case, steps, output, options):
    """One step fewer: nunatak ends with the flow and the melt of its last state, one update of each more than steps."""
    length = f"-run_steps {steps - 1}" if steps > 1 else "-run_years 0"
    words = f"""-i {case} -grid_Mz {LEVELS} -grid_Lz {HEIGHT} -stress ssa+sia -rheology paterson_budd -sia_e 1 -ssa_e 1
        -sliding_q 0.25 {length} -dt_max {STEP} -ocean pico -progress off -report report.json -o {output}"""
    return [nunatak, *words.split(), *options]
