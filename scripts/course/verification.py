"""Do the labs hold? Of each, these cases: the source, which passes; the skeleton, which fails in words; mutants, which fail.

The n-th cases of all labs are compiled together. The sources come first; what must fail may then take four times as long, and 2 s more: some
mutants never end. In a lab where a student writes a test ("against"), a mutant of the test is weak: it must let a mistake pass that the
test of the source finds.
"""

import re
import time

from holes import mutate, of_file, skeletons, sources, without
from workshop import RUN_SECONDS, SOURCE, build, compiled, has, place, run_check


def known(lab, files):
    """In a lab of one hole in several languages (lab 11) only one of them is filled: each of the others takes a compiler's time."""
    return {**skeletons(lab), **{p: t for p, t in files.items() if p in lab.get("verified", files)}}


def cases(lab):
    """(name, files, checks, what each check must do) of everything that is tried with a lab."""
    checks = [c for c in lab["checks"] if has(c.get("needs"))]
    yield "the source", known(lab, sources(lab)), checks, "pass"
    yield "the skeleton", skeletons(lab), checks, "say"
    for mutant in lab["mutants"]:
        file, files = mutant.get("file", next(iter(lab["holes"]))), known(lab, mutate(lab, mutant))
        tested = [c for c in checks if c.get("against", file) != file]
        if tested:
            against = tested[0]["against"]
            files[against] = mutate(lab, of_file(lab, against)[0])[against]
            yield f"a weak test, '{mutant['name']}'", files, tested, "pass"
        else:
            with_its_own = {c["of"] for c in lab["checks"] if "of" in c}  # files
            tested = [c for c in checks if "against" in c or c.get("of", None if file in with_its_own else file) == file]
            yield f"mutant '{mutant['name']}'", files, tested, "fail"


def few_mutants(lab):
    """Holes with less than three mutants."""
    wrong = []
    for path in lab.get("verified", lab["holes"]):
        for n, hole in enumerate(without((SOURCE / path).read_text(), lab["number"], path)[1], 1):
            inside = sum(re.split("(?://|#|!) lab", m["old"])[0].strip() in "\n".join(hole) for m in of_file(lab, path))
            if inside < 3:
                wrong.append(f"lab {lab['number']}: {path}, hole {n}: expected at least 3 mutants, found {inside}")
    return wrong


def run_all(labs):
    """What is wrong with these labs, in words."""
    wrong = [line for lab in labs for line in few_mutants(lab)]
    all_cases = {lab["number"]: list(cases(lab)) for lab in labs if lab["holes"]}
    took = {}  # seconds of the source, by program
    for number in range(max(map(len, all_cases.values()), default=0)):
        now = [(lab, all_cases[lab["number"]][number]) for lab in labs if number < len(all_cases.get(lab["number"], []))]
        for lab, (_, files, _, _) in now:
            place(lab, files)
        broken = build([p for _, (_, _, checks, _) in now for p in compiled(checks)], 1800)
        for lab, (name, _, checks, must) in now:
            where = f"lab {lab['number']}: {name}"
            failures = {}
            for c in checks:
                begin, p = time.monotonic(), c["program"]
                if p not in broken:
                    limit = 4 * took[p] + 2 if must == "fail" and p in took else RUN_SECONDS
                    failures[p] = run_check(c, min(limit, RUN_SECONDS))
                    took.setdefault(p, time.monotonic() - begin)
            print(f"{where}: {', '.join(p + (' fails' if f else ' passes') for p, f in failures.items())}", flush=True)
            wrong += [f"{where}: {c['program']} does not compile: {broken[c['program']]}" for c in checks if c["program"] in broken]
            words = f"lab {lab['number']}: not written yet"
            right = {"pass": lambda f: not f, "say": lambda f: words in str(f), "fail": bool}[must]
            expected = {"pass": "pass", "say": f"say '{words}'", "fail": "fail"}[must]
            wrong += [f"{where}: expected {p} to {expected}, found {f or 'that it passes'}" for p, f in failures.items() if not right(f)]
    for lab in labs:
        place(lab, sources(lab))
    return wrong
