"""The core of docs/reading-guide.md is what one reads in a weekend: all its files exist, and have at most 6000 lines. Its table of the
rooms says how much there is in all."""

import collections
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MOST_LINES = 6000
SUBJECTS = ["kernels/grid", "kernels/ice", "kernels/ssa", "kernels/labels", "kernels/distance", "kernels/pico", "io/formats", "miniapp/main.cpp"]


def core():
    text = (SOURCE / "docs/reading-guide.md").read_text()
    section = re.search(r"^## The core$(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert section, "docs/reading-guide.md: expected a section '## The core'"
    return re.findall(r"^- `([^`]+)`", section.group(1), re.MULTILINE)


def test_core_has_at_most_6000_lines():
    lines = {path: len((SOURCE / path).read_text().splitlines()) for path in core()}
    total = sum(lines.values())
    print(f"core: {len(lines)} files, {total} lines")
    assert total <= MOST_LINES, f"{total} lines; the longest: {sorted(lines.items(), key=lambda x: -x[1])[:5]}"


def test_core_covers_its_subjects():
    listed = core()
    assert len(listed) == len(set(listed)), "a file is listed twice"
    for subject in SUBJECTS:
        assert any(path.startswith(subject) for path in listed), f"no file of {subject} in the core"


def test_times_are_those_of_eight_lines_a_minute():
    text = (SOURCE / "docs/reading-guide.md").read_text()
    said = {path: int(minutes) for path, minutes in re.findall(r"^- `([^`]+)` \((\d+) min\)", text, re.MULTILINE)}
    assert set(core()) <= set(said)
    minutes = {path: len((SOURCE / path).read_text().splitlines()) / 8 for path in said}
    assert not {path: (said[path], minutes[path]) for path in said if abs(said[path] - minutes[path]) > max(1.0, minutes[path] / 10)}


def test_what_the_core_includes_beside():
    """As many headers and lines as the guide says, to a tenth."""
    listed, found = set(core()), set()
    for path in listed:
        found |= set(re.findall(r'#include "([^"]+)"', (SOURCE / path).read_text())) - listed
    text = (SOURCE / "docs/reading-guide.md").read_text().replace("\n", " ")
    headers, lines = re.search(r"includes beside, (\d+) headers with ([\d ]+) lines", text).groups()
    assert abs(int(headers) - len(found)) <= len(found) / 10
    have = sum(len((SOURCE / path).read_text().splitlines()) for path in found)
    assert abs(int(lines.replace(" ", "")) - have) <= have / 10, have


def lines_by_room():
    """Of the source, and of the core: by folder."""
    lines, of_core = collections.Counter(), collections.Counter()
    listed = set(core())
    for path in (p for top in ("kernels", "io", "miniapp") for p in (SOURCE / top).rglob("*") if p.suffix in (".cpp", ".hpp")):
        name = path.relative_to(SOURCE)
        room = "/".join(name.parts[:-1][:2])
        lines[room] += len(path.read_text().splitlines())
        if str(name) in listed:
            of_core[room] += len(path.read_text().splitlines())
    return lines, of_core


def test_the_table_of_rooms_says_how_many_lines_they_have():
    """To a tenth, or 50 lines: what changes every day is not copied there."""
    text = (SOURCE / "docs/reading-guide.md").read_text()
    rows = re.findall(r"^\| `([\w/]+)/` \| ([\d ]+) \| ([\d ]+) \|", text, re.MULTILINE)
    told = {room: (int(lines.replace(" ", "")), int(of_core.replace(" ", ""))) for room, lines, of_core in rows}
    lines, of_core = lines_by_room()
    assert set(told) == set(lines), "the rooms of the table are not those of the source"
    far = {room: (told[room], (lines[room], of_core[room])) for room in told
           if any(abs(said - found) > max(50, found / 10) for said, found in zip(told[room], (lines[room], of_core[room])))}
    assert not far, f"room: (lines, of the core) in the table, found: {far}"
    about = int(re.search(r"about (\d+) 000 lines", text).group(1))
    assert abs(1000 * about - sum(lines.values())) <= 1000, f"about {about} 000 lines: found {sum(lines.values())}"
