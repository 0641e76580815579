"""What the precompiled headers of cmake/NunatakTargets.cmake bring along, a file must include as
well: by itself, or by a header of the project that it includes. Otherwise it compiles with
NUNATAK_PCH, and fails without it or with the next compiler."""

import functools
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = ("all_of|any_of|clamp|copy|copy_n|count|count_if|equal|fill|fill_n|find|find_if|"
              "lower_bound|max|max_element|min|min_element|minmax|none_of|nth_element|remove_if|"
              "reverse|rotate|sort|stable_sort|transform|unique|upper_bound")
NAMES = {
    # header: what it declares, of what the project uses
    "algorithm": rf"std::({ALGORITHMS})\(",
    "array": r"std::array\b",
    "cmath": r"std::(abs|cbrt|ceil|cos|exp|fabs|floor|fmax|fmin|hypot|isfinite|isnan|log|lround|"
             r"pow|round|sin|sqrt|tan)\(",
    "cstdint": r"std::u?int(8|16|32|64|ptr)_t\b",
    "functional": r"std::function\b",
    "map": r"std::map\b",
    "memory": r"std::(make_shared|make_unique|shared_ptr|unique_ptr)\b",
    "optional": r"std::optional\b",
    "sstream": r"std::[io]?stringstream\b",
    "string": r"std::(string|to_string)\b",
    "utility": r"std::(exchange|index_sequence|make_index_sequence)\b",
    "vector": r"std::vector\b",
             }
# by their documentation
BRINGS = {"string": {"sstream"}, "cmath": {"Kokkos_Core.hpp"}, "cstdint": {"Kokkos_Core.hpp"}}


@functools.lru_cache(maxsize=None)
def includes(path):
    """The headers that a file names: those in <>, and files of the project."""
    lines = re.findall(r'^#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', (SOURCE / path).read_text(),
                       re.MULTILINE)
    places = [(quoted, f"tests/{quoted}", (pathlib.Path(path).parent / quoted).as_posix())
              for quoted, _ in lines if quoted]
    own = [next((p for p in place if (SOURCE / p).is_file()), None) for place in places]
    return [system for _, system in lines if system], [p for p in own if p]


def included(path):
    """Headers in <> that a file includes, by itself or by headers of the project."""
    found, todo, seen = set(), [path], set()
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            system, own = includes(path)
            found.update(system)
            todo += own
    return found


def missing(path, text):
    text = re.sub(r"//.*", "", text)
    return [name for name, use in NAMES.items() if re.search(use, text) and
            not included(path) & ({name} | BRINGS.get(name, set()))]


def test_every_file_includes_what_it_uses():
    files = [p.relative_to(SOURCE).as_posix()
             for top in ("common", "kernels", "io", "miniapp", "perf", "tests")
             for p in (SOURCE / top).rglob("*.[hc]pp")]
    assert len(files) > 100
    found = [f"{path}: {name}" for path in sorted(files)
             for name in missing(path, (SOURCE / path).read_text())]
    assert not found, "\n" + "\n".join(found)


def test_a_missing_header_is_seen():
    assert missing("common/error.hpp", "std::sort(a.begin(), a.end());") == ["algorithm"]
    assert not missing("common/error.hpp", "// std::sort(a.begin(), a.end());")
