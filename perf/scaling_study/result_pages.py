"""docs/results.md, the table of results in README.md, and what other pages say of rows, made of
perf/results/*.yaml: of what is claimed and was measured. A page has what a row says behind one of
these lines, up to the next empty line:

    <!-- claim: ROW -->    its claim
    <!-- table: ROW -->    its table with a column for each condition

    perf/study results            writes all of them
    perf/study results --check    exit status 1 if one of them is not what would be written
"""
import pathlib
import re
import textwrap

from . import rows
from .texts import number

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE, README = ROOT / "docs" / "results.md", ROOT / "README.md"
SAID = re.compile(r"(<!-- (claim|table): (\w+) -->\n)((?:.+\n)*)")
MARK = "<!-- made from perf/results by `perf/study results` -->"


def main(arguments):
    texts = made(rows.read(), rows.measured())
    different = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    for path in different:
        if arguments.check:
            print(f"{path.relative_to(ROOT)} is not what perf/results says: perf/study results")
        else:
            path.write_text(texts[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if arguments.check and different else 0


def write(sections, measured):
    for path, text in made(sections, measured).items():
        path.write_text(text, encoding="utf-8")


def made(sections, measured):
    """A row whose figures are no longer those that were measured is left out until it is measured
    again."""
    figures = {name: row["figures"].keys() for section in sections.values()
               for name, row in section.get("rows", {}).items()}
    measured = {**measured, "rows": {name: there for name, there in measured["rows"].items()
                                     if there["values"].keys() == figures.get(name)}}
    known = {name: row for section in sections.values()
             for name, row in section.get("rows", {}).items()}
    others = {path: path.read_text(encoding="utf-8")
              for path in sorted(PAGE.parent.rglob("*.md")) if path != PAGE}
    return {PAGE: page(sections, measured), README: readme(sections, measured),
            **{path: SAID.sub(lambda found: found[1] + of_row(found, known, measured["rows"]), text)
               for path, text in others.items() if SAID.search(text)}}


def of_row(found, known, measured):
    """What a page says of a row; what it said before, if that was not measured."""
    what, name, before = found[2], found[3], found[4]
    if name not in measured:
        return before
    if what == "claim":
        return textwrap.fill(said(known[name]["claim"], measured[name]), 120,
                             break_long_words=False, break_on_hyphens=False) + "\n"
    return "\n".join(tables(known[name], measured[name]["values"])[1]) + "\n"


def anchor(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def said(text, there):
    """The claim with its figures, as {figure:.2g}."""
    return text.format_map({name: value[0] for name, value in there["values"].items()}).strip()


def readme(sections, measured):
    lines = [MARK, "", "| Result | Compared with | Machine | Date | Row |", "|---|---|---|---|---|"]
    for section in sections.values():
        for name, row in section.get("rows", {}).items():
            there = measured["rows"].get(name)
            if there and "front" in row:
                machine = measured["machines"][there["machine"]]
                where = ("8 emulated nodes" if "cluster" in row["needs"]
                         else machine.get("short") or f"{machine['cores']} cores")
                lines.append(
                    f"| {said(row['front'], there)} | {row.get('compared', '-').strip()} | {where} "
                    f"| {there['date']} | [`{name}`](docs/results.md#{anchor(section['title'])}) |")
    text = README.read_text(encoding="utf-8")
    begin, end = text.index(MARK), text.index("\n\n", text.index("|---|", text.index(MARK)))
    return text[:begin] + "\n".join(lines) + text[end:]


def page(sections, measured):
    parts = [MARK + "\n"]
    for name, section in sections.items():
        parts.append(f"{'#' if name.startswith('00') else '##'} {section['title']}\n")
        if section.get("text"):
            parts.append(section["text"].rstrip() + "\n")
        if name.startswith("00"):
            parts.append(machines(measured))
        parts += [block(row_name, row, measured["rows"][row_name])
                  for row_name, row in section.get("rows", {}).items()
                  if row_name in measured["rows"]]
    return "\n".join(parts)


def machines(measured):
    lines = ["| Machine | Processor | Cores | MPI, build |", "|---|---|---:|---|"]
    lines += [f"| {name} | {there['cpu']} | {there['cores']} | {there['mpi']}"
              f"{', ' + there['build'] if there.get('build') else ''} |"
              for name, there in sorted(measured["machines"].items())]
    return "\n".join(lines) + "\n"


def block(name, row, there):
    compared = ([f"Compared with: {row['compared'].strip().removesuffix('.')}."]
                if row.get("compared") else [])
    text = [" ".join([f"**{said(row['claim'], there)}**", *compared,
                      *([said(row["holds"], there)] if row.get("holds") else [])]), ""]
    text += ["    " + line if line else "" for line in row["command"].rstrip().splitlines()] + [""]
    for table in filter(None, tables(row, there["values"])):
        text += [*table, ""]
    for picture in row.get("pictures", ()):
        if (PAGE.parent / "img" / picture).exists():  # drawn by a run with --record
            text += [f"![{name}](img/{picture})", ""]
    if row.get("text"):
        text += [row["text"].rstrip(), ""]
    facts = [f"`{name}`", f"machine {there['machine']}", there["date"], there["commit"],
             f"{there['runs']} run{'s' if there['runs'] > 1 else ''}",
             *([f"{there['minutes']} min"] if "minutes" in there else [])]
    return "\n".join([*text, f"*{' · '.join(facts)}*", ""])


def cell(value, unit=""):
    median, least, most = value
    text = number(median)
    return text + (f" ({number(least)} to {number(most)})" if number(least) != number(most)
                   else "") + unit


def tables(row, values):
    """Names with `: ` are of the second table, row and (behind the last one) column; the others are
    a line each of the first."""
    grid, lines = {}, []
    for name, value in values.items():
        of_row, colon, column = name.rpartition(": ")
        if colon:
            grid.setdefault(of_row, {})[column] = value
        else:
            unit = row["figures"].get(name, {}).get("unit", "")
            lines.append(
                f"| {name.replace('_', ' ')}{f' ({unit})' if unit else ''} | {cell(value)} |")
    columns = list(dict.fromkeys(column for of_row in grid.values() for column in of_row))
    return (["| Figure | Median (least to most) |", "|---|---:|", *lines] if lines else [],
            ["| | " + " | ".join(columns) + " |", "|---" + "|---:" * len(columns) + "|",
             *(f"| {of_row} | " + " | ".join(cell(of[column]) if column in of else ""
                                             for column in columns) + " |"
               for of_row, of in grid.items())] if grid else [])
