"""Do the labs hold? Of each, these cases: the source, which passes; mutants, which fail; the
skeleton, which fails in words.

Everything is compiled once: the source with all its mutants and the stubs, one of which is chosen
when a program starts. What must fail may take four times as long as the source, and 2 s more: some
mutants never end. In a lab where a student writes a test ("against"), a mutant of the test is weak:
it must let a mistake pass that the test of the source finds.
"""

import time

from holes import changes, chosen, of_file, with_mutants
from workshop import RUN_SECONDS, build, compiled, has, place, run_check


def cases(lab, checks):
    """(name, its mutants, checks, what each check must do) of all that is tried with the source of
    a lab."""
    yield "the source", [], checks, "pass"
    for mutant in lab["mutants"]:
        file = mutant.get("file", next(iter(lab["holes"])))
        tested = [c for c in checks if c.get("against", file) != file]
        if tested:
            yield (f"a weak test, '{mutant['name']}'",
                   [mutant, of_file(lab, tested[0]["against"])[0]], tested, "pass")
        else:
            with_its_own = {c["of"] for c in lab["checks"] if "of" in c}  # files
            tested = [c for c in checks if "against" in c or
                      c.get("of", None if file in with_its_own else file) == file]
            yield f"mutant '{mutant['name']}'", [mutant], tested, "fail"
    yield "the skeleton", [None], checks, "say"


def few_mutants(lab):
    """Holes with less than three mutants."""
    return ([
        f"lab {lab['number']}: {path}, hole {n}: expected at least 3 mutants, found {len(mutants)}"
        for path in lab.get("verified", lab["holes"])
        for n, mutants in enumerate(changes(lab, path), 1) if len(mutants) < 3])


def run_all(labs):
    """What is wrong with these labs, in words."""
    wrong = [line for lab in labs for line in few_mutants(lab)]
    took = {}  # seconds of the source, by program
    tried = [(lab, [c for c in lab["checks"] if has(c.get("needs"))])
             for lab in labs if lab["holes"]]
    for lab, _ in tried:
        place(lab, with_mutants(lab))
    broken = build([p for _, checks in tried for p in compiled(checks)], 1800)
    for lab, name, mutants, checks, must in [(lab, *case) for lab, checks in tried
                                             for case in cases(lab, checks)]:
        where, failures = f"lab {lab['number']}: {name}", {}
        for c in checks:
            begin, p = time.monotonic(), c["program"]
            if p not in broken:
                limit = 4 * took[p] + 2 if must == "fail" and p in took else RUN_SECONDS
                with chosen(lab, mutants):
                    failures[p] = run_check(c, min(limit, RUN_SECONDS))
                took.setdefault(p, time.monotonic() - begin)
        results = ", ".join(p + (" fails" if f else " passes") for p, f in failures.items())
        print(f"{where}: {results}", flush=True)
        wrong += [f"{where}: {c['program']} does not compile: {broken[c['program']]}"
                  for c in checks if c["program"] in broken]
        words = f"lab {lab['number']}: not written yet"
        right = {"pass": lambda f: not f, "say": lambda f: words in str(f), "fail": bool}[must]
        expected = {"pass": "pass", "say": f"say '{words}'", "fail": "fail"}[must]
        wrong += [f"{where}: expected {p} to {expected}, found {f or 'that it passes'}"
                  for p, f in failures.items() if not right(f)]
    return wrong
