#!/usr/bin/env python3
"""The labs of docs/course, cut from the sources of this project and graded by one command.

    scripts/lab.py first [--picture FILE]
        lab 0 on a machine with a C++ compiler, CMake and Python alone
    scripts/lab.py list [--json]
        all labs
    scripts/lab.py start N DIR [--seed S]
        a tree with the holes of lab N, and the questions for the seed S
    scripts/lab.py check DIR
        status 0 if the work in DIR is right
    scripts/lab.py grade FOLDER [--json FILE]
        the same for each folder in FOLDER
    scripts/lab.py verify [--lab N]
        do the labs hold? skeletons fail, the source passes, mutants fail

A hole is what lies between two comments of the real source:

    // lab 2 begin: TASK | stub: STATEMENT
    // lab 2 end

A skeleton has the statement in its place. What is known of each lab (its checks, questions,
mutants) is in tests/course/labs.json; what is compiled is in tests/course/CMakeLists.txt. Work is
checked in build/course (or NUNATAK_COURSE_BUILD), whose folder labs/N holds the edited files of lab
N; the compiler searches it before the source. No other file of a submission is used.
"""

import argparse
import contextlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SOURCE / "scripts/course"))
import measured  # noqa: E402
import study  # noqa: E402
import verification  # noqa: E402
from holes import chosen, lab_of, labs, of_file, skeletons, with_mutants, without  # noqa: E402
from picture import serpentine, write_svg  # noqa: E402
from workshop import (BUILD, DEPS, Problem, build, build_folder, compiled, has,  # noqa: E402
                      place, program, run, run_check)
from scaling_study import texts  # noqa: E402

KEPT_FROM_STUDENTS = re.compile(
    r"tests/course/(?!CMakeLists\.txt$|\w+\.cpp$)|scripts/(course/|lab\.py$)|\.ci/")
COMPILE_SECONDS = 600  # limit for one submission
LARGEST_SEED = 10**6


# --- answers --------------------------------------------------------------------------------------


def names_of(lab, seed):
    names = {"seed": seed}
    for name, value in lab["with"].items():
        names[name] = eval(value, {"__builtins__": {}}, names)
    return names


def questions(lab, seed):
    """The questions with the numbers of the seed in their words and commands."""
    names = names_of(lab, seed)
    def filled(q):
        right = eval(q["right"], {"__builtins__": {"int": int}}, names) if "right" in q else None
        return {**q, "ask": q["ask"].format(**names),
                "run": q.get("run", "").format(**names).split(),
                "measure": q.get("measure", "").format(**names).split(), "right": right}
    return [filled(q) for q in lab["questions"]]


def distance_runs(*options):
    """What nunatak-distance reports of its runs."""
    with tempfile.TemporaryDirectory() as folder:
        status, output = run([program("nunatak-distance"), *options, "-report", "out.json"], 300,
                             folder)
        if status != 0:
            raise Problem(f"nunatak-distance {shlex.join(options)}: status {status}\n{output}")
        return json.loads(pathlib.Path(folder, "out.json").read_text())["runs"]


def right_answers(lab, seed):
    """{name: number}; None where the program that counts is not here."""
    found, results = {}, {}
    for q in questions(lab, seed):
        if q["measure"]:
            try:
                found[q["name"]] = measured.measure(q["measure"])
            except measured.Missing as missing:
                found[q["name"]] = None
                print(f"lab {lab['number']}: {q['name']} is not graded: {missing} is not here "
                      "(NUNATAK_PROGRAMS: the folder of a full build, such as build/release)")
            continue
        if q["right"] is not None:
            found[q["name"]] = q["right"]
            continue
        if tuple(q["run"]) not in results:
            results[tuple(q["run"])] = distance_runs(*q["run"])[0]
        found[q["name"]] = results[tuple(q["run"])][q["take"]] * q.get("times", 1)
    return found


def mark_answers(lab, seed, given):
    expected, marks = right_answers(lab, seed), []
    for q in questions(lab, seed):
        right, found = expected[q["name"]], given.get(q["name"])
        is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
        is_right = (right is None or is_number and
                    abs(found - right) <= q.get("within", 0) * abs(right))
        marks.append({"name": q["name"], "ask": q["ask"], "expected": right, "found": found,
                      "right": is_right, "graded": right is not None})
    return marks


# --- submissions ----------------------------------------------------------------------------------


def started_text(path, number):
    """A file as `start` writes it, or None."""
    if KEPT_FROM_STUDENTS.match(path) or not (SOURCE / path).is_file():
        return None
    data = (SOURCE / path).read_bytes()
    if not any(path in lab["holes"] for lab in labs()):
        return data
    return without(data.decode(), number, path)[0].encode()


def read(folder, name, empty):
    """A JSON object from a submission."""
    path = folder / name
    try:
        found = texts.parsed(texts.text_of(path)) if path.exists() else empty
    except OSError as error:
        raise Problem(
            f"{name}: expected a file that can be read, found none: {error.strerror}") from None
    except ValueError as error:
        raise Problem(f"{name}: expected JSON, in which a number has a point, not a comma, and "
                      f"each entry but the last ends in a comma; found: {error}") from None
    if not isinstance(found, dict):
        raise Problem(f"{name}: expected an object, found {type(found).__name__}")
    return found


def judge(folder, seeds=None):
    """Everything there is to say about a submission."""
    result = {"submission": folder.name, "lab": None, "seed": None, "passed": False, "error": None,
              "checks": [], "answers": [], "ignored": []}
    try:
        ticket = read(folder, "lab.json", {})
        lab, seed = lab_of(ticket.get("lab")), ticket.get("seed")
        if not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
            raise Problem(f"lab.json: expected the seed as a whole number up to {LARGEST_SEED}, "
                          f"found {str(seed)[:40]}")
        if seeds and seeds.get(folder.name) != seed:
            raise Problem(f"lab.json: expected the seed {seeds.get(folder.name)}, found {seed}")
        result.update(lab=lab["number"], seed=seed)
        files = read_files(folder, lab, result["ignored"])
        missing = [path for path in lab["holes"] if path not in files]
        if missing:
            raise Problem(f"expected the file {missing[0]}, found none")
        result["ignored"] += [f"{path} (nothing written)"
                              for path in without_second_part(lab, files)]
        result["checks"] = (marks_of_checks(lab, files) +
                            (study.check(folder) if lab.get("study") else []))
        given = read(folder, "answers.json", {})
        result["answers"] = mark_answers(lab, seed, given)
        result["ignored"] += [f"'{name}' in answers.json"
                              for name in set(given) - {q["name"] for q in lab["questions"]}]
        result["passed"] = not result["checks"] and all(a["right"] for a in result["answers"])
    except Problem as problem:
        result["error"] = str(problem)
    return result


def read_files(folder, lab, ignored):
    """{path: text} of the files with holes; the names of others that are not as `start` wrote them
    go to `ignored`."""
    files = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if (path.is_symlink() or not path.is_file() or
            name.split("/")[0] in ("build", ".git", "study", "synthetic") or
            name in ("lab.json", "answers.json", "study.json")):
            continue
        try:
            if name in lab["holes"]:
                files[name] = path.read_text(encoding="utf-8-sig", errors="replace")
            elif path.read_bytes() != started_text(name, lab["number"]):
                ignored.append(name)
        except OSError as error:
            raise Problem(f"{name}: expected a file that can be read: {error.strerror}") from None
    return files


def without_second_part(lab, files):
    """Files with a check of their own, for those who have what it needs, that are as `start` writes
    them: their checks are left out."""
    return [c["of"] for c in lab["checks"] if "of" in c and "needs" in c and
            files[c["of"]] == skeletons(lab)[c["of"]]]


def marks_of_checks(lab, files):
    """Failures of all checks of a lab with these files."""
    if files and files == skeletons(lab):
        return [{"test": ", ".join(lab["holes"]), "expected": "your code",
                 "found": f"lab {lab['number']}: not written yet"}]
    place(lab, files)
    left_out = without_second_part(lab, files)
    checks = [c for c in lab["checks"] if c.get("of") not in left_out and
              ("script" in c or has(c.get("needs")))]
    broken = build(compiled(checks), COMPILE_SECONDS) if compiled(checks) else {}
    failures = [{"test": name, "expected": "a file that compiles", "found": said}
                for name, said in broken.items()]
    for check in checks:
        if check["program"] not in broken:
            of_right_code = (" (your code has passed: the property does not hold)"
                             if "against" in check and not failures else "")
            failures += [{**f, "test": f["test"] + of_right_code} for f in run_check(check)]
    for check in [] if failures else [c for c in checks if "against" in c]:  # a test that is tested
        own = {path: text for path, text in files.items() if path != check["against"]}
        place(lab, {**with_mutants(lab), **own})
        build_all([check["program"]])
        for mutant in of_file(lab, check["against"]):
            with chosen(lab, [mutant]):
                if not run_check(check):
                    failures.append({"test": check["program"], "expected": "a test that fails "
                                     f"with the mistake '{mutant['name']}'", "found": "it passes"})
    return failures


def say(result, tell=True):
    """In words; right answers only if `tell`, which is for lecturers."""
    print(f"{result['submission']}: lab {result['lab']}, seed {result['seed']}: "
          f"{'passed' if result['passed'] else 'NOT PASSED'}")
    for failure in result["checks"]:
        print(f"  {failure['test']}: expected {failure['expected']}\n    found {failure['found']}")
    for answer in result["answers"]:
        if not answer["right"]:
            is_number = (isinstance(answer["found"], (int, float)) and
                         not isinstance(answer["found"], bool))
            said = ("not answered" if answer["found"] is None else f"{answer['found']} is not right"
                    if is_number else f"expected a number, found {answer['found']!r}")
            print(f"  answer {answer['name']}: " +
                  (f"expected {answer['expected']}, found {answer['found']}" if tell
                   else f"{said}: {answer['ask']}"))
    if not result["passed"] and not result["checks"] and result["answers"]:
        print(f"  right: code and {sum(a['right'] for a in result['answers'])} of "
              f"{len(result['answers'])} answers")
    if result["ignored"]:
        print(f"  not used: {', '.join(sorted(result['ignored']))}")
    if result["error"]:
        print(f"  {result['error']}")


def needed_programs(some):
    """What is built for these labs apart from their checks."""
    checked = any(compiled(lab["checks"]) for lab in some)
    counted = any("run" in q for lab in some for q in lab["questions"])
    return ["course_main"] * checked + ["nunatak-distance"] * counted


# --- the commands ---------------------------------------------------------------------------------


def own_files():
    """The files of the source, with git or (an unpacked archive, no git) without."""
    git = shutil.which("git")
    listed = (subprocess.run([git, "ls-files"], cwd=SOURCE, capture_output=True, text=True) if git
              else None)
    if listed and listed.stdout:
        return listed.stdout.split()
    every = (p.relative_to(SOURCE) for p in SOURCE.rglob("*"))
    return [p.as_posix() for p in every if not {"build", ".git", "__pycache__"} & set(p.parts)]


def start(options):
    lab, target = lab_of(options.lab), pathlib.Path(options.folder)
    if not 0 <= options.seed <= LARGEST_SEED:
        raise Problem(f"--seed: expected a whole number up to {LARGEST_SEED}, found {options.seed}")
    if target.exists() and any(target.iterdir()):
        raise Problem(f"folder '{target}': expected it to be new or empty, found files")
    paths = own_files()
    skeletons(lab)
    for path in paths:
        data = started_text(path, lab["number"])
        if data is not None:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(data)
            shutil.copymode(SOURCE / path, target / path)
    (target / "build").mkdir(exist_ok=True)
    (target / "build/deps").symlink_to(DEPS)
    if lab.get("synthetic"):
        study.write(target / "synthetic", options.seed, names_of(lab, options.seed))
    asked = {q["name"]: q["ask"] for q in questions(lab, options.seed)}
    (target / "lab.json").write_text(json.dumps({"lab": lab["number"], "seed": options.seed,
                                                 "questions": asked}, indent=2) + "\n")
    (target / "answers.json").write_text(json.dumps(dict.fromkeys(asked), indent=2) + "\n")
    print(f"lab {lab['number']}: {lab['title']}; seed {options.seed}; the page: "
          f"docs/course/{lab['page']}")
    for path in lab["holes"]:
        print(f"  to be written in {target}/{path}: look for 'not written yet'")
    for name, ask in asked.items():
        print(f"  to be answered in {target}/answers.json: {name}: {ask}")
    print(f"then, here: scripts/lab.py check {target}")
    if (lab["checks"] or needed_programs([lab])) and not (BUILD / "tests").exists():
        print("  the first check builds for minutes: start it now, and read the page meanwhile")


def check(options):
    folder = pathlib.Path(options.folder).resolve()
    if not (folder / "lab.json").is_file():
        raise Problem(
            f"folder '{folder}': expected lab.json, which `lab.py start` writes, found none")
    lab = lab_of(read(folder, "lab.json", {}).get("lab"))
    with build_folder(labs()) if lab["checks"] or needed_programs(
        [lab]) else contextlib.nullcontext():
        print(f"lab {lab['number']}: builds "
              f"{', '.join(needed_programs([lab]) + compiled(lab['checks'])) or 'nothing'}, "
              "and checks", flush=True)
        build_all(needed_programs([lab]))
        result = judge(folder)
    say(result, tell=False)
    return 0 if result["passed"] else 1


def build_all(names):
    broken = build(names, 1800) if names else {}
    if broken:
        raise Problem(f"the source does not build: {broken}")


def grade(options):
    folders = sorted(f for f in pathlib.Path(options.folder).iterdir() if f.is_dir())
    seeds = (json.loads(pathlib.Path(options.seeds).read_text(encoding="utf-8-sig"))
             if options.seeds else None)
    results = []
    with build_folder(labs()):
        build_all(needed_programs(labs()))
        for folder in folders:
            results.append(judge(folder, seeds))
            say(results[-1])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=2) + "\n")
    print(f"{sum(r['passed'] for r in results)} of {len(results)} passed")


def list_labs(options):
    if options.json:
        keys = ("number", "title", "page", "minutes", "needs", "holes", "asserted")
        print(json.dumps([{**{k: lab[k] for k in keys}, "mutants": len(lab["mutants"])}
                          for lab in labs()], indent=2))
        return
    for lab in labs():
        print(f"{lab['number']:3}  {lab['title']:45} {lab['minutes']:4} min  "
              f"{', '.join(lab['needs']):20} {', '.join(lab['holes']) or '-'}")


def verify(options):
    chosen = [lab for lab in labs() if options.lab in (None, lab["number"])]
    with build_folder(labs()):
        build_all(needed_programs(chosen))
        wrong = verification.run_all(chosen)
        wrong += [f"lab {lab['number']}: seeds 17 and 18 have the same answers" for lab in chosen
                  if lab["questions"] and right_answers(lab, 17) == right_answers(lab, 18)]
    for line in wrong:
        print(line)
    print(f"{len(chosen)} labs, {len(wrong)} wrong")
    return 1 if wrong else 0


def first(options):
    begin = time.monotonic()
    with build_folder(labs()):
        build_all(["nunatak-distance"])
        rounds = {}
        for solver, ranks in (("sweep", "1"), ("bfs", "1,16,256")):
            for found in distance_runs("-mask", "serpentine", "-seeds", "corner", "-solvers",
                                       solver, "-virtual_ranks", ranks):
                rounds[solver, found["ranks"]] = found["rounds"]
    path = serpentine(201)
    for (solver, ranks), count in rounds.items():
        parts = round(ranks ** 0.5)
        boundaries = sum((a[0] * parts // 201, a[1] * parts // 201) !=
                         (b[0] * parts // 201, b[1] * parts // 201) for a, b in zip(path, path[1:]))
        print(f"{solver:6} on {ranks:4} ranks: {count:6} rounds   (the path has {len(path)} cells "
              f"and crosses {boundaries} boundaries)")
    write_svg(options.picture, 201, 4)
    print(f"{options.picture}: the path, and the boundaries of 4 x 4 patches (a browser shows it); "
          f"{time.monotonic() - begin:.0f} s in all")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    def command(function, name, *arguments):
        sub = commands.add_parser(name)
        sub.set_defaults(function=function)
        for flags, settings in arguments:
            sub.add_argument(*flags, **settings)
    folder = (("folder",), {})
    command(first, "first", (("--picture",), {"default": "first.svg"}))
    command(list_labs, "list", (("--json",), {"action": "store_true"}))
    command(start, "start", (("lab",), {"type": int}), folder,
            (("--seed",), {"type": int, "default": 1}))
    command(check, "check", folder)
    command(grade, "grade", folder, (("--json",), {}),
            (("--seeds",), {"help": "JSON file {folder: seed}: who was given which seed"}))
    command(verify, "verify", (("--lab",), {"type": int}))
    options = parser.parse_args()
    try:
        return options.function(options) or 0
    except (Problem, OSError, subprocess.CalledProcessError) as problem:
        print(f"lab.py: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
