"""The manual builds as a site, and the API from the headers' comments, without a warning: dead
links, anchors, pages that no menu has. In a browser its pages fit into a wide and a narrow window,
show their pictures, load nothing from elsewhere, and search works from disk."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

from browser import CHROMIUM, Browser

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BROKEN = """Promise.all([...document.images].map(image => {
  image.loading = 'eager'; return image.decode().then(() => '', () => image.src);
})).then(images => images.filter(Boolean))"""
BROKEN_OPTIONS = """[...document.querySelectorAll('article code')]
  .filter(code => /^-\\w+$/.test(code.textContent) && code.getClientRects().length > 1)
  .map(code => code.textContent)"""
SEARCH = """new Promise(found => {
  document.querySelector('label[for=__search]').click();
  const query = Object.assign(document.querySelector('input[name=query]'), {value: 'PICO'});
  query.dispatchEvent(new Event('keyup'));
  const found_links = '.md-search-result__link';
  const links = () => [...document.querySelectorAll(found_links)].map(link => link.href);
  setInterval(() => { if (links().length) found(links()); }, 50);
  setTimeout(found, 10000, []);
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if importlib.util.find_spec("material") is None:
        pytest.skip("expected Material for MkDocs (scripts/requirements.txt)")
    folder = tmp_path_factory.mktemp("site")
    found = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "-f",
                            SOURCE / "scripts/mkdocs.yml", "-d", folder],
                           capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("expected chromium ('scripts/setup.sh tests' installs it)")
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.process.kill()
    browser.process.wait()


def test_site_is_strict(site):
    assert all((site / page).exists() for page in ("index.html", "course/lab2.html",
                                                   "perf/index.html", "explanation/model.html"))


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("page", ["index", "reference/options", "results", "explanation/output"])
def test_page_in_a_browser(site, browser, page, width):
    browser.requests.clear()
    browser.open(f"file://{site}/{page}.html", width)
    assert browser.value(BROKEN) == []
    assert browser.value("document.documentElement.scrollWidth - innerWidth") <= 0
    assert browser.value(BROKEN_OPTIONS) == []
    assert [url
            for url in browser.requests if not url.startswith(("file:", "data:", "about:"))] == []


def test_search_from_disk(site, browser):
    browser.open(f"file://{site}/index.html", 1400)
    assert any("explanation/pico.html" in link for link in browser.value(SEARCH))


@pytest.mark.skipif(shutil.which("doxygen") is None, reason="expected doxygen")
def test_api_has_no_warning(tmp_path):
    found = subprocess.run(
        ["doxygen", "-"], cwd=SOURCE, capture_output=True, text=True,
        input=(SOURCE / "docs/Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n")
    assert found.returncode == 0 and not found.stderr, found.stderr
    assert "# . . . . . ." in (tmp_path / "api/masks_8hpp.html").read_text()  # a drawing
