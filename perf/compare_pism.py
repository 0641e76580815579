#!/usr/bin/env python3
"""Run PISM and nunatak on the same problems in alternation, and print ratios of their times. What
is compared, and how: peer.md.

    perf/compare_pism.py --pism DIR --nunatak EXE --data antarctica.nc \\
        --ranks 1 2 --json compare.json
    perf/compare_pism.py --pism DIR --nunatak EXE --data antarctica.nc --ranks 1 2 4 --output

Five steps of 0.02 years of the hybrid model with PICO and temperature, part by part, by some of
four methods of PISM and two of nunatak; or with --output the files of a state. Both programs get
the given thickness, bed, till strength, ocean and basins, the same climate, and the temperature
with which PISM fills the ice: PISM bootstraps in every run, nunatak reads what PISM wrote after a
run of no length.

No ratio is printed where a check fails: volume, speed and total melt that should agree.
One JSON object goes to standard output (or --json), tables to standard error.
"""
import argparse
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy as np
import xarray

import launcher

STEP = 0.02  # years
LEVELS, HEIGHT = 31, 5000.0
# m: where ice is no thicker (stress_balance.ice_free_thickness_standard of PISM), its finite
# elements have rows of zeros
THIN = 10.0
LINEAR = ["KSPSolve", "PCSetUp"]  # events of linear solves in PISM's log
# part: (events of PISM, timers of nunatak). PISM counts the averaging of hardness to the shallow
# stress balance.
PARTS = {
    "SSA": (["stress_balance.shallow"], ["stress balance: till, hardness", "stress balance: SSA"]),
    "SIA, 3-D velocity": (["stress_balance.modifier", "stress_balance.strain_heat",
                           "stress_balance.vertical_velocity"],
                          ["stress balance: SIA", "stress balance: 3-D velocity"]),
    "energy": (["energy"], ["energy"]),
    "mass transport": (["mass_transport"], ["mass transport"]),
    "PICO": (["ocean"], ["ocean"]),
}
UNITS = {"x": "m", "y": "m", "z": "m", "thk": "m", "topg": "m", "tauc": "Pa", "temp": "K",
         "theta_ocean": "K", "salinity_ocean": "g/kg",
         "ice_surface_temp": "K", "climatic_mass_balance": "kg m-2 year-1", "bheatflx": "W m-2"}
STANDARD_NAMES = {"thk": "land_ice_thickness", "topg": "bedrock_altitude",
                  "x": "projection_x_coordinate", "y": "projection_y_coordinate",
                  "climatic_mass_balance": "land_ice_surface_specific_mass_balance_flux"}


class RunFailed(Exception):
    """A program did not do what was asked of it."""


def run(mpiexec, ranks, command, folder):
    """Run a command: (standard output, wall seconds)."""
    words = shlex.split(mpiexec) + [str(ranks), *map(str, command)]
    start = time.monotonic()
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode != 0:
        raise RunFailed(f"status {done.returncode}: {shlex.join(words)}\n{done.stdout[-2000:]}")
    return done.stdout, time.monotonic() - start


def logged(path, stage):
    """PETSc's log of one stage (-log_view :FILE:ascii_info_detail): event -> (calls, seconds of the
    slowest rank)."""
    line = re.compile(
        r'Stages\["(.*?)"\]\["(.*?)"\]\[\d+\] = \{"count" : ([^,]+), "time" : ([^,]+),')
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
    found = re.findall(rf"Linear {prefix + ' ' if prefix else ''}solve converged due to \w+ "
                       rf"iterations (\d+)", text)
    return len(found), sum(map(int, found))


# --- the input ------------------------------------------------------------------------------------


def read_data(paths):
    """x, y and the fields, each from the first of the files that has it."""
    fields = {}
    wanted = ["x", "y", "thk", "topg", "basins", "theta_ocean", "salinity_ocean", "tauc"]
    for path in paths:
        with netCDF4.Dataset(path) as file:
            for name in wanted:
                if name in file.variables and name not in fields:
                    values = np.ma.filled(np.ma.asarray(file[name][:], dtype=float),
                                          np.nan).squeeze()
                    celsius = ("elsius" in getattr(file[name], "units", "") or
                               getattr(file[name], "units", "") == "degC")
                    fields[name] = values + 273.15 if name == "theta_ocean" and celsius else values
    missing = [name for name in wanted[:-1] if name not in fields]
    if missing:
        raise RunFailed("--data: expected thk, topg, basins, theta_ocean and salinity_ocean, "
                        f"found no {', '.join(missing)}")
    return fields


def refine(fields, n):
    """n times as many intervals: bilinear; extent of the ice, basins and ocean by nearest
    neighbour. Thickness outside the ice is 0, so that margins are half as thick, not cliffs."""
    place = {name: np.arange(n * (len(fields[name]) - 1) + 1) / n for name in "yx"}
    low = {name: np.minimum(t.astype(int), len(fields[name]) - 2) for name, t in place.items()}

    def along(axis, name, a):
        weight = np.expand_dims(place[name] - low[name], 1 - axis)
        return a.take(low[name], axis) * (1 - weight) + a.take(low[name] + 1, axis) * weight

    fine = {name: np.interp(t, np.arange(len(fields[name])), fields[name])
            for name, t in place.items()}
    for name, a in fields.items():
        nearest = (a if name in "xy"
                   else a[np.ix_(*(np.rint(place[axis]).astype(int) for axis in "yx"))])
        if name in ("thk", "topg", "tauc"):
            smooth = along(1, "x", along(0, "y", a))
            fine[name] = np.where(nearest > 0, smooth, 0.0) if name == "thk" else smooth
        elif name not in "xy":
            fine[name] = nearest
    return fine


def make_round(fields):
    """A round sheet with a shelf, on which the two programs nearly agree; on a ragged coast their
    margins and grounding lines differ."""
    r = np.hypot(*np.meshgrid(fields["x"], fields["y"])) / 1300e3  # 1 at the grounding line
    sheet, shelf = (800.0 + 2600.0 * np.sqrt(np.clip(1.0 - r**2, 0.0, None)),
                    800.0 - 500.0 * (r - 1.0) / 0.27)
    fields["thk"] = np.where(r < 1.0, sheet, np.where(r < 1.27, shelf, 0.0))
    fields["topg"] = np.maximum(500.0 - 1300.0 * r**2, -2000.0)


def floats(thk, topg):
    return (thk > 0) & (topg + thk < (1 - 910 / 1028) * thk)


def write_input(path, fields, temperature=None):
    """A file for either program; `temperature`: (z, temp(y, x, z)), for nunatak."""
    maps = {name: (("y", "x"), values) for name, values in fields.items() if name not in "xy"}
    maps.setdefault("tauc",
                    (("y", "x"), 0.1 * 910.0 * 9.81 * fields["thk"] * np.tan(np.radians(15.0))))
    constants = {"ice_surface_temp": 248.0, "climatic_mass_balance": 300.0, "bheatflx": 0.05}
    maps.update({name: (("y", "x"), np.full(fields["thk"].shape, value))
                 for name, value in constants.items()})
    axes = {"x": fields["x"], "y": fields["y"]}
    if temperature:
        axes["z"], maps["temp"] = temperature[0], (("y", "x", "z"), temperature[1])
    data = xarray.Dataset(maps, axes)
    for name, variable in data.variables.items():
        attributes = {"units": UNITS.get(name), "standard_name": STANDARD_NAMES.get(name)}
        variable.attrs = {key: value for key, value in attributes.items() if value}
        variable.encoding = {"dtype": "f8", "_FillValue": None}
    data.to_netcdf(path, format="NETCDF3_64BIT")


def read(path, *names):
    """Fields of a result, without time."""
    with netCDF4.Dataset(path) as file:
        return [np.ma.filled(np.ma.asarray(file[name][:], dtype=float), np.nan).squeeze()
                for name in names]


# --- the command lines ----------------------------------------------------------------------------


def pism_command(pism, case, steps, output, options):
    """The hybrid step with the physics of nunatak_command; icebergs are removed, as PISM wants with
    its front condition."""
    words = f"""-i {case} -bootstrap -Mz {LEVELS} -Lz {HEIGHT} -z_spacing quadratic
        -grid.recompute_longitude_and_latitude no -stress_balance ssa+sia -cfbc -kill_icebergs
        -pseudo_plastic -pseudo_plastic_q 0.25 -yield_stress constant -bed_smoother_range 0
        -gradient mahaffy -energy cold -hydrology null -surface given -surface_given_file {case}
        -ocean pico -ocean_pico_file {case} -ocean.pico.exclude_ice_rises yes
        -max_dt {STEP} -y {steps * STEP:.10g} -ssafd_ksp_converged_reason -ksp_converged_reason
        -o {output} -o_size small -log_view :log.py:ascii_info_detail"""
    return [os.path.join(pism, "pism"), *words.split(), *options]


def nunatak_command(nunatak, case, steps, output, options):
    """One step fewer: nunatak ends with the flow and the melt of its last state, one update of each
    more than steps."""
    length = f"-run_steps {steps - 1}" if steps > 1 else "-run_years 0"
    words = f"""-i {case} -grid_Mz {LEVELS} -grid_Lz {HEIGHT} -stress ssa+sia
        -rheology paterson_budd -sia_e 1 -ssa_e 1 -sliding_q 0.25 {length} -dt_max {STEP}
        -ocean pico -report report.json"""
    return [nunatak, *words.split(), *(["-o", output] if output else []), *options]


# --- the comparison -------------------------------------------------------------------------------

METHODS = {"default": "default", "fd": "fd equal", "fem": "fem equal", "ilu1": "fem ilu1",
           "fem_default": "fem default"}
# nunatak's runs and their options
OWN = {"nunatak": [], "new geometry": ["-pico_skip_unchanged", "no"]}
# of nunatak, residual over load; PISM's bound is 1e-6, below which its last step may go far
TOLERANCE = "3e-7"
CONVERGED = 1e-4  # how near a first velocity must be to the tight one of the same program, 2-norms
# the bound of the residual follows
FINITE_ELEMENTS = ["-ssa_method", "fem", "-snes_rtol", "1e-50", "-ksp_rtol", "1e-2", "-snes_atol"]
# updates of the stress balance: one from rest and one after each of five steps; PICO's geometry
# changes in some
STEPS = 6


def fail(message):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {message}")


def say(message):
    print(message, file=sys.stderr, flush=True)


def add_programs(parser):
    """Arguments of the programs and of the result."""
    parser.add_argument("--pism", required=True, metavar="DIR", help="folder of PISM's programs")
    parser.add_argument("--nunatak", required=True, metavar="EXE", help="our program")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="words before the rank count")
    parser.add_argument("--json", metavar="FILE", help="write the JSON there")


def add_case(parser):
    """Arguments of the programs and of the problem."""
    add_programs(parser)
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE", type=os.path.abspath,
                        help="thk, topg, basins, theta_ocean, salinity_ocean, perhaps tauc; each "
                        "from the first file that has it")
    parser.add_argument("--refine", type=int, default=1,
                        help="make so many intervals of each of the data (default 1)")
    parser.add_argument("--round", action="store_true",
                        help="a round sheet with a shelf in place of thk and topg")
    parser.add_argument("--unequal", action="store_true",
                        help="status 0 also where checks fail, for what does not depend on them")
    parser.add_argument("--own-till", action="store_true",
                        help="yield stress by a formula, also where the data have tauc")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_case(parser)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS),
                        help="methods to run PISM (default: all)")
    parser.add_argument("--picard-rtol", nargs="+", default=["1e-6", "1e-7", "1e-8", "1e-9"],
                        help="tolerances to choose from, largest first (default %(default)s)")
    parser.add_argument("--ours", default="", metavar="OPTIONS",
                        help="more options of nunatak, as one word")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument("--output", action="store_true",
                        help="compare the output of a state, not the step")
    arguments = parser.parse_args()
    if min(arguments.ranks) < 1 or arguments.repeat < 1:
        fail("--ranks and --repeat: expected 1 or more")
    return arguments


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


class Antarctica:
    """The case in a folder of its own, and the two programs on it."""

    def __init__(self, a, folder):
        self.a, self.folder = a, folder
        fields = read_data(a.data)
        if a.own_till:
            fields.pop("tauc", None)
        if a.round:
            make_round(fields)
        if a.refine < 1:
            fail(f"--refine: expected 1 or more, found {a.refine}")
        if a.refine > 1:
            fields = refine(fields, a.refine)
        fields["thk"] = np.where(fields["thk"] > THIN, fields["thk"], 0.0)
        self.prepare(fields)

    def prepare(self, fields):
        """The input of both programs; nunatak starts with the temperature that PISM makes."""
        self.case = os.path.join(self.folder, "pism.nc")
        write_input(self.case, fields)
        self.pism(1, 0, [])
        z, temperature, thk = read(os.path.join(self.folder, "end.nc"), "z", "temp", "thk")
        self.own_case = os.path.join(self.folder, "nunatak.nc")
        write_input(self.own_case, dict(fields, thk=thk), (z, temperature))
        self.shape, self.dx = thk.shape, fields["x"][1] - fields["x"][0]

    def pism(self, ranks, steps, options):
        command = pism_command(self.a.pism, self.case, steps, "end.nc", options)
        text, wall = run(self.a.mpiexec, ranks, command, self.folder)
        events = logged(os.path.join(self.folder, "log.py"), "time-stepping loop")
        result = {"wall_s": wall}
        if steps == 0:
            return result
        result["nonlinear"], result["linear"] = [
            a + b for a, b in zip(linear_iterations(text, "ssafd_"), linear_iterations(text, ""))]
        result["parts"] = {part: sum(events[e][1] / events[e][0] for e in names)
                           for part, (names, _) in PARTS.items()}
        result["parts"]["SSA, linear solves"] = sum(
            events[e][1] for e in LINEAR) / events["stress_balance.shallow"][0]
        if events["stress_balance.shallow"][0] != steps:
            raise RunFailed(
                f"PISM: expected {steps} steps, found {events['stress_balance.shallow'][0]}")
        thk, topg, melt = self.result("thk", "topg", "shelfbmassflux")
        result["melt_Gt_a"] = float(np.sum(melt[floats(thk, topg)])) * self.dx**2 * 31556926 / 1e12
        result["volume_km3"] = float(np.sum(thk)) * self.dx**2 / 1e9
        return result

    def nunatak(self, ranks, steps, options):
        # the last one of a name counts
        options = ["-ssa_tolerance", TOLERANCE, *shlex.split(self.a.ours), *options]
        command = nunatak_command(self.a.nunatak, self.own_case, steps, "end.nc", options)
        _, wall = run(self.a.mpiexec, ranks, command, self.folder)
        report = self.report()
        timers, ssa = report["timers"], report["ssa"]
        result = {"wall_s": wall, "nonlinear": ssa["steps"], "linear": ssa["linear_iterations"],
                  "load_norm": ssa["history"][0]["load"], "versions": report["versions"]}
        parts = {part: sum(timers[t]["max"] / timers[t]["calls"] for t in names)
                 for part, (_, names) in PARTS.items() if all(t in timers for t in names)}
        parts["SSA, linear solves"] = sum(solve["seconds_linear"]
                                          for solve in ssa["history"]) / ssa["solves"]
        result["parts"] = parts
        result["melt_Gt_a"] = report["ocean"]["total_melt_Gt_per_year"]
        result["volume_km3"] = report["mass_budget"].get("volume_end_km3")
        return result

    def report(self):
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            return json.load(file)

    def output_of_pism(self, ranks, form):
        """A checkpoint after each step, without SSA and PICO: what PISM prints of those that close
        the file before, too."""
        options = ("-stress_balance sia -ocean constant -checkpoint_interval 0 "
                   f"-output.checkpoint.file state.nc -o_size none -o_format {form}")
        text, _ = run(self.a.mpiexec, ranks, pism_command(self.a.pism, self.case, STEPS, "end.nc",
                                                          options.split()), self.folder)
        seconds = [float(word) for word in re.findall(r"Done saving a checkpoint in "
                                                      r"([0-9.]+) seconds", text)][1:]
        return {"s": statistics.mean(seconds),
                "MB": os.path.getsize(os.path.join(self.folder, "state.nc")) / 1e6}

    def output_of_nunatak(self, ranks, options):
        """The temperature and all maps, about the bytes of a checkpoint, after each step."""
        options = ["-spatial_file", "maps.nc", "-spatial_every", str(STEP), "-spatial_vars",
                   ",".join(self.maps), "-overwrite", *options.split()]
        run(self.a.mpiexec, ranks,
            nunatak_command(self.a.nunatak, self.own_case, STEPS, None, options), self.folder)
        output = self.report()["output"]
        fsync = output["phases"]["fsync"]["max"] / STEPS
        return {"s": output["seconds"] / STEPS - fsync, "fsync_s": fsync,
                "MB": output["written_bytes"] / 1e6 / STEPS}

    def result(self, *names):
        return read(os.path.join(self.folder, "end.nc"), *names)

    def velocity(self):
        thk, u, v = self.result("thk", "u_ssa", "v_ssa")
        return np.where(thk > 0, (u + 1j * v) * 31556926, 0.0)  # m/a

    def first_velocity(self, options):
        """PISM's solution of the first stress balance, from rest."""
        self.pism(1, 1, options)
        return self.velocity()

    def convergence(self):
        """The methods to run PISM, and how far each first velocity is from the tight one of the
        same method (2-norms)."""

        def distance(a, b):
            return float(np.linalg.norm(a - b) / np.linalg.norm(b))

        load = self.nunatak(1, 1, [])["load_norm"]
        own = self.velocity()
        self.nunatak(1, 1, ["-ssa_tolerance", "1e-11",
                            *(["-ssa_snes_rtol", "1e-10"] if "-like" in self.a.ours else [])])
        tight = {"nunatak": self.velocity()}
        error = {"nunatak": distance(own, tight["nunatak"])}

        fem = FINITE_ELEMENTS
        ilu1 = ["-pc_factor_levels", "1", "-sub_pc_factor_levels", "1"]  # on one rank, on several
        options = {"default": ["-subgl"], "fd equal": None, "fem equal": fem + [repr(1e-6 * load)],
                   "fem ilu1": fem + [repr(1e-6 * load)] + ilu1, "fem default": fem[:2]}
        methods = {METHODS[name]: options[METHODS[name]]
                   for name in METHODS if name in self.a.methods}
        for name in {"fem equal", "fem ilu1", "fem default"} & set(methods):
            try:
                limit = self.first_velocity(
                    methods[name] + ["-snes_rtol", "1e-50", "-snes_atol", repr(1e-10 * load)])
                tight[name], error[name] = (limit,
                                            distance(self.first_velocity(methods[name]), limit))
            except RunFailed as problem:
                say(f"'{name}' left out: PISM's finite elements fail here\n{problem}")
                del methods[name]
        if "default" in methods or "fd equal" in methods:
            tight["fd equal"] = self.first_velocity(
                ["-subgl", "-ssafd_picard_rtol", "1e-10", "-ssafd_ksp_rtol", "1e-4"])
        if "default" in methods:
            error["default"] = distance(self.first_velocity(methods["default"]), tight["fd equal"])
        if "fd equal" in methods:
            found = self.equal_differences(tight["fd equal"], distance)
            methods["fd equal"], error["fd equal"] = found
        if not methods:
            raise RunFailed("no method to run PISM is left")
        for who, e in error.items():
            say(f"{who}: velocity converged to {e:.1e}")
        others = {who: v for who, v in tight.items() if who != "nunatak"}
        apart = {who: distance(v, tight["nunatak"]) for who, v in others.items()}
        shares = {who: self.shares(np.abs(v - tight["nunatak"]) ** 2) for who, v in others.items()}
        say(f"distance between tight velocities: {apart}; shares of its square: {shares}")
        return {"velocity_error": error, "tight_difference": apart, "shares": shares,
                "options": methods}

    def shares(self, square):
        """Of a sum over cells: of floating ice, of its cells with an ice-free one among their eight
        neighbours, of grounded ones with such."""
        thk, topg = read(self.own_case, "thk", "topg")
        ice, afloat = thk > 0, floats(thk, topg)
        inner = np.pad(ice, 1, mode="edge")
        inner = np.all([inner[j:j + ice.shape[0], i:i + ice.shape[1]] for j in range(3)
                        for i in range(3)], axis=0)
        cells = {"afloat": afloat, "afloat, fronts": afloat & ~inner,
                 "grounded, margins": ice & ~afloat & ~inner}
        return {name: float(square[where].sum() / square.sum()) for name, where in cells.items()}

    def equal_differences(self, limit, distance):
        """Options of PISM's finite differences with which the first velocity is near its limit, and
        how near."""
        for tolerance in self.a.picard_rtol:
            options = ["-subgl", "-ssafd_ksp_rtol", "1e-3", "-ssafd_picard_rtol", tolerance]
            error = distance(self.first_velocity(options), limit)
            say(f"PISM fd, Picard to {tolerance}: velocity converged to {error:.1e}")
            if error <= CONVERGED:
                return options, error
        raise RunFailed("no --picard-rtol brings the velocity of PISM's finite differences within "
                        f"{CONVERGED} of its limit")


def run_output(a, case):
    """Seconds per record, from open to close. PISM makes no fsync, so that of nunatak has a column
    of its own."""
    forms = {"PISM netcdf4_parallel": (case.output_of_pism, "netcdf4_parallel"),
             "PISM netcdf3": (case.output_of_pism, "netcdf3"),
             "-like pism": (case.output_of_nunatak, "-like pism -ssa_solver own"),
             "nunatak": (case.output_of_nunatak, "")}
    case.nunatak(1, 1, [])
    with netCDF4.Dataset(os.path.join(case.folder, "end.nc")) as file:
        case.maps = [name for name, v in file.variables.items() if "time" in v.dimensions and
                     "y" in v.dimensions and ("z" not in v.dimensions or name == "temp")]
    runs = {(who, n): [] for n in a.ranks for who in forms}
    for _ in range(a.repeat):
        for (who, n), found in runs.items():
            found.append(forms[who][0](n, forms[who][1]))
    say("output of a state          ranks      MB   seconds, median (min to max)      fsync")
    table = []
    for (who, n), found in runs.items():
        row = {"who": who, "ranks": n, "s": spread([r["s"] for r in found]), "MB": found[0]["MB"],
               "fsync_s": statistics.median(r.get("fsync_s", 0.0) for r in found)}
        table.append(row)
        say(f"{who:26s} {n:5d} {row['MB']:7.1f} {row['s']['median']:10.4f} ({row['s']['min']:.3f} "
            f"to {row['s']['max']:.3f}) {row['fsync_s']:10.4f}")
    return {"grid": case.shape, "records": STEPS, "table": table}


def run_antarctica(a, case):
    converged = case.convergence()
    pism = converged["options"]
    runs = {(who, n): [] for who in [*pism, *OWN] for n in a.ranks}
    for turn in range(a.repeat):
        for n in a.ranks:
            for who in [*pism, *OWN]:
                run = (case.nunatak(n, STEPS, OWN[who]) if who in OWN
                       else case.pism(n, STEPS, pism[who]))
                run["load"] = os.getloadavg()[0]
                runs[who, n].append(run)
                say(f"turn {turn + 1}, {n} rank(s), {who}: SSA {run['parts']['SSA']:.3f} s, whole "
                    f"run {run['wall_s']:.1f} s, {run['nonlinear']} nonlinear, {run['linear']} "
                    f"linear, load {run['load']:.1f}")
    own = runs["nunatak", a.ranks[0]][0]
    all_of = [run for who in [*pism, "nunatak"] for n in a.ranks for run in runs[who, n]]
    checks = {
        "velocities have converged": all(
            e <= CONVERGED for w, e in converged["velocity_error"].items() if w != "default"),
        "tight velocities agree to 20 %": max(converged["tight_difference"].values()) < 0.20,
        "volumes agree to 1e-4": all(
            abs(run["volume_km3"] / own["volume_km3"] - 1) < 1e-4 for run in all_of),
        "total melt agrees to 5 %": all(
            abs(run["melt_Gt_a"] / own["melt_Gt_a"] - 1) < 0.05 for run in all_of),
    }
    result = {"grid": case.shape, "dx": case.dx, "updates": STEPS, "convergence": converged,
              "checks": checks, "ranks": {}, "ours": a.ours, "versions": own["versions"]}
    for n in a.ranks:
        table = {}
        for who in [*pism, *OWN]:
            kept = runs[who, n]
            table[who] = {
                "parts": {p: spread([r["parts"][p] for r in kept]) for p in kept[0]["parts"]},
                "wall_s": spread([r["wall_s"] for r in kept]), "nonlinear": kept[0]["nonlinear"],
                "linear": kept[0]["linear"], "melt_Gt_a": kept[0]["melt_Gt_a"],
                "volume_km3": kept[0]["volume_km3"], "load": [r["load"] for r in kept]}
        result["ranks"][n] = table
    print_antarctica(result)
    return result


def print_antarctica(result):
    good = all(result["checks"].values())
    for check, passed in result["checks"].items():
        say(f"{'ok    ' if passed else 'FAILED'} {check}")
    for n, table in result["ranks"].items():
        say(f"\n{result['grid'][0]} x {result['grid'][1]} x {LEVELS}, {n} rank(s), seconds per "
            "update, median (min to max)")
        say(f"{'':20s}" + "".join(f"{who:>26s}" for who in table) +
            "   ratios to nunatak, to new geometry")

        def line(name, pick, table=table):
            cells = [pick(table[who]) for who in table]
            text = "".join(f"{c['median']:10.4f} ({c['min']:.3f}-{c['max']:.3f})".rjust(26)
                           for c in cells)
            ratios = [f"{c['median'] / own['median']:.1f}" if good else "-" for c in cells[:-2]
                      for own in cells[-2:]]
            say(f"{name:20s}{text}" + "".join(f"{r:>8s}" for r in ratios))

        for part in table["nunatak"]["parts"]:
            line(part, lambda t, part=part: t["parts"][part])
        line("whole run, wall", lambda t: t["wall_s"])
        say(f"{'iterations':20s}" + "".join(f"{str(t['nonlinear']) + ' / ' + str(t['linear']):>26s}"
                                            for t in table.values()))


def find_programs(a):
    """Makes paths of the arguments whole, as runs start in a folder of their own."""
    a.pism, a.nunatak = os.path.abspath(a.pism), os.path.abspath(a.nunatak)
    for program in (os.path.join(a.pism, "pism"), a.nunatak):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            fail(f"'{program}': expected a program, found none")


def give(result, path):
    """As JSON, into the file if there is one."""
    text = json.dumps(result, indent=2, default=float)
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)


def main():
    a = read_arguments()
    find_programs(a)
    result = {"load_at_start": os.getloadavg(), "cores": len(os.sched_getaffinity(0)),
              "repetitions": a.repeat}
    with tempfile.TemporaryDirectory() as folder:
        try:
            case = Antarctica(a, folder)
            result["output" if a.output else "step"] = (run_output if a.output else run_antarctica)(
                a, case)
        except RunFailed as error:
            fail(str(error))
    result["load_at_end"] = os.getloadavg()
    give(result, a.json)
    if not a.unequal and not all(result.get("step", {}).get("checks", {}).values()):
        fail("the two programs did not solve the same problem alike (checks above): no ratio is "
             "valid (--unequal: status 0)")


if __name__ == "__main__":
    main()
