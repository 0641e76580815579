"""tests/kernels/instructions.py: what it reads out of callgrind's dumps, and what it finds fault with."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernels"))

import instructions  # noqa: E402

DUMP = """# callgrind format
part: 1
desc: Trigger: Client Request: ssa: drag
positions: line
summary: 90

part: 2
desc: Trigger: Client Request: till
summary: 7

part: 3
desc: Trigger: Client Request: ssa: drag
summary: 110

totals: 207
part: 4
desc: Trigger: Program termination
summary: 5
"""


def test_counts_are_means_over_calls():
    assert instructions.per_call(DUMP) == {"ssa: drag": 100, "till": 7}


def test_differences_name_the_loop_and_both_counts():
    expected = {"till": 100, "temperature": 1000}
    assert instructions.differences(expected, {"till": 105, "temperature": 950, "new": 3}) == []
    slower, = instructions.differences(expected, {"till": 106, "temperature": 1000})
    assert slower == "'till': expected 100 instructions per call within 5%, found 106 (+6.0 %)"
    faster, = instructions.differences(expected, {"till": 100, "temperature": 900})
    assert "'temperature'" in faster and "-10.0 %" in faster
    gone, = instructions.differences(expected, {"till": 100})
    assert "'temperature'" in gone and "found no loop of this label" in gone
