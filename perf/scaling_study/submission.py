"""Submissions of the benchmark: `perf/study submit FOLDER...`, `check FILE`, `compare FILE...`. Their rules: docs/benchmark.md.

A submission is one JSON file: by size the machine and the runs, each with its line of runs.jsonl and its raw report; the sums of
all values of all files, of which the hash of the fields is made; the figure of merit, which a check computes anew.
"""
import datetime
import hashlib
import json
import pathlib
import statistics
import sys
from collections import defaultdict

from . import study_file

BENCHMARK = pathlib.Path(__file__).resolve().parents[1] / "studies" / "benchmark.yaml"
VERSION = "nunatak 1"
LINE = ("point", "nodes", "ranks", "ranks_per_node", "threads", "repetition", "status", "seconds", "elapsed", "oversubscribed",
        "load_average", "cpu_MHz", "energy_J", "raw")
FREE = ("io_", "grid_p", "grid_cut", "halo", "gpu_aware_mpi", "report", "verbose", "pico_distance")  # beginnings of options that may differ
MACHINE = ("system", "nodes", "cores_per_node", "cpu", "kernel", "file_system")
VERSIONS = ("nunatak", "commit", "compiler", "MPI", "PETSc", "Kokkos", "NetCDF-C", "PnetCDF")
LEAST = 3  # repetitions of a point
CLOCKS = 0.1  # s by which two clocks of one run may differ
UNKNOWN = "not yet known"  # the hash of a size that no run has computed
LONGEST = 1 << 30  # bytes of a submission
WRONG = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, StopIteration)  # of JSON that has another form


def rules_of(size):
    return study_file.read(BENCHMARK, size=size)[0]


def sums_of(manifest):
    """{file: {variable: [sum of each record]}} of the lines of manifest.jsonl, without lat and lon, which are the C library's."""
    files = {}
    for line in manifest.splitlines():
        entry = json.loads(line)
        first, sums = entry.get("first_record", 0), entry.get("sums", {})
        found = files[entry["name"]] = files.get(entry["name"], {}) if first else {}
        found.update({name: found.get(name, [])[:first] + new for name, new in sums.items() if name not in ("lat", "lon")})
    return files


def hash_of(sums):
    return hashlib.sha256(json.dumps(sums, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sypd(run):
    """The figure of merit of one run: its end is its last durable byte."""
    return 86400 * run["report"]["years"] / run["report"]["wall_seconds"]


def writes(run):
    return run["report"]["options"]["io_format"] != "null"


def points_of(runs):
    """{point: its runs that write}, in the order of the file."""
    points = defaultdict(list)
    for run in runs:
        if writes(run):
            points[run["point"]].append(run)
    return points


def figure_of(runs):
    """The point with the highest median."""
    medians = {point: statistics.median(map(sypd, of_point)) for point, of_point in points_of(runs).items()}
    best = max(medians, key=medians.get)
    return {"point": best, "SYPD": medians[best]}


# -- submit

def submit(arguments):
    from . import load  # which needs numpy; a check does not
    submission = {"benchmark": VERSION, "made": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "sizes": {},
                  "sums": {}}
    for folder in arguments.folders:
        study = load.read(folder)
        size = study.settings.get("size")
        if study.complaints or not study.runs or not size or size in submission["sizes"]:
            found = f"{folder}: expected results of a size of perf/studies/benchmark.yaml, one folder each, found size '{size}'"
            sys.exit("\n".join(f"study: error: {text}" for text in study.complaints or [found]))
        runs = []
        for run in study.runs:
            sums = sums_of((study.folder / run["manifest"]).read_text(encoding="utf-8")) if "manifest" in run else None
            digest = sums and hash_of(sums)
            submission["sums"].update({digest: sums} if sums else {})
            runs.append({**{key: run[key] for key in LINE if run.get(key) is not None}, "fields": digest, "report": run["report"]})
        submission["sizes"][size] = {"machine": study.machine, "runs": runs, "figure": figure_of(runs)}
    pathlib.Path(arguments.output).write_text(json.dumps(submission, indent=0) + "\n", encoding="utf-8")
    print(f"wrote {arguments.output}")
    arguments.file = arguments.output
    return check(arguments)


# -- check

class Check:
    """What is refused, as sentences."""

    def __init__(self):
        self.refused = []

    def expect(self, holds, where, expected, found):
        if not holds:
            self.refused.append(f"{where}: expected {expected}, found {str(found)[:200]}")

    def of(self, look, where, *arguments):
        """What has another form than that of `perf/study submit` is refused, too."""
        try:
            look(self, where, *arguments)
        except WRONG as error:
            self.refused.append(f"{where}: expected what `perf/study submit` writes, found none ({type(error).__name__}: {error})")


def checked(submission):
    """The sentences for which it is refused."""
    check = Check()
    check.of(look_at_all, "submission", submission)
    return check.refused


def look_at_all(check, where, submission):
    check.expect(submission["benchmark"] == VERSION, where, VERSION, submission["benchmark"])
    sizes = study_file.load(BENCHMARK)["sizes"]
    check.expect("XS" in submission["sizes"], where, "the size XS, which shows that the program computes the right fields", "none")
    for digest, sums in submission["sums"].items():
        check.expect(hash_of(sums) == digest, "sums", f"the hash {digest}", hash_of(sums))
    for size, one in submission["sizes"].items():
        check.expect(size in sizes, where, "one of the sizes " + ", ".join(sizes), size)
        if size in sizes:
            check.of(look_at_size, size, one, submission)


def look_at_size(check, where, one, submission):
    rules, runs = rules_of(where), one["runs"]
    for name in MACHINE:
        check.expect(one["machine"][name] not in (None, ""), where, f"{name} of the machine", "none")
    for name in ("nodes", "cores_per_node", "physical_cores"):
        number = one["machine"].get(name)
        check.expect(number is None or type(number) is int and number > 0, where, f"a number of {name} above 0", number)
    versions = [run["report"]["versions"] for run in runs]
    for name in VERSIONS:
        check.expect(all(v.get(name) for v in versions), where, f"the version of {name}", "none")
    check.expect(all(v == versions[0] for v in versions), where, "one version of everything in all runs", "several")
    reference = next(filter(writes, submission["sizes"]["XS"]["runs"]))["report"]
    check.expect(versions[0] == reference["versions"], where, "the versions of the size XS", "others")
    for run in runs:
        name = f"{where}, {run['point']}, repetition {run['repetition']}"
        check.of(look_at_times, name, run)
        check.of(look_at_work, name, run, rules, reference["options"])
        if writes(run):
            check.of(look_at_files, name, run, rules, submission["sums"])
    hashes = {run["fields"] for run in runs if writes(run)}
    check.expect(len(hashes) == 1, where, "the same fields in all runs", f"{len(hashes)} hashes")
    for point, of_point in points_of(runs).items():
        found = sorted(run["repetition"] for run in of_point)
        check.expect(len(found) >= LEAST and found == list(range(len(found))), f"{where}, {point}",
                     f"repetitions 0, 1, ..., at least {LEAST}", found)
    timers = [json.dumps(run["report"]["timers"], sort_keys=True) for run in runs]
    check.expect(len(set(timers)) == len(timers), where, "runs that were each made", "two with the same times")
    best, said = figure_of(runs), one["figure"]
    check.expect(said["point"] == best["point"] and abs(said["SYPD"] / best["SYPD"] - 1) < 1e-9, where,
                 f"{best['SYPD']:.6g} simulated years per day, years over time ({best['point']})", f"{said['SYPD']} ({said['point']})")


def look_at_times(check, where, run):
    """Durations that can be, within one another, by two clocks."""
    report = run["report"]
    wall = report["wall_seconds"]
    check.expect(wall > 0, where, "a time above 0", wall)
    check.expect(run["seconds"] == wall, where, f"the {wall} s of the report", run["seconds"])
    check.expect(run["elapsed"] >= wall - CLOCKS, where, f"{wall} s or more from outside, too", run["elapsed"])
    for name, t in {**report["timers"], **{f"phase {name}": t for name, t in report["output"]["phases"].items()}}.items():
        check.expect(0 <= t["min"] <= t["mean"] * (1 + 1e-9) and t["mean"] <= t["max"] * (1 + 1e-9) and t["max"] <= wall + CLOCKS, where,
                     f"0 <= min <= mean <= max <= the run in {name}", [t["min"], t["mean"], t["max"]])
    parts = sum(t["mean"] for t in report["timers"].values() if t["depth"] == 0)
    check.expect(parts <= wall * (1 + 1e-6), where, f"parts that make {wall} s at most", parts)
    ssa = sum(solve["seconds"] for solve in report["ssa"]["history"])
    check.expect(ssa <= report["timers"]["stress balance: SSA"]["max"] + CLOCKS, where, "solves within the time of their part", ssa)
    check.expect(len(run["load_average"]) == 2 and min(run["load_average"]) >= 0, where, "load averages before and after",
                 run["load_average"])


def look_at_work(check, where, run, rules, reference):
    """Ranks, grid, options, years, solves."""
    report, output = run["report"], run["report"]["output"]
    ranks, servers = report["ranks"], sum(group["servers"] for group in output["servers"])
    check.expect(run["status"] == "ok" and report["ended_early"] == "", where, "a run that went to its end", report["ended_early"])
    check.expect(ranks["size"] + servers == run["ranks"] and ranks["px"] * ranks["py"] == ranks["size"], where,
                 f"a report of {run['ranks']} ranks", f"{ranks['px']} x {ranks['py']} and {servers} servers")
    check.expect(not run["oversubscribed"], where, "a core for each rank", "more ranks than cores")
    for name in ("Mx", "My", "Mz"):
        check.expect(report["grid"][name] == int(rules["options"][f"grid_{name}"]), where, f"{rules['options'][f'grid_{name}']} {name}",
                     report["grid"][name])
    for name, value in report["options"].items():
        if name in rules["options"] and (writes(run) or not name.startswith("io_")):
            check.expect(same(rules["options"][name], value), where, f"-{name} {rules['options'][name]}", value)
        elif not name.startswith(FREE):
            check.expect(value == reference[name], where, f"-{name} as in the size XS, {reference[name]}", value)
    missing = rules["options"].keys() - report["options"].keys()
    check.expect(not missing, where, "the options of the benchmark", f"none of -{', -'.join(missing)}")
    check.expect(abs(report["years"] / float(rules["options"]["run_years"]) - 1) < 1e-9, where, f"{rules['options']['run_years']} years",
                 report["years"])
    solves = report["ssa"]["history"]
    check.expect(report["steps"] + 1 == report["ssa"]["solves"] == len(solves), where, "a solve for each step and one at the end",
                 [report["steps"], len(solves)])
    tolerance = float(rules["options"]["ssa_tolerance"])
    check.expect(all(solve["final_residual"] <= tolerance * solve["load"] for solve in solves), where,
                 f"residuals below {tolerance} of the load", "larger ones")
    check.expect(abs(report["mass_budget"]["closure"]) < 1e-12, where, "a closed mass budget", report["mass_budget"]["closure"])


def look_at_files(check, where, run, rules, all_sums):
    """The four classes, all records, fsync, the fields."""
    report, options = run["report"], rules["options"]
    output, sums = report["output"], all_sums[run["fields"]]
    years, every = (float(options[name]) for name in ("run_years", "snapshot_every"))
    records = {"series.nc": report["steps"], "spatial.nc": round(years / float(options["spatial_every"])) + 1, "result.nc": 1,
               **{f"snapshot_{n * every:09.3f}.nc": 1 for n in range(1, round(years / every) + 1)}}
    check.expect(sorted(sums) == sorted(records) == sorted(output["files"]), where, "the files " + ", ".join(sorted(records)), sorted(sums))
    for name, wanted in records.items():
        found = len(sums.get(name, {}).get("time", ()))
        check.expect(found == wanted, where, f"{wanted} records in {name}", found)
    syncs = [output["phases"]["fsync"], *({"operations": 1, "max": group["phases"]["fsync"]} for group in output["servers"])]
    check.expect(any(s["max"] > 0 for s in syncs) and (output["servers"] or syncs[0]["operations"] >= len(records)), where,
                 "an fsync for each file", syncs[0]["operations"])
    written = output["written_bytes"] + sum(group["written_bytes"] for group in output["servers"])
    check.expect(written > 0 and output["checksum"] == "values", where, "bytes written, with sums", [written, output["checksum"]])
    if rules["fields"] != UNKNOWN:
        check.expect(run["fields"] == rules["fields"], where, f"the fields {rules['fields'][:16]}...", run["fields"])


def same(text, value):
    """An option as the study has it and as the report has it."""
    if isinstance(value, bool):
        return value == (text == "yes")
    return float(text) == value if isinstance(value, (int, float)) else text == value


def read(path):
    try:
        file = pathlib.Path(path)
        if file.stat().st_size > LONGEST:
            raise ValueError(f"more than {LONGEST} bytes")
        submission = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(submission, dict):
            raise ValueError("no object")
        return submission
    except (OSError, ValueError, RecursionError) as error:
        sys.exit(f"study: error: file '{path}': expected a submission, found none: {error}")


def check(arguments):
    submission = read(arguments.file)
    refused = checked(submission)
    for sentence in refused:
        print("refused: " + "".join(c if c.isprintable() else "?" for c in sentence))
    if refused:
        return 1
    for size, one in submission["sizes"].items():
        fields = "not checked: no hash is known for this size" if rules_of(size)["fields"] == UNKNOWN else "right"
        print(f"{size}: {one['figure']['SYPD']:.4g} simulated years per day ({one['figure']['point']}); fields {fields}")
        for sentence in doubts(one):
            print(f"{size}: {sentence}")
    return 0


def doubts(one):
    """What does not refuse a submission, but weakens it."""
    machine = one["machine"]
    cores = machine.get("physical_cores") or machine["cores_per_node"]
    most = max(run["load_average"][0] for run in one["runs"])
    if machine.get("emulated"):
        yield "an emulated cluster: not to be compared with machines"
    if most > cores:
        yield f"a load average of {most:g} before a run, on {cores} cores: the machine was not quiet"


# -- compare

def compare(arguments):
    """A table in Markdown, a row for each size and submission."""
    head = ("Size", "Machine", "Ranks x threads", "Output", "SYPD", "least to most", "against the first", "CHSY", "cell steps/s/core", "MB/s",
            "of raw writes")
    print("| " + " | ".join(head) + " |\n|" + len(head) * "---|")
    submissions = [(path, read(path)) for path in arguments.files]
    bad = [path for path, submission in submissions if checked(submission)]
    first = {}
    for size in study_file.load(BENCHMARK)["sizes"]:
        for path, submission in submissions:
            if path not in bad and size in submission["sizes"]:
                one = submission["sizes"][size]
                print("| " + " | ".join([size, *row_of(one, first.setdefault(size, one))]) + " |")
    for path in bad:
        print(f"study: file '{path}' is left out: perf/study check refuses it", file=sys.stderr)
    return 1 if bad else 0


def row_of(one, first):
    runs, others = (points_of(s["runs"])[s["figure"]["point"]] for s in (one, first))
    report, output, cores = runs[0]["report"], runs[0]["report"]["output"], runs[0]["ranks"] * runs[0]["threads"]
    speeds, base = sorted(map(sypd, runs)), sorted(map(sypd, others))
    apart = speeds[0] > base[-1] or base[0] > speeds[-1]
    middle = statistics.median(speeds)
    seconds = 86400 * report["years"] / middle
    grid = report["grid"]
    rates = [(run["report"]["output"]["written_bytes"] / 1e6 / run["report"]["output"]["seconds"], run.get("raw")) for run in runs]
    rate = statistics.median(rate for rate, _ in rates)
    raw = [rate / (found["bytes"] / 1e6 / found["seconds"]["median"]) for rate, found in rates if found]
    return [one["machine"]["cpu"].replace("|", "/"), f"{runs[0]['ranks']} x {runs[0]['threads']}",
            "/".join(output[name] for name in ("format", "layout", "transport")), f"{middle:.4g}", f"{speeds[0]:.4g} to {speeds[-1]:.4g}",
            "-" if one is first else f"{middle / statistics.median(base):.2f}" if apart else "no difference",
            f"{cores * seconds / 3600 / report['years']:.3g}", f"{grid['Mx'] * grid['My'] * report['steps'] / seconds / cores:.3g}",
            "-" if output["servers"] else f"{rate:.0f}", f"{statistics.median(raw):.2f}" if raw and not output["servers"] else "-"]
