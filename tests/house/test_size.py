"""The program is small: lines of C++ and Python, comments included, at 100 columns (.clang-format)."""
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def lines(folders, endings):
    files = [path for folder in folders for path in (SOURCE / folder).rglob("*") if path.suffix in endings]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


def test_the_program_has_at_most_31000_lines():
    assert lines(("kernels", "io", "miniapp"), (".cpp", ".hpp")) <= 31000


def test_its_tests_have_at_most_19000_lines():
    assert lines(("tests",), (".cpp", ".hpp", ".py")) <= 19000
