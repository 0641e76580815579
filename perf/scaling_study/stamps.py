"""Is a row older than what it measures? The parts of the code that decide about its values: its
command and figures, the programs and scripts that it calls, what these call in turn, and how all
are built. None of them are the words that a row says, what draws its pictures, and how figures are
read from the files of its command (rows.py), which does not change what was measured.
"""
import ast
import functools
import os
import pathlib
import re
import subprocess

import yaml

from . import rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ["cmake", "CMakeLists.txt", "CMakePresets.json", "scripts/environment.sh", "common",
         "kernels", "io", "inputs", "miniapp"]
TOOLS = [*BUILT, ":!miniapp/model", ":!miniapp/main.cpp"]
NO_VIRTUAL = [":!kernels/grid/virtual", ":!miniapp/base/rank_sets.*", ":!miniapp/base/machine.*"]
MEASURES = ["perf/*.cpp", "perf/*.hpp", "perf/CMakeLists.txt"]
DRAWS = [f":!perf/scaling_study/{name}*" for name in (
    "page.", "plots.", "export.", "submission", "reproduce.", "result_pages.", "rows.", "stamps.")]
PARTS = {  # by a word: pathspecs of git
    "nunatak": [*BUILT, ":!miniapp/kit", ":!miniapp/bench", ":!miniapp/files", *NO_VIRTUAL],
    "nunatak-io": [*TOOLS, ":!kernels", ":!miniapp/kit", ":!miniapp/files", *NO_VIRTUAL,
                   ":!miniapp/base/mpi_ranks.*", ":!miniapp/bench/nunatak_step.cpp"],
    "nunatak-step": TOOLS, "nunatak-distance": TOOLS, "nunatak-labels": TOOLS,
    "nunatak-check": TOOLS, "nunatak-join": TOOLS, "nunatak-verify": TOOLS,
    "calibrate": [*TOOLS, *MEASURES], "bench_kernels": [*TOOLS, *MEASURES],
    "bench_ssa": [*TOOLS, *MEASURES], "bench_pico": [*TOOLS, *MEASURES],
    "libnunatak_count": ["perf/count"], "libnunatak_trace": ["perf/trace"],
    "libslow_disk": ["tests/faults/slow_disk*", "tests/faults/CMakeLists.txt"],
    "cluster": ["perf/cluster"], "scripts/gpu": [*TOOLS, *MEASURES, "scripts/gpu.sh"],
    "perf/study": ["perf/study", "perf/scaling_study", *DRAWS],
}
SCRIPT = re.compile(r"(?:^import +|^from +)(\w+)|([\w/]+\.(?:py|yaml))\b", re.M)


def parts_of(text):
    """Lists of pathspecs."""
    found, left = {}, [text]
    while left:
        text = left.pop()
        words = set(re.findall(r"[\w/-]+", text))
        for word in words | {word.rpartition("/")[2] for word in words}:
            if word in PARTS:
                found[word] = PARTS[word]
        for module, path in SCRIPT.findall(text):
            name = (f"perf/{module}.py" if module else path if path.startswith("perf/")
                    else f"perf/{path}")
            # measured.yaml: data of other rows, not code
            if name in found or not (ROOT / name).is_file() or name == "perf/results/measured.yaml":
                continue
            found[name] = [name]
            left.append((ROOT / name).read_text(encoding="utf-8"))
            if name.startswith("perf/studies/") and not re.search("^program:", left[-1], re.M):
                found["nunatak"] = PARTS["nunatak"]
            if name.startswith("perf/studies/") and re.search("^model:", left[-1], re.M):
                found["nunatak-step"] = PARTS["nunatak-step"]
    return list(found.values())


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)


@functools.lru_cache(maxsize=None)
def changed(commit, *paths):
    """Is any of these files of the working tree another one? Of Python only what it does counts,
    not how it is laid out."""
    others = git("ls-files", "--others", "--exclude-standard", "--", *paths)
    names = differing(commit, *paths)
    return (names is None or others.stdout != "" or
            any(not same_python(commit, name) for name in names))


def differing(commit, *paths):
    """Names of files of the working tree that are others than at the commit; None if git does not
    know."""
    found = git("diff", "--name-only", "-z", commit, "--", *paths)
    return found.stdout.split("\0")[:-1] if found.returncode == 0 else None


def same_python(commit, name):
    path = ROOT / name
    try:
        now = path.read_text(encoding="utf-8")
        is_python = path.suffix == ".py" or now.partition("\n")[0].endswith("python3")
        return is_python and syntax(git("show", f"{commit}:{name}").stdout) == syntax(now)
    except (OSError, SyntaxError, ValueError):
        return False


def syntax(text):
    """Its syntax tree without the texts that stand for themselves (documentation)."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "body") and isinstance(node.body, list):
            node.body = [one for one in node.body if not (
                isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return ast.dump(tree)


@functools.lru_cache(maxsize=None)
def rows_at(commit):
    """{name: (command, figures)} as they were; of the working tree without a commit."""
    if commit:
        texts = [git("show", f"{commit}:{name}").stdout
                 for name in git("ls-tree", "--name-only", commit, "perf/results/").stdout.split()
                 if re.fullmatch(r"perf/results/\d.*\.yaml", name)]
    else:
        texts = [path.read_text(encoding="utf-8") for path in rows.FOLDER.glob("[0-9]*.yaml")]
    sections = [yaml.load(text, yaml.BaseLoader) for text in texts]
    return {name: (row["command"], row["figures"]) for section in sections
            for name, row in section.get("rows", {}).items()}


def older(name, commit):
    """True where the code that decides about the values of the row differs from that at `commit`,
    or is not known; and of a row that is gone."""
    if git("cat-file", "-e", commit).returncode != 0:
        return True
    now = rows_at("").get(name)
    return (now is None or rows_at(commit).get(name) != now or
            any(changed(commit, *paths) for paths in parts_of(now[0])))


def compiled_from(name, commit, changed_program=None):
    """Are the programs that a row calls those of the working tree, if they were made of `commit`?
    `changed_program`: one that was made of files that had been changed since."""
    compiled = [paths for paths in parts_of(rows_at("")[name][0]) if paths[0] == BUILT[0]]
    names = [differing(commit, *paths) for paths in compiled]
    if None in names:
        return False
    times = [os.stat(ROOT / one).st_mtime for of in names for one in of if (ROOT / one).is_file()]
    if changed_program is None:
        return not any(names)
    return any(names) and max(times, default=0.0) <= os.stat(changed_program).st_mtime


def look_again():
    """Files may have changed since they were looked at."""
    changed.cache_clear()
    rows_at.cache_clear()


def stamp(name):
    """The commit of the working tree, eight digits, and + if what the row measures was changed
    since."""
    head = git("rev-parse", "--short=8", "HEAD")
    return (head.stdout.strip() + ("+" if older(name, head.stdout.strip()) else "")
            if head.returncode == 0 else "unknown")
