"""The pages of docs/ build as a site, without a warning: dead links, anchors, pages that no menu has (scripts/mkdocs.yml)."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="expected MkDocs (scripts/requirements.txt)")
def test_site_is_strict(tmp_path):
    found = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f", SOURCE / "scripts/mkdocs.yml", "-d", tmp_path / "site"],
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "site/course/lab2/index.html").exists()
