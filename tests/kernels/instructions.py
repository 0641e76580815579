#!/usr/bin/env python3
"""The instructions of the hottest loops of a step, counted by callgrind, against those of instructions.json, within 5 %.

    instructions.py build/kernels/tests/kernels/instructions            compares; 4: no valgrind, or no counts of this compiler
    instructions.py build/kernels/tests/kernels/instructions --write    writes the counts that differ, of this compiler

A count is the mean over the calls of one step of tests/kernels/sheet.hpp. It depends on the compiler, so that the table has counts of
each (its version, and whether the processor has AVX2, which arrays of exponentials use)."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("instructions.json")
TOLERANCE = 0.05
SKIP = 4


def count(program):
    """(compiler, {label: instructions per call})"""
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder) / "dump"
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--combine-dumps=yes", f"--callgrind-out-file={dump}", program]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: expected exit status 0, found {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip(), per_call(dump.read_text())


def per_call(dump):
    """Of the dumps of callgrind, one after another, each named by what was asked for."""
    counts = collections.defaultdict(list)
    for label, instructions in re.findall(r"^desc: Trigger: Client Request: (.*)$(?:\n(?!part:).*)*?\nsummary: (\d+)$", dump, re.M):
        counts[label].append(int(instructions))
    return {label: round(sum(calls) / len(calls)) for label, calls in counts.items()}


def within(found, expected):
    return abs(found - expected) <= TOLERANCE * expected


def differences(expected, found):
    """A line per loop that is not within the tolerance."""
    lines = []
    for label, was in expected.items():
        if label not in found:
            lines.append(f"'{label}': expected {was} instructions per call, found no loop of this label")
        elif not within(found[label], was):
            change = f"{100 * (found[label] / was - 1):+.1f} %"
            lines.append(f"'{label}': expected {was} instructions per call within {TOLERANCE:.0%}, found {found[label]} ({change})")
    return lines


def main(program, write):
    if shutil.which("valgrind") is None:
        print("skipped: expected valgrind, found none (scripts/setup.sh installs it)")
        return SKIP
    table = json.loads(TABLE.read_text())
    compiler, found = count(program)
    if not found:
        print("skipped: this program was compiled without valgrind/callgrind.h")
        return SKIP
    if write:
        before = table.get(compiler, {})
        table[compiler] = {label: before[label] if label in before and within(found[label], before[label]) else found[label]
                           for label in next(iter(table.values()))}
        TABLE.write_text(json.dumps(table, indent=2) + "\n")
        return 0
    if compiler not in table:
        print(f"skipped: {TABLE.name} has counts of {', '.join(table)}, and none of {compiler}")
        return SKIP
    wrong = differences(table[compiler], found)
    print("\n".join(wrong))
    if wrong:
        print(f"{len(wrong)} of {len(table[compiler])} loops. More: find out why. Less, or meant to be so: {TABLE.name} by --write, in the same commit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv[2:]))
