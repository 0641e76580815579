"""The labs of tests/course/labs.json, and the holes that their markers cut into the sources:
skeletons, and mutants."""

import contextlib
import json
import os
import re

from workshop import SOURCE, Problem

BEGIN = re.compile(r"\s*(?P<comment>//|#|!) lab (\d+) begin: (.*) \| stub: (.*)$")
END = re.compile(r"\s*(//|#|!) lab (\d+) end$")


def labs():
    return json.loads((SOURCE / "tests/course/labs.json").read_text())


def lab_of(number):
    found = [lab for lab in labs() if lab["number"] == number]
    if not found:
        raise Problem(
            f"lab {number}: expected one of {', '.join(str(lab['number']) for lab in labs())}")
    return found[0]


def without(text, number, path, fill=None):
    """(text without the holes of lab `number` and without all markers, list of the holes' lines).
    The n-th hole has its stub in its place, or the lines fill(n, its lines, its stub)."""
    out, holes, inside = [], [], None
    for n, line in enumerate(text.splitlines(), 1):
        begin, end = BEGIN.match(line), END.match(line)
        if begin and inside is not None or end and int(end[2]) != inside:
            raise Problem(f"{path}:{n}: expected 'lab {inside} end', found '{line.strip()}'")
        if begin:
            inside = int(begin[2])
            if inside == number:
                holes.append([])
                stub = (f"{line[:len(line) - len(line.lstrip())]}{begin[4]} {begin['comment']} lab "
                        f"{number}: {begin[3]}")
        elif end:
            if inside == number:
                out += fill(len(holes) - 1, holes[-1], stub) if fill else [stub]
            inside = None
        elif inside == number and number is not None:
            holes[-1].append(line)
        else:
            out.append(line)
    if inside is not None:
        raise Problem(f"{path}: expected 'lab {inside} end', found the end of the file")
    return "\n".join(out) + "\n", holes


def skeletons(lab):
    """{path: text} of the files that a student edits. Checks that their holes are there, and that
    no line of a hole remains."""
    files = {}
    for path, expected in lab["holes"].items():
        text, holes = without((SOURCE / path).read_text(), lab["number"], path)
        if len(holes) != expected or not all(holes):
            raise Problem(f"{path}: expected {expected} holes of lab {lab['number']} with code in "
                          f"them, found {sum(map(bool, holes))}")
        left = {line.strip() for line in text.splitlines()}
        kept = [line for hole in holes for line in hole if len(line.strip()) > 20 and
                line[-1] != "{" and line.strip() in left]
        if kept:
            raise Problem(f"{path}: a line of the hole of lab {lab['number']} is in the skeleton: "
                          f"{kept[0].strip()}")
        files[path] = text
    return files


def sources(lab):
    return {path: (SOURCE / path).read_text() for path in lab["holes"]}


def mutate(lab, mutant):
    """The sources with one mistake."""
    files = sources(lab)
    path = mutant.get("file", next(iter(files)))
    if files[path].count(mutant["old"]) != 1:
        raise Problem(f"lab {lab['number']}, mutant '{mutant['name']}': expected its text once in "
                      f"{path}, found it {files[path].count(mutant['old'])} times")
    files[path] = files[path].replace(mutant["old"], mutant["new"])
    return files


def of_file(lab, path):
    return [m for m in lab["mutants"] if m.get("file", next(iter(lab["holes"]))) == path]


def changes(lab, path):
    """For each hole of a file {mutant's bit: its lines}."""
    rest, holes = without((SOURCE / path).read_text(), lab["number"], path)
    found = [{} for _ in holes]
    for mutant in of_file(lab, path):
        other, changed = without(mutate(lab, mutant)[path], lab["number"], path)
        where = [n for n, lines in enumerate(changed) if lines != holes[n]]
        if other != rest or len(where) != 1:
            raise Problem(f"lab {lab['number']}, mutant '{mutant['name']}': expected a change in "
                          f"one hole of {path}")
        found[where[0]][bit(lab, mutant)] = changed[where[0]]
    return found


# Mutants are compiled together, and the stub as one more. The sum of bits LAB_MUTANTS says when a
# program starts which of them run.
SWITCH = """#ifndef LAB_MUTANTS
#define LAB_MUTANTS
#include <cstdlib>
inline const int lab_mutants =
    std::getenv("LAB_MUTANTS") ? std::atoi(std::getenv("LAB_MUTANTS")) : 0;
#endif
"""


def bit(lab, mutant):
    """Of a mutant; None: the stub in each hole."""
    return 1 << (len(lab["mutants"]) if mutant is None else lab["mutants"].index(mutant))


@contextlib.contextmanager
def chosen(lab, mutants):
    """Programs that start meanwhile run these mutants."""
    os.environ["LAB_MUTANTS"] = str(sum(bit(lab, mutant) for mutant in mutants))
    try:
        yield
    finally:
        del os.environ["LAB_MUTANTS"]


def with_mutants(lab):
    """The sources with their mutants. In a lab in several languages (lab 11) those that are not
    verified are skeletons: each takes a compiler's time."""
    files = skeletons(lab)
    for path in lab.get("verified", files):
        found = changes(lab, path)

        def branches(n, lines, stub):
            found[n][bit(lab, None)] = [stub]
            if not path.endswith(".py"):
                return [*(line for bit, changed in found[n].items()
                          for line in (f"if (lab_mutants & {bit}) {{", *changed, "} else")), "{",
                        *lines, "}"]
            indent = re.match(" *", lines[0])[0]
            conditions = [f"{indent}elif int(__import__('os').environ['LAB_MUTANTS']) & {bit}:"
                          for bit in found[n]]
            written = [f"{indent}if False:", f"{indent}    pass"]
            for condition, changed in zip([*conditions, f"{indent}else:"],
                                          [*found[n].values(), lines]):
                written += [condition, *("    " + line for line in changed)]
            return written

        text = without((SOURCE / path).read_text(), lab["number"], path, branches)[0]
        files[path] = text if path.endswith(".py") else SWITCH + text
    return files
