"""Every relative link and picture in the pages of the project leads to a file, and every anchor to
a heading of it."""
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return [ROOT / name for name in listed.stdout.split()]
    # a copy without git
    return [p for p in ROOT.rglob("*.md") if "build" not in p.relative_to(ROOT).parts]


def text_of(path):
    """Without code, where brackets are not links."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    return re.sub(r"^ {4}.*$|`[^`\n]*`", "", text, flags=re.M)


def anchors(path):
    """As GitHub makes them: lower case, letters, digits and hyphens."""
    headings = re.findall(r"^#+ +(.*)$", path.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in headings}


def test_spelling():
    if importlib.util.find_spec("codespell_lib") is None:
        pytest.skip("expected codespell (scripts/requirements.txt)")
    found = subprocess.run([sys.executable, "-m", "codespell_lib", *pages()], capture_output=True,
                           text=True)
    assert found.returncode == 0, found.stdout


def test_links_lead_somewhere():
    dead = []
    seen = 0
    for page in pages():
        for link in LINK.findall(text_of(page)):
            if re.match(r"[a-z]+:", link):
                continue
            seen += 1
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists():
                dead.append(f"{page.relative_to(ROOT)}: {link}: no such file")
            elif anchor and anchor not in anchors(target):
                dead.append(f"{page.relative_to(ROOT)}: {link}: no such heading")
    assert seen > 20, "the pages have links; the pattern finds none"
    assert not dead, "\n".join(dead)


def test_paths_in_backticks_exist():
    """`docs/results.md`, `kernels/grid/patch.hpp`: a path into a folder of the project names a file
    or a folder of it."""
    missing = []
    folders = "|".join(
        ["cmake", "docs", "inputs", "io", "kernels", "miniapp", "perf", "scripts", "tests"])
    for page in pages():
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        # `file: Class::function`, too
        for path, name in re.findall(rf"`((?:{folders})/[\w./-]*)(?:: [\w:]*?(\w+))?`", text):
            if (not (ROOT / path).exists() and
                not list((ROOT / path).parent.glob(pathlib.Path(path).name + ".*"))):
                missing.append(f"{page.relative_to(ROOT)}: {path}")
            elif name and not re.search(rf"\b{name}\b", (ROOT / path).read_text()):
                missing.append(f"{page.relative_to(ROOT)}: {path}: {name}")
    assert not missing, "\n".join(missing)
