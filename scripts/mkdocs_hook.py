"""What the site needs beside docs/: the pages of perf/, anchors as GitHub makes them. Read by scripts/mkdocs.yml."""

import pathlib
import re

from mkdocs.structure.files import File

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def slug(heading, separator):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files, config):
    for name in ("perf/README.md", "perf/peer.md"):
        files.append(File.generated(config, name, content=(SOURCE / name).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links between docs/ and perf/, which lie beside each other, and here one in the other."""
    if page.file.src_uri.startswith("perf/"):
        return markdown.replace("](../docs/", "](../")
    return re.sub(r"\]\((\.\./)?\.\./perf/", lambda found: f"]({found[1] or ''}perf/", markdown)
