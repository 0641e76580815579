"""The commands and the tables of the manual: options and variables that the programs have."""
import pathlib
import re

import pytest
from conftest import FOLDER, run_program

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PAGES = [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").rglob("*.md")),
         *sorted((SOURCE / "perf").glob("*.md"))]
PROGRAMS = [path.name
            for path in sorted(FOLDER.glob("nunatak*")) if path.is_file() and "." not in path.name]
PETSC = re.compile(r"-((ssa_(?:snes|ksp|pc|mat|mg|sub|da|dm)|da|dm)_.*|"
                   r"ssa_method|log_view|skip_petscrc|options_file|help|version)$")


def options_of(program):
    return set(re.findall(r"^  (-[A-Za-z]\S*)", run_program(program, "-help", status=0).out, re.M))


def commands(text):
    """(program, its options) of the commands in code: blocks of four blanks or ```, and
    backticks."""
    code = (re.findall(r"(?:^(?: {4}|\t).*\n?)+", text, re.M) +
            re.findall(r"^```.*?^```", text, re.M | re.S) + re.findall(r"`([^`]+)`", text))
    for block in code:
        for line in block.replace("\\\n", " ").splitlines():
            line = re.split(r"\s+#|[|;&>]", line)[0]
            found = re.search(r"(?:^|[\s/])(nunatak(?:-\w+)?)\s+(-.*|\S+ -.*)$", line)
            if found and found[1] in PROGRAMS:
                yield found[1], re.findall(r"(?:^|\s)(-[A-Za-z]\w*)", found[2])


def test_commands_of_the_pages_have_options_of_the_programs():
    known = {program: options_of(program) for program in PROGRAMS}
    used = [(page, program, option) for page in PAGES
            for program, options in commands(page.read_text()) for option in options]
    assert len(used) > 100
    unknown = [f"{page.relative_to(SOURCE)}: {program} {option}" for page, program, option in used
               if option not in known[program] and not PETSC.match(option)]
    assert not unknown, "\n".join(unknown)


def test_options_in_the_text_exist():
    known = set().union(*map(options_of, PROGRAMS))
    texts = {
        page: re.findall(r"`(-(?:io|grid|run|pico|ssa|spatial|snapshot|timeseries|i|loggp)_\w+)",
                         page.read_text()) for page in PAGES}
    assert sum(map(len, texts.values())) > 100
    unknown = [f"{page.relative_to(SOURCE)}: {option}" for page, options in texts.items()
               for option in options if option not in known and not PETSC.match(option)]
    assert not unknown, "\n".join(unknown)


@pytest.mark.skipif("nunatak" not in PROGRAMS, reason="expected nunatak, built with PETSC")
def test_variables_of_the_output():
    run = run_program("nunatak", "-init", "dome", "-spatial_file", "x.nc", "-spatial_vars",
                      "nonsense")
    known = set(re.search(r"expected one of ([\w, ]+)", run.text)[1].split(", "))
    page = (SOURCE / "docs/reference/variables.md").read_text()
    table = page[page.index("## Output on the grid"):page.index("## Time series")]
    listed = {name for row in re.findall(r"^\|([^|]*`[^|]*)\|", table, re.M)
              for name in re.findall(r"`(\w+)`", row)}
    assert listed == known
