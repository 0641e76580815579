"""What the site needs besides docs/. Read by scripts/mkdocs.yml.

Pages outside of docs/ (OUTSIDE), all pages in the menu whose names begin alike (FAMILIES), the
tables of options, the results of the README, anchors as GitHub makes them, and marks on words of
code that must not be broken.
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
PROGRAMS = ["nunatak", *(f"nunatak-{tool}" for tool in ("distance", "labels", "step", "check", "io",
                                                        "join", "verify"))]
FAMILIES = ("course/lab", "notes/")
OPTION = r"(?<![\w.-])-[A-Za-z]\w+"


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def pages(family):
    """By name, numbers by value: lab2 before lab10."""
    names = [path.relative_to(SOURCE / "docs").as_posix()
             for path in (SOURCE / "docs").glob(family + "*.md")]
    return sorted(names, key=lambda name: [int(part) if part.isdigit() else part
                                           for part in re.split(r"(\d+)", name)])


def with_families(nav):
    if isinstance(nav, list):
        return [with_families(entry) for entry in nav]
    if isinstance(nav, dict):
        return {title: pages(value) if value in FAMILIES else with_families(value)
                for title, value in nav.items()}
    return nav


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    config.nav = with_families(config.nav)
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


def with_code(text):
    """Names of options as code."""
    return re.sub(OPTION, r"`\g<0>`", text)


def table_of(program):
    """The options of a program as tables, a section each, from -help json."""
    found = subprocess.run([program, "-help", "json"], capture_output=True, text=True, check=True,
                           timeout=60)
    text, section = [], None
    for option in json.loads(found.stdout)["options"]:
        if option["section"] != section:
            section = option["section"]
            text.append(
                f"\n**{with_code(section)}**\n\n| Option | Default | Meaning |\n|---|---|---|")
        default = " ".join((str(option["default"]) or "none", option["unit"])).strip()
        values = f": {', '.join(option['values'].split('|'))}" if option["values"] else ""
        cells = (f"`-{option['name']}`", default, with_code(option["description"]) + values)
        text.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(text)


def options():
    folder = programs()
    if folder is None:
        return ("(This site was built without the programs: `nunatak -help` prints the table of "
                "options.)\n")
    return "\n\n".join(f"## {name}\n{table_of(folder / name)}"
                       for name in PROGRAMS if (folder / name).exists()) + "\n"


def moved_links(markdown, source, here):
    """Links of a file of the source tree; in the site, docs/ is the root and OUTSIDE lies in it."""
    def moved(found):
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        if path.startswith("docs/"):
            path = path[len("docs/"):]
        elif path not in OUTSIDE:
            return found[0]
        return f"]({posixpath.relpath(path, posixpath.dirname(here) or '.')}{anchor})"

    return re.sub(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)", moved, markdown)


def results():
    """The section of the README."""
    section = re.search(r"^## Results\n(.*?)^## ", (SOURCE / "README.md").read_text(),
                        re.M | re.S)[1]
    return moved_links(section, "README.md", "index.md")


GENERATED = {"options": options, "results": results}


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    if here == "index.md":
        page.meta["hide"] = ["navigation", "toc"]
    markdown = moved_links(markdown, here if here in OUTSIDE else "docs/" + here, here)
    # with what stands there on GitHub
    markdown = re.sub(r"<!-- generated: (\w+) -->(\n.+)*", lambda found: GENERATED[found[1]](),
                      markdown)
    return markdown.replace("<details>", "<details markdown>")


def on_page_content(html, page, config, files):
    """Dates, options, and words of code with a hyphen that fit into the narrowest window are not
    broken; blocks of code scroll anyway. In code in a table `\\|` is a bar, as on GitHub."""
    def marked(found):
        code = found[2].replace(r"\|", "|")
        return found[1] + re.sub(r"(?=[^\s<>]*-)[^\s<>]{2,38}(?![^\s<>])",
                                 r'<span class="word">\g<0></span>', code) + "</code>"

    html = re.sub(r"(?<!<pre>)(<code>)([^<]*)</code>", marked, html)
    html = re.sub(r"<th[ >].*?</th>", lambda head: re.sub(
        OPTION + "(?![^<]*>)", r'<span class="word">\g<0></span>', head[0]), html)
    return re.sub(r"(?<=>)[^<]+", lambda text: re.sub(
        r"\b20\d\d-\d\d-\d\d\b", r'<span class="word">\g<0></span>', text[0]), html)
