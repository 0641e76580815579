"""The core of docs/reading-guide.md is what one reads in a weekend: all its files exist, and have at most 6000 lines."""

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
