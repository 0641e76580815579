"""Did all runs of a curve do the same work? A run that did not is named and left out.

Strong scaling: the same steps, grid, physics, and the same volume at the end to 1e-6 (the solver's
tolerance). Weak: the same steps and physics, and as many cells per core, up to what a whole number
of rows allows. What most runs of the curve did is right; where there are as many of one as of the
other, what the first did.
"""
import math
from collections import Counter, defaultdict

from . import parts
from .machine import software_of

# What an option may change without changing the work: names of files, talk, the cut of the grid,
# the method of output.
NOT_WORK = {"o", "report", "spatial_file", "snapshot_file", "timeseries_file", "ssa_failed_file",
            "overwrite", "verbose", "run_wall", "i_verify"}
# follows the ranks in weak scaling, and is looked at itself
GRID = {"grid_Mx", "grid_My", "grid_dx"}
# how far a run may be from the median of its curve: small grids have few sizes to choose from
CELLS_PER_CORE = 0.2
VOLUME = 1e-6


def same(study):
    """Takes the runs out of `study` that did other work, with a sentence for each."""
    curves = defaultdict(list)
    for run in study.runs:
        curves[run["mode"], run["curve"]].append(run)
    wrong = {}
    for (mode, _), runs in curves.items():
        for look in LOOKS:
            for name, expected, found, run in odd(look(mode, runs)):
                wrong.setdefault(
                    id(run), (run, f"{name}: expected {expected} as in the rest, found {found}"))
    for run, sentence in wrong.values():
        study.complain(f"{run['who']}: did other work and is left out: {sentence}")
    study.runs = [run for run in study.runs if id(run) not in wrong]


def differ(studies):
    """Of one folder: runs with other versions than most. Of several: the curves on which they
    solved other problems. A sentence each."""
    problems, versions = defaultdict(dict), {}
    for study in studies:
        for name, usual, found, run in odd(
            (name, version, run) for run in study.runs
            for name, version in software_of(run["report"])["versions"].items()):
            versions[id(run)] = (f"Compare with care: {run['who']} ran with {name} {found}, the "
                                 f"rest of {study.name} with {usual}.")
    for study in studies:
        for run in study.runs:
            report = run["report"]
            problem = (f"{run['cells']} cells, "
                       f"{report.get('steps', section(report, 'workload').get('scale'))} " +
                       ("steps" if "steps" in report else "of the workload"))
            problems[run["mode"], run["curve"], run["cores"]].setdefault(problem, study.name)
    sentences = {}
    for (mode, curve, cores), names in problems.items():
        if len(names) > 1:
            listed = ", ".join(f"{problem} ({name})" for problem, name in names.items())
            where = f"{mode} {curve}".strip()
            sentences.setdefault((mode, curve), "Not the same problem in all folders, compare "
                                 f"with care: {where} on {cores}: {listed}.")
    return [*versions.values(), *sentences.values()]


def odd(values):
    """Of [(name, value, run), ...] those that are not what most are."""
    by_name = defaultdict(list)
    for name, value, run in values:
        by_name[name].append((value if isinstance(value, (int, str)) else repr(value), run))
    for name, all_values in by_name.items():
        # the first of those that are equally many
        usual = Counter(value for value, _ in all_values).most_common(1)[0][0]
        yield from ((name, usual, value, run) for value, run in all_values if value != usual)


def section(report, name):
    return report[name] if isinstance(report.get(name), dict) else {}


def look_at_model(mode, runs):
    """Steps, grid, options: equal."""
    for run in runs:
        report = run["report"]
        yield "program", "nunatak" if "timers" in report else "nunatak-io", run
        if "timers" not in report:
            continue
        yield "steps", report.get("steps"), run
        yield "ended_early", report.get("ended_early", ""), run
        grid = section(report, "grid")
        yield from ((f"grid {m}", grid.get(m), run)
                    for m in (["Mx", "My", "Mz"] if mode == "strong" else ["Mz"]))
        left_out = NOT_WORK | (GRID if mode == "weak" else set())
        for name, value in section(report, "options").items():
            if name not in left_out and not name.startswith(("io_", "grid_p")):
                yield f"option {name}", value, run


def look_at_output(mode, runs):
    """nunatak-io: workload and bytes."""
    for run in runs:
        workload = section(run["report"], "workload")
        for name in (("name", "scale", "records", "text") if mode == "strong"
                     else ("name", "records")):
            yield f"workload {name}", workload.get(name), run
        for method in run["report"].get("methods", []):
            if mode == "strong":
                yield f"payload of {method['method']}", method.get("payload_bytes"), run


def look_at_volume(mode, runs):
    """What came out, to the tolerance of the solver of the stress balance."""
    volumes = {id(run): section(run["report"], "mass_budget").get("volume_end_km3") for run in runs}
    found = sorted(volume for volume in volumes.values() if parts.is_number(volume))
    middle = found[len(found) // 2] if found else None
    for run in runs:
        volume = volumes[id(run)]
        if mode == "strong" and parts.is_number(volume):
            yield ("volume_end_km3",
                   middle if math.isclose(volume, middle, rel_tol=VOLUME) else volume, run)


def look_at_cells(mode, runs):
    """What the line of the run says against what the report says; cells per core in weak
    scaling."""
    per_core = {}
    for run in runs:
        grid = section(run["report"], "grid")
        points = [grid.get(m) for m in ("Mx", "My")]
        done = math.prod(points) if all(isinstance(n, int) for n in points) else run["cells"]
        if run["cells"] is None:
            run["cells"] = done
        yield ("cells as planned",
               "yes" if done == run["cells"] else f"{done} instead of {run['cells']}", run)
        if done and mode == "weak":
            per_core[id(run)] = done / run["cores"]
    middle = sorted(per_core.values())[len(per_core) // 2] if per_core else 1.0
    for run in runs:
        if id(run) in per_core:
            cells = per_core[id(run)]
            yield ("cells per core", round(middle) if abs(cells / middle - 1) <= CELLS_PER_CORE
                   else round(cells), run)


LOOKS = [look_at_model, look_at_output, look_at_volume, look_at_cells]
