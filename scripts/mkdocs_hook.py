"""What the site needs besides docs/. Read by scripts/mkdocs.yml.

Pages outside of docs/ (OUTSIDE), the pages of a folder in the menu (a value that ends in "/"), the tables of options, and anchors as
GitHub makes them.
"""

import json
import os
import pathlib
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

SOURCE = pathlib.Path(__file__).resolve().parents[1]
OUTSIDE = ("perf/README.md", "perf/peer.md", "CONTRIBUTING.md")
PROGRAMS = ["nunatak", *(f"nunatak-{tool}" for tool in ("distance", "labels", "step", "check", "io", "join", "verify"))]
FIRST = {"explanation/": "reading-guide.md", "course/": "index.md", "notes/": ""}  # first page of a folder in the menu


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def order(folder, name):
    """The first page, then by name, numbers by value: lab2 before lab10."""
    return name != FIRST[folder], [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    nav = []
    for entry in config.nav:
        (title, value), = entry.items()
        if isinstance(value, str) and value.endswith("/"):
            names = sorted((p.name for p in (SOURCE / "docs" / value).glob("*.md")), key=lambda name: order(value, name))
            value = [value + name for name in names]
        if value:
            nav.append({title: value})
    config.nav = nav
    return config


def on_files(files, config):
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(SOURCE / name).read_text()))
    return files


def programs():
    """The folder of the programs, or None."""
    if "NUNATAK_PROGRAMS" in os.environ:
        return pathlib.Path(os.environ["NUNATAK_PROGRAMS"]) / "miniapp"
    built = [path.parent for path in SOURCE.glob("build/*/miniapp/nunatak-verify")]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def table_of(program):
    """The options of a program as tables, a section each, from -help json."""
    found = subprocess.run([program, "-help", "json"], capture_output=True, text=True, check=True, timeout=60)
    text, section = [], None
    for option in json.loads(found.stdout)["options"]:
        if option["section"] != section:
            section = option["section"]
            text.append(f"\n**{section}**\n\n| Option | Default | Meaning |\n|---|---|---|")
        default = " ".join((str(option["default"]) or "none", option["unit"])).strip()
        values = f": {option['values']}" if option["values"] else ""
        cells = (f"`-{option['name']}`", default, option["description"] + values)
        text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(text)


def options():
    folder = programs()
    if folder is None:
        return "(This site was built without the programs: `nunatak -help` prints the table of options.)\n"
    return "\n\n".join(f"## {name}\n{table_of(folder / name)}" for name in PROGRAMS if (folder / name).exists()) + "\n"


def on_page_markdown(markdown, page, config, files):
    """Links are those of the source tree; in the site, docs/ is the root and OUTSIDE lies in it."""
    here = page.file.src_uri
    source = here if here in OUTSIDE else "docs/" + here

    def moved(found):
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path.startswith("docs/"):
            path = path[len("docs/"):]
        elif path not in OUTSIDE:
            return found[0]
        return f"]({posixpath.relpath(path, posixpath.dirname(here) or '.')}{anchor})"

    markdown = re.sub(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)", moved, markdown)
    return markdown.replace("<!-- generated: options -->", options()) if "<!-- generated: options -->" in markdown else markdown
