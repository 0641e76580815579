"""The manual builds as a site, and the API from the headers' comments, without a warning: dead links, anchors, pages that no menu has."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="expected MkDocs (scripts/requirements.txt)")
def test_site_is_strict(tmp_path):
    found = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", SOURCE / "scripts/mkdocs.yml", "-d", tmp_path / "site"],
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    for page in ("index.html", "course/lab2/index.html", "perf/index.html", "explanation/model/index.html"):
        assert (tmp_path / "site" / page).exists(), page


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="expected doxygen")
def test_api_has_no_warning(tmp_path):
    found = subprocess.run(["doxygen", "-"], cwd=SOURCE, capture_output=True, text=True,
                           input=(SOURCE / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n")
    assert found.returncode == 0 and not found.stderr, found.stderr
    assert "# . . . . . ." in (tmp_path / "api/masks_8hpp.html").read_text()  # a drawing
