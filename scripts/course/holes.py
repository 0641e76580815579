"""The labs of tests/course/labs.json, and the holes that their markers cut into the sources: skeletons, and mutants."""

import json
import re

from workshop import SOURCE, Problem

BEGIN = re.compile(r"\s*(?P<comment>//|#|!) lab (\d+) begin: (.*) \| stub: (.*)$")
END = re.compile(r"\s*(//|#|!) lab (\d+) end$")


def labs():
    return json.loads((SOURCE / "tests/course/labs.json").read_text())


def lab_of(number):
    found = [lab for lab in labs() if lab["number"] == number]
    if not found:
        raise Problem(f"lab {number}: expected one of {', '.join(str(lab['number']) for lab in labs())}")
    return found[0]


def without(text, number, path):
    """(text without the holes of lab `number` and without all markers, list of the holes' lines)."""
    out, holes, inside = [], [], None
    for n, line in enumerate(text.splitlines(), 1):
        begin, end = BEGIN.match(line), END.match(line)
        if begin and inside is not None or end and int(end[2]) != inside:
            raise Problem(f"{path}:{n}: expected 'lab {inside} end', found '{line.strip()}'")
        if begin:
            inside = int(begin[2])
            if inside == number:
                holes.append([])
                out.append(f"{line[:len(line) - len(line.lstrip())]}{begin[4]} {begin['comment']} lab {number}: {begin[3]}")
        elif end:
            inside = None
        elif inside == number and number is not None:
            holes[-1].append(line)
        else:
            out.append(line)
    if inside is not None:
        raise Problem(f"{path}: expected 'lab {inside} end', found the end of the file")
    return "\n".join(out) + "\n", holes


def skeletons(lab):
    """{path: text} of the files that a student edits. Checks that their holes are there, and that no line of a hole remains."""
    files = {}
    for path, expected in lab["holes"].items():
        text, holes = without((SOURCE / path).read_text(), lab["number"], path)
        if len(holes) != expected or not all(holes):
            raise Problem(f"{path}: expected {expected} holes of lab {lab['number']} with code in them, found {sum(map(bool, holes))}")
        left = {line.strip() for line in text.splitlines()}
        kept = [line for hole in holes for line in hole if len(line.strip()) > 20 and line[-1] != "{" and line.strip() in left]
        if kept:
            raise Problem(f"{path}: a line of the hole of lab {lab['number']} is in the skeleton: {kept[0].strip()}")
        files[path] = text
    return files


def sources(lab):
    return {path: (SOURCE / path).read_text() for path in lab["holes"]}


def mutate(lab, mutant):
    """The sources with one mistake."""
    files = sources(lab)
    path = mutant.get("file", next(iter(files)))
    if files[path].count(mutant["old"]) != 1:
        raise Problem(f"lab {lab['number']}, mutant '{mutant['name']}': expected its text once in {path}, found it {files[path].count(mutant['old'])} times")
    files[path] = files[path].replace(mutant["old"], mutant["new"])
    return files


def of_file(lab, path):
    return [m for m in lab["mutants"] if m.get("file", next(iter(lab["holes"]))) == path]
