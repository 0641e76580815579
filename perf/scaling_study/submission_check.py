"""Can a submission of the benchmark be true? Commands: submission.py. Rules: docs/benchmark.md.

A check reads nothing but the file and the rules. Whatever is printed, compared or used for a figure
has to be of the right type, in its possible range, and what the rest of the file implies.
"""
import datetime
import itertools
import json
import math
import re
import statistics

from . import pop
from .submission import (AS_WRITTEN, BUDGET, FORM, KINDS, OF_PLACES, SHARES, SOLVE, UNKNOWN,
                         VERSION, figure_of, hash_of, is_disturbed, is_number, moment, points_of,
                         rules_of, sizes_of, writes, written)

# beginnings of options that may differ
FREE = ("io_", "grid_p", "grid_cut", "halo", "gpu_aware_mpi", "report", "verbose", "pico_distance")
# What else is fixed besides the options of benchmark.yaml: the defaults of the model
DEFAULTS = {
    "bheatflx": 0.05, "climatic_mass_balance": 300.0, "climatic_mass_balance_halving": 10.0,
    "dt_max": 1.0, "energy": "on", "grid_Lz": 0.0, "grid_dx": 0.0, "grid_z_spacing": "quadratic",
    "i": "", "i_verify": True, "ice_surface_lapse_rate": 9.0, "ice_surface_temp": 250.15,
    "like": "none", "ocean": "pico", "overwrite": False, "pico_batch": True, "pico_boxes": 5,
    "pico_continental_ice_area": 1e11, "pico_continental_shelf_depth": -800.0,
    "pico_exclude_ice_rises": True, "pico_gamma_T": 2e-5, "pico_overturning": 1e6,
    "pico_skip_unchanged": True, "rheology": "paterson_budd", "run_steps": 0, "run_until": 0.0,
    "run_wall": "", "salinity_ocean": 34.7,
    "sia_e": 2.0, "sliding_q": 0.75, "sliding_u_threshold": 100.0, "softness": 3.1689e-24,
    "ssa_e": 0.6, "ssa_failed_file": "ssa_failed.nc",
    "ssa_max_steps": 100, "ssa_multigrid_cells_per_rank": 4, "ssa_multigrid_gather": 200,
    "ssa_multigrid_smoothing": 4, "ssa_preconditioner": "multigrid", "ssa_solver": "auto",
    "ssa_view": False, "theta_ocean": 271.65, "till_frozen_below": 30.0,
    "till_overburden_fraction": 0.05, "till_phi_max": 15.0, "till_phi_min": 5.0,
    "till_subgrid": True, "till_topg_max": 1000.0, "till_topg_min": -1000.0}
# methods that write one file per name
METHOD = {"io_format": "null|serial|netcdf4|pnetcdf|hybrid|direct",
          "io_layout": r"default|native|(auto|zslab|box|morton)(:[1-9]\d{0,8})?",
          "io_transport": r"sync|async:([1-9]\d{0,8})(?:\+([1-9]\d{0,8}))?",
          "io_define": "upfront|interleaved"}
EXTENT = {"dx": 6080e3, "dy": 6080e3, "Lz": 4500.0}  # m, of -init marine
WITHIN_INIT = ("init: ", "output: open")
VERSIONS = ("nunatak", "commit", "compiler", "MPI", "PETSc", "Kokkos", "NetCDF-C", "PnetCDF")
LEAST = 3  # repetitions of a point
# of JSON of another form
WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration,
         RecursionError)

CLOCKS = 0.1  # s by which two clocks of one run may differ
SECOND = 1 + CLOCKS  # s: dates have no fractions
MINUTE = 60  # s by which the clocks of two machines may differ, and that any run may take to start
HOUR = 3600  # s by which the clock of the machine that checks may be late
# relative; of the ratios of the seconds of two runs on a quiet machine, 3 to 6 % are as close to
# their median
ALIKE = 1e-3
# bytes of a file besides its values: PnetCDF counts 8 KB of header, `direct` 4 or 8 bytes a commit
HEADER = 1 << 16
PER_RECORD = 16  # bytes: the number of records, written again
FASTEST = 1e12  # bytes/s of a rank: no core copies as many in memory
RAW = 2  # times the rate of raw writes; a cache made it 1.35 (docs/results.md)
# lists in lists, characters of a text, whole numbers
DEEPEST, LONGEST, HUGEST = 16, 1 << 13, 1 << 63
ALONE = ("local", "cluster")  # systems on which a study makes one run at a time

COLUMNS = ("temp", "uvel", "vvel", "wvel")
AXES = {"x": "Mx", "y": "My", "z": "Mz"}
# variables of 4 bytes a value; others have 8
INTEGERS = re.compile("mask|basins|mapping|pico_.*_mask|pico_distance_.*")
MEMORY = re.compile(
    r"(?:^|\s)(?:tmpfs|ramfs|devtmpfs|rootfs|hugetlbfs|shmfs|/dev/(?:z?ram\d*|shm))(?:[\s/]|$)",
    re.I)


def in_memory(file_system):
    return MEMORY.search(file_system) is not None


def look_at_form(check, where, value, form):
    if isinstance(form, str):
        check.expect(KINDS[form](value), where, form, value)
    elif not check.expect(isinstance(value, type(form)), where, AS_WRITTEN, value):
        pass
    elif isinstance(form, list):
        for number, item in enumerate(value):
            look_at_form(check, f"{where}.{number}", item, form[0])
    else:
        for name in form:
            check.expect(name in value or name[-1] in "*?", where, AS_WRITTEN, f"no {name}")
        for name, item in value.items():
            inner = form.get("*", form.get(name, form.get(f"{name}?")))
            if inner is not None:
                look_at_form(check, f"{where}.{name}", item, inner)


def faults_of(value, where="submission", depth=0):
    """What no JSON file of a study has, wherever it stands."""
    if isinstance(value, (dict, list)):
        if depth == DEEPEST:
            yield where, f"at most {DEEPEST} lists in one another", "more"
            return
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str):
                yield from faults_of(name, where, depth)
            yield from faults_of(item, f"{where}.{name}", depth + 1)
    elif isinstance(value, str):
        # MPICH has a tab in its version
        if len(value) > LONGEST or not all(c.isprintable() or c == "\t" for c in value):
            yield where, f"a printable text of at most {LONGEST} characters", repr(value[:40])
    elif (type(value) is float and not math.isfinite(value) or type(value) is int and
          abs(value) >= HUGEST):
        yield where, "a finite number, or a whole one below 2^63", "another"


# -- the looks

class Check:
    """What is refused, as sentences."""

    def __init__(self):
        self.refused = []

    def expect(self, holds, where, expected, found):
        if not holds:
            self.refused.append(f"{where}: expected {expected}, found {str(found)[:200]}")
        return holds

    def of(self, look, where, *arguments):
        """What has another form than that of `perf/study submit` is refused, too."""
        try:
            look(self, where, *arguments)
        except WRONG as error:
            self.refused.append(f"{where}: expected {AS_WRITTEN}, found none "
                                f"({type(error).__name__}: {str(error)[:200]})")


def checked(submission):
    """The sentences for which it is refused."""
    check = Check()
    for fault in itertools.islice(faults_of(submission), 10):
        check.expect(False, *fault)
    if not check.refused:
        look_at_form(check, "submission", submission, FORM)
    if not check.refused:
        check.of(look_at_all, "submission", submission)
    return check.refused


def look_at_all(check, where, submission):
    check.expect(submission["benchmark"] == VERSION, where, VERSION, submission["benchmark"])
    now = datetime.datetime.now(datetime.timezone.utc).timestamp()
    check.expect(moment(submission["made"]) <= now + HOUR, where,
                 "a date that is not in the future", submission["made"])
    check.expect("XS" in submission["sizes"], where,
                 "the size XS, which shows that the program computes the right fields", "none")
    for digest, sums in submission["sums"].items():
        check.expect(hash_of(sums) == digest, "sums", f"the hash {digest}", hash_of(sums))
    for size, one in submission["sizes"].items():
        if check.expect(size in sizes_of(), where, "one of the sizes " + ", ".join(sizes_of()),
                        size):
            check.of(look_at_size, size, one, submission)


def look_at_size(check, where, one, submission):
    rules, runs = rules_of(where), one["runs"]
    reference = next(filter(writes, submission["sizes"]["XS"]["runs"]))
    check.of(look_at_machine, where, one["machine"], runs)
    check.of(look_at_versions, where, one, reference["report"]["versions"])
    for run in runs:
        name = f"{where}, {run['point']}, repetition {run['repetition']}"
        for look in (look_at_times, look_at_ranks, look_at_model, look_at_options, look_at_solves):
            check.of(look, name, run, rules, one["machine"])
        check.of(look_at_files if writes(run) else look_at_no_files, name, run, rules,
                 submission["sums"], reference)
    shortest = min(pop.loop(run["report"]) for run in runs)
    check.expect(shortest >= rules["least"], where,
                 f"time steps of {rules['least']:g} s or more (a larger size)", f"{shortest:.3g} s")
    check.of(look_at_points, where, runs)
    check.of(look_at_order, where, one, moment(submission["made"]))
    best, said = figure_of(runs), one["figure"]
    check.expect(said["point"] == best["point"] and abs(said["SYPD"] / best["SYPD"] - 1) < 1e-9,
                 where, f"{best['SYPD']:.6g} simulated years per day, years over time "
                 f"({best['point']})", f"{said['SYPD']} ({said['point']})")


def look_at_machine(check, where, machine, runs):
    """A disk, and cores, nodes and loads of the runs."""
    check.expect(not in_memory(machine["file_system"]), where, "files that outlast a loss of power",
                 f"the file system {machine['file_system']}")
    check.expect(machine["emulated"] or not (machine.get("physical_cores") or
                                             machine["system"] == "cluster"), where,
                 "emulated: true of an emulated cluster, which alone has physical_cores",
                 machine["emulated"])
    most = max(run["nodes"] for run in runs)
    check.expect(machine["nodes"] == most, where, f"the {most} nodes of its largest run",
                 machine["nodes"])
    for name in ("load_average", "cpu_MHz"):
        found = [value for run in runs for value in run.get(name, ())]
        right = [min(found), max(found)] if found else None
        check.expect(machine.get(name) == right, where,
                     f"{name} of {right}, least and most of the runs", machine.get(name))


def look_at_versions(check, where, one, reference):
    """One program for all runs of all sizes."""
    versions = [run["report"]["versions"] for run in one["runs"]]
    for name in VERSIONS:
        check.expect(all(re.search(r"\d", v.get(name, "")) for v in versions), where,
                     f"the version of {name}", " ".join({v.get(name, "none") for v in versions}))
    commit = versions[0].get("commit", "")
    check.expect(re.fullmatch("(?!0+(-|$))[0-9a-f]{7,40}(-dirty)?", commit), where,
                 "a commit of 7 to 40 hexadecimal digits", commit)
    check.expect(all(v == versions[0] for v in versions), where,
                 "one version of everything in all runs", "several")
    check.expect(versions[0] == reference, where, "the versions of the size XS", "others")
    machine, outputs = one["machine"], {run["report"]["output"]["mpi_io"] for run in one["runs"]}
    check.expect(versions[0] == machine["versions"] and versions[0]["MPI"] == machine["mpi"] and
                 outputs == {machine["mpi_io"]}, where, "the versions of the machine", "others")


def look_at_times(check, where, run, *_):
    """Durations that can be, within one another, by two clocks."""
    report, output = run["report"], run["report"]["output"]
    wall = report["wall_seconds"]
    check.expect(wall > 0, where, "a time above 0", wall)
    check.expect(run["seconds"] == wall, where, f"the {wall} s of the report", run["seconds"])
    check.expect(run["elapsed"] >= wall - CLOCKS, where, f"{wall} s or more from outside, too",
                 run["elapsed"])
    longest = wall + max(MINUTE, wall) + run["nodes"]  # a second per node to load the program there
    check.expect(run["elapsed"] <= longest, where,
                 f"{longest:g} s or less from outside, with start and end", run["elapsed"])
    ranks = report["ranks"]["size"]
    for name, t in {**report["timers"],
                    **{f"phase {name}": t for name, t in output["phases"].items()}}.items():
        # of all ranks
        least, total, most = (t["max"] + (ranks - 1) * t["min"], ranks * t["mean"],
                              t["min"] + (ranks - 1) * t["max"])
        check.expect(0 <= t["min"] <= t["max"] <= wall + CLOCKS and least <= total * (1 + 1e-9) and
                     total <= most * (1 + 1e-9), where, "0 <= min <= mean <= max <= the run in "
                     f"{name} of {ranks} ranks", [t["min"], t["mean"], t["max"]])
    parts = sum(t["mean"] for name, t in report["timers"].items()
                if not name.startswith((*WITHIN_INIT, *SHARES)))
    check.expect(parts <= wall * (1 + 1e-6), where, f"parts that make {wall} s at most", parts)
    outputs = sum(t["mean"] for name, t in report["timers"].items() if name.startswith("output: "))
    seconds, phases = output["seconds"], sum(t["mean"] for t in output["phases"].values())
    check.expect(seconds > 0 and abs(seconds / outputs - 1) < 1e-6, where,
                 f"{outputs} s of output, as its timers have", seconds)
    check.expect(phases <= seconds * (1 + 1e-6), where,
                 f"phases of the output that make {seconds} s at most", phases)
    until = 100 * seconds / output["percent_of_run"]  # s of the run when the report was made
    check.expect(abs(until - wall) <= 0.01 * wall + CLOCKS, where,
                 f"{100 * seconds / wall:.4g} % of the run for output", output["percent_of_run"])
    for name, seconds in ((name, s) for group in output["servers"]
                          for name, s in group["phases"].items()):
        check.expect(0 <= seconds <= wall + CLOCKS, where,
                     f"0 s to the run in phase {name} of servers", seconds)
    for section in ("messages", "output", "ssa", "timers"):
        least = min(numbers_in(report.get(section)), default=0)
        check.expect(least >= 0, where, f"times and counts of 0 or more in {section}", least)
    load, frequency = run["load_average"], run.get("cpu_MHz", [1, 1])
    check.expect(len(load) == 2 and min(load) >= 0, where, "load averages before and after", load)
    check.expect(len(frequency) == 2 and min(frequency) > 0, where, "frequencies before and after",
                 frequency)
    check.expect(run.get("energy_J", 0) >= 0, where, "an energy of 0 or more", run.get("energy_J"))


def numbers_in(value):
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(item)
    elif is_number(value):
        yield value


def look_at_ranks(check, where, run, _, machine):
    """Ranks by the report, servers by -io_transport, a core for each thread."""
    ranks, output = run["report"]["ranks"], run["report"]["output"]
    servers = [group["servers"] for group in output["servers"]]
    asked = [int(n)
             for n in re.fullmatch(METHOD["io_transport"], output["transport"]).groups() if n]
    check.expect(servers == asked, where, f"the servers of -io_transport {output['transport']}",
                 servers)
    check.expect(ranks["size"] + sum(servers) == run["ranks"] and ranks["px"] * ranks["py"] ==
                 ranks["size"], where, f"a report of {run['ranks']} ranks",
                 f"{ranks['px']} x {ranks['py']} and {sum(servers)} servers")
    nodes = math.ceil(run["ranks"] / run["ranks_per_node"])
    check.expect(run["nodes"] == nodes and run["ranks_per_node"] <= run["ranks"], where,
                 f"{nodes} nodes of {run['ranks_per_node']} of {run['ranks']} ranks", run["nodes"])
    needed = run["ranks_per_node"] * run["threads"]
    enough = machine["emulated"] or needed <= machine["cores_per_node"]
    check.expect(
        enough and not run["oversubscribed"], where, "a core for each rank and thread",
        f"{needed} on {machine['cores_per_node']} cores" if not enough else "more ranks than cores")


def look_at_model(check, where, run, rules, _):
    """Grid, years, a run to its end, the mass budget."""
    report, options = run["report"], rules["options"]
    check.expect(run["status"] == "ok" and report["ended_early"] == "", where,
                 "a run that went to its end", report["ended_early"])
    for name in ("Mx", "My", "Mz"):
        check.expect(report["grid"][name] == int(options[f"grid_{name}"]), where,
                     f"{options[f'grid_{name}']} {name}", report["grid"][name])
    for name, length in EXTENT.items():
        found = report["grid"][name] * (1 if name == "Lz" else report["grid"][f"M{name[1]}"] - 1)
        check.expect(math.isclose(found, length, rel_tol=1e-9), where, f"{length} m along {name}",
                     found)
    check.expect(abs(report["years"] / float(options["run_years"]) - 1) < 1e-9, where,
                 f"{options['run_years']} years", report["years"])
    start, end, surface, melt, calved, edge, clipped, closure = (report["mass_budget"][name]
                                                                 for name in BUDGET)
    change = surface - melt - calved + edge + clipped
    missing = (end - start - change) / max(start, end,
                                           *map(abs, (surface, melt, calved, edge, clipped)))
    check.expect(max(abs(closure), abs(missing)) < 1e-12, where, "a closed mass budget",
                 f"{closure}, of its terms {missing}")


def look_at_solves(check, where, run, rules, _):
    """Each to the tolerance, within its part of the run."""
    report, ssa = run["report"], run["report"]["ssa"]
    solves, part = ssa["history"], run["report"]["timers"]["stress balance: SSA"]
    check.expect(report["steps"] + 1 == ssa["solves"] == len(solves) == part["calls"], where,
                 "a solve for each step and one at the end", [report["steps"], len(solves)])
    tolerance = float(rules["options"]["ssa_tolerance"])
    for n, solve in enumerate(solves):
        check.expect(solve["load"] > 0 and 0 < solve["final_residual"] <= tolerance * solve["load"],
                     where, f"residuals below {tolerance} of the load, and loads above 0",
                     f"{solve['final_residual']}, {solve['load']} in solve {n}")
        check.expect(solve["final_residual"] <= solve["initial_residual"], where,
                     "a residual that becomes smaller",
                     f"{solve['initial_residual']}, then {solve['final_residual']} in solve {n}")
        seconds = [solve[name] for name in SOLVE if name.startswith("seconds_")]
        check.expect(min(seconds) >= 0 and sum(seconds) <= solve["seconds"] * (1 + 1e-6), where,
                     f"parts of 0 s or more that make {solve['seconds']} s at most in solve {n}",
                     seconds)
    at_rest = solves[0]
    check.expect(abs(at_rest["initial_residual"] / at_rest["load"] - 1) < 1e-6, where,
                 "a first residual that is the load: nothing moves", at_rest["initial_residual"])
    for name in ("steps", "linear_iterations", "reductions"):
        total = sum(solve[name] for solve in solves)
        check.expect(ssa[name] == total, where, f"{total} {name} of the solves together", ssa[name])
    seconds = sum(solve["seconds"] for solve in solves)
    check.expect(seconds <= part["max"] + CLOCKS, where,
                 f"solves within the time of their part, {part['max']} s", seconds)


def look_at_options(check, where, run, rules, _):
    """The values of the rules, else the defaults; the method that the output names."""
    found, output, fixed = run["report"]["options"], run["report"]["output"], rules["options"]
    missing = sorted((fixed.keys() | DEFAULTS.keys() | METHOD.keys()) - found.keys())
    check.expect(not missing, where, "the options of the benchmark and of the model",
                 f"none of -{', -'.join(missing)}")
    for name, words in METHOD.items():
        check.expect(re.fullmatch(words, found.get(name, "")), where, "a method of output that "
                     f"writes one file per name by -{name}", found.get(name))
    for name, value in found.items():
        if name in fixed and (writes(run) or not name.startswith("io_")):
            check.expect(same(fixed[name], value), where, f"-{name} {fixed[name]}", value)
        elif not name.startswith(FREE):
            check.expect(value == DEFAULTS.get(name), where,
                         f"-{name} {DEFAULTS.get(name, 'not there')}", value)
        if name.startswith("io_") and name[3:] in output:
            check.expect(output[name[3:]] == value, where, f"output by -{name} {value}",
                         output[name[3:]])


def look_at_no_files(check, where, run, *_):
    """-io_format null."""
    check.expect(not run.get("fields") and "raw" not in run and written(run) == 0, where,
                 "nothing written by -io_format null", f"{written(run)} bytes")


def look_at_files(check, where, run, rules, all_sums, reference):
    """The four classes, all records, fsync, the fields, their bytes."""
    report, options = run["report"], rules["options"]
    output, sums = report["output"], all_sums[run["fields"]]
    years, every = (float(options[name]) for name in ("run_years", "snapshot_every"))
    records = {"series.nc": report["steps"],
               "spatial.nc": round(years / float(options["spatial_every"])) + 1, "result.nc": 1,
               **{f"snapshot_{n * every:09.3f}.nc": 1 for n in range(1, round(years / every) + 1)}}
    check.expect(sorted(sums) == sorted(records) == sorted(output["files"]), where,
                 "the files " + ", ".join(sorted(records)), sorted(sums))
    classes = {class_of(name): set(variables)
               for name, variables in all_sums[reference["fields"]].items()}
    for name, wanted in records.items():
        found = {variable: len(values) for variable, values in sums.get(name, {}).items()}
        check.expect(found.get("time") == wanted, where, f"{wanted} records in {name}",
                     found.get("time"))
        right = {variable: 1 if variable in (*AXES, "mapping") else wanted
                 for variable in classes.get(class_of(name), ())}
        check.expect(found == right, where,
                     f"the variables of the size XS in {name}, {wanted} records of each", found)
    if rules["fields"] != UNKNOWN:
        check.expect(run["fields"] == rules["fields"], where,
                     f"the fields {rules['fields'][:16]}...", run["fields"])
    check.expect(written(run) > 0 and output["checksum"] == "values", where,
                 "bytes written, with sums", [written(run), output["checksum"]])
    fsync = output["phases"]["fsync"]
    check.expect(output["servers"] or fsync["max"] > 0 and fsync["operations"] >= len(records),
                 where, "an fsync for each file", f"{fsync['operations']} in {fsync['max']} s")
    for group in output["servers"]:
        check.expect(group["phases"]["fsync"] > 0, where, "an fsync by each group of servers",
                     group["phases"]["fsync"])
    check.of(look_at_bytes, where, run, sums)
    check.of(look_at_raw_writes, where, run)


def class_of(name):
    return "snapshot" if name.startswith("snapshot_") else name


def bytes_of(name, variables, grid):
    """Of the values of a file; the sums leave OF_PLACES out."""
    cells = grid["Mx"] * grid["My"]
    if name == "series.nc":
        return sum(8 * len(values) * (2 if variable == "time_bnds" else 1)
                   for variable, values in variables.items())
    shape = {"time": 1, "mapping": 1, **{axis: grid[length] for axis, length in AXES.items()},
             **dict.fromkeys(COLUMNS, cells * grid["Mz"])}
    return len(OF_PLACES) * 8 * cells + sum(
        len(values) * shape.get(variable, cells) * (4 if INTEGERS.fullmatch(variable) else 8)
        for variable, values in variables.items())


def look_at_bytes(check, where, run, sums):
    """What ranks put and who wrote it, by the sums, of which each is of one put by every rank that
    computes."""
    report, output = run["report"], run["report"]["output"]
    payload = {name: bytes_of(name, variables, report["grid"]) for name, variables in sums.items()}
    puts = sum(len(values) for variables in sums.values()
               for values in variables.values()) + len(OF_PLACES) * (len(sums) - 1)
    post = output["phases"]["post"]
    check.expect(post["bytes"] == sum(payload.values()), where,
                 f"{sum(payload.values())} bytes of values", post["bytes"])
    check.expect(post["operations"] == puts * report["ranks"]["size"], where,
                 f"{puts} values or fields put by each rank that computes",
                 f"{post['operations']} by {report['ranks']['size']}")
    found = output["written_bytes"]
    if output["servers"]:
        check.expect(found == 0, where, "no bytes written by ranks that have servers", found)
        found = sum(group["written_bytes"] for group in output["servers"])
    least = sum(payload.values())
    # others count no moved bytes
    late = (output["format"], output["define"]) == ("pnetcdf", "interleaved")
    most = sum(most_bytes(payload[name], sums[name], late) for name in sums)
    check.expect(least <= found <= most, where,
                 f"{least} to {most} bytes written to {', '.join(sorted(sums))}", found)


def most_bytes(payload, variables, late):
    """With headers; a variable that is defined late moves at most the file, and its header is
    written anew."""
    again = len(variables) + 2 if late else 0
    return (payload + HEADER) * (1 + again) + PER_RECORD * max(map(len, variables.values()))


def look_at_raw_writes(check, where, run):
    """As many bytes, in a time that the disk may take."""
    raw = run.get("raw") or {"bytes": 0, "seconds": {"all": []}}
    seconds, each = raw["seconds"], raw["seconds"]["all"]
    if not check.expect(raw["bytes"] == written(run) and each, where,
                        f"raw writes of {written(run)} bytes", raw["bytes"]):
        return
    spread = [seconds[name] for name in ("min", "q1", "median", "q3", "max")]
    right = [min(each), seconds["q1"], statistics.median(each), seconds["q3"], max(each)]
    check.expect(spread == sorted(spread) and all(math.isclose(*pair, rel_tol=1e-9)
                                                  for pair in zip(spread, right)), where,
                 f"quartiles of the raw writes, {each} s", spread)
    least = raw["bytes"] / FASTEST / run["ranks"]
    check.expect(min(each) >= least, where, f"raw writes of {least:.2g} s or more", min(each))


def look_at_points(check, where, runs):
    """Repetitions: of one set-up, each made, with the same fields and solves."""
    hashes = {run["fields"] for run in runs if writes(run)}
    check.expect(len(hashes) == 1, where, "the same fields in all runs", f"{len(hashes)} hashes")
    for point, of_point in points_of(runs).items():
        found = sorted(run["repetition"] for run in of_point)
        check.expect(len(found) >= LEAST and found == list(range(len(found))), f"{where}, {point}",
                     f"repetitions 0, 1, ..., at least {LEAST}", found)
        check.expect(all(set_up(run) == set_up(of_point[0]) for run in of_point),
                     f"{where}, {point}",
                     "the same ranks, threads and options in all repetitions", "others")
    check.expect(all(work_of(run) == work_of(runs[0]) for run in runs), where,
                 "the same options, solves and calls in all runs", "others")
    measured = [seconds_of(run) for run in runs]
    for (one, a), (other, b) in itertools.combinations(zip(runs, measured), 2):
        check.expect(not are_copies(a, b), where, "runs that were each made",
                     f"two with the same times, or multiples of them: {one['point']}, "
                     f"{one['repetition']} and {other['point']}, {other['repetition']}")


def set_up(run):
    options = {name: value for name, value in run["report"]["options"].items() if name != "report"}
    return ([run[name] for name in ("nodes", "ranks", "ranks_per_node", "threads")], options,
            run["report"]["ranks"])


def work_of(run):
    """What does not depend on ranks and repetitions; solves to nine digits."""
    report = run["report"]
    solves = [[f"{solve[name]:.9g}" for name in ("load", "initial_residual", "final_residual",
                                                 "steps", "linear_iterations")]
              for solve in report["ssa"]["history"]]
    return (solves, {name: timer["calls"]
                     for name, timer in report["timers"].items() if not name.startswith(SHARES)},
            report["options"].keys())


def seconds_of(run):
    """What was measured apart, by name."""
    report = run["report"]
    found = {name: t["max"]
             for name, t in {**report["timers"], **report["output"]["phases"]}.items()}
    found.update({(n, name): solve[name] for n, solve in enumerate(report["ssa"]["history"])
                  for name in SOLVE if name.startswith("seconds")})
    return {name: seconds for name, seconds in found.items() if seconds > 0}


def are_copies(one, other):
    """Half of the seconds of one run or more are those of the other one, or one multiple of
    them."""
    ratios = [seconds / one[name] for name, seconds in other.items() if name in one]
    middle = statistics.median(ratios)
    return 2 * sum(abs(ratio / middle - 1) < ALIKE for ratio in ratios) >= len(ratios)


def began(run):
    """The report is begun after `init`."""
    return moment(run["report"]["started"]) - run["report"]["timers"]["init"]["mean"]


def ended(run):
    return began(run) + run["seconds"] + (run["raw"]["seconds"]["median"] if "raw" in run else 0)


def overlaps(runs):
    """Pairs of runs: the second one began before the first, with its raw writes, had ended; or it
    had no room for its time from outside between the first and the third."""
    runs = sorted(runs, key=began)
    for one, two, three in zip(runs, runs[1:], [*runs[2:], None]):
        if (began(two) + SECOND < ended(one) or three and
            began(three) + SECOND < began(one) + one["seconds"] + two["elapsed"]):
            yield one, two


def look_at_order(check, where, one, made):
    """Runs end before the submission is made, and on one machine before the next one begins."""
    alone = one["machine"]["system"] in ALONE
    late = [run["report"]["started"]
            for run in one["runs"] if ended(run) > made + (SECOND if alone else MINUTE)]
    check.expect(not late, where, "runs that had ended when the submission was made", late)
    for run, other in overlaps(one["runs"]) if alone else ():
        check.expect(False, where, "one run after the other, each with its raw writes",
                     f"{ended(run) - began(run):.1f} s from {run['report']['started']}, then "
                     f"{other['elapsed']} s from {other['report']['started']}")


def same(text, value):
    """An option as the study has it and as the report has it."""
    if isinstance(value, bool):
        return text == ("yes" if value else "no")
    return float(text) == value if isinstance(value, (int, float)) else text == value


def doubts(one):
    """What does not refuse a submission, but weakens it."""
    machine, runs = one["machine"], one["runs"]
    cores = machine.get("physical_cores") or machine["cores_per_node"]
    most = max(run["load_average"][0] for run in runs)
    best = points_of(runs)[one["figure"]["point"]]
    fraction = statistics.median(
        run["raw"]["seconds"]["median"] / run["report"]["output"]["seconds"] for run in best)
    if machine["emulated"]:
        yield "an emulated cluster: not to be compared with machines"
    if disturbed := list(filter(is_disturbed, runs)):
        yield (f"{len(disturbed)} of {len(runs)} runs were disturbed: processors ran their ranks "
               "in as little as "
               f"{100 * min(pop.of_part(run['report']['pop'])['alone'] for run in disturbed):.0f} "
               "% of their time outside MPI")
    if most > cores:
        yield (f"a load average of {most:g} before a run, on {cores} cores: the machine was "
               "not quiet")
    if runs[0]["report"]["versions"]["commit"].endswith("-dirty"):
        yield "a program with changes that were not committed"
    if machine["system"] not in ALONE and any(overlaps(runs)):
        yield "runs at the same time, which disturb one another"
    if fraction > RAW and not best[0]["report"]["output"]["servers"]:
        yield (f"output {fraction:.1f} times as fast as raw writes: something disturbed these, or "
               "a cache took the files")
