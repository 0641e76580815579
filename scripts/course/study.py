"""Synthetic results of a study for a seed (lab 9), and a study of the student's own (lab 13).

`write` makes the folder `synthetic` as `perf/study run` would, with laws by the seed; the standard
library suffices. `check` looks at what is handed in: the folder `study` (of `perf/study run`),
whose page it makes, or `study.json`, the `results.json` of such a page.
"""

import importlib.util
import json
import pathlib
import shutil
import tempfile

from workshop import PYTHON, SOURCE, run  # which finds the next
from scaling_study import texts

NOISE = 0.001  # of a time
RANKS = (1, 2, 4, 8, 16, 32, 64)
SSA, TRANSPORT = "stress balance: SSA", "mass transport"


def samples():
    spec = importlib.util.spec_from_file_location("study_samples",
                                                  SOURCE / "tests/program/study_samples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder, seed, names):
    """`names` are those of labs.json: sigma and kappa of the SSA, sigma of the transport."""
    module = samples()
    laws = {SSA: (names["sigma"], names["kappa"], 0.6), TRANSPORT: (names["serial"], 0.0, 0.05)}
    made = module.Folder(pathlib.Path(folder), {"nodes": RANKS[-1], "physical_cores": RANKS[-1]},
                         f"Synthetic times of seed {seed}")
    made.fill(ranks=RANKS, methods=("pnetcdf",), noise=NOISE, seed=seed, laws=laws)


def results_of(folder):
    """(the results of a page, None) or (None, a failure)."""
    if (folder / "study/runs.jsonl").is_file():
        with tempfile.TemporaryDirectory() as page:
            shutil.copytree(folder / "study", f"{page}/study", symlinks=True)
            status, said = run(
                [PYTHON, SOURCE / "perf/study", "report", f"{page}/study", "-o", page], 300)
            path = pathlib.Path(page, "results.json")
            if not path.exists():
                return (None,
                        ("results that can be reported", f"status {status}: {said[-300:].strip()}"))
            return json.loads(path.read_text()), None
    try:
        found = texts.parsed(texts.text_of(folder / "study.json"))
        found["points"], found["complaints"]
        return found, None
    except OSError:
        return None, ("the folder 'study' of `perf/study run`, or study.json, the results.json of "
                      "its page", "neither")
    except (ValueError, TypeError, KeyError) as error:
        return None, ("study.json: the results.json of `perf/study report`",
                      f"{type(error).__name__}: {error}")


def judge(results):
    """(expected, found) of all that is wrong with a study. Counts, never times."""
    totals = [p for p in results["points"] if p["part"] == "total"]
    cores = {}
    for p in totals:
        cores.setdefault((p["mode"], p["curve"], p["machine"]), set()).add(p["cores"])
    if max(map(len, cores.values()), default=0) < 3:
        yield ("three points on a curve, which a law needs",
               f"{len(totals)} points of {len(cores)} curves")
    for curve in (curve for curve, numbers in cores.items() if len(numbers) < 2):
        yield "at least two points on each curve", f"one on {' '.join(curve[:2])}"
    for sentence in results["complaints"]:  # a run that did other work is one
        yield "runs that ended and did equal work", sentence
    for (mode, curve, machine) in cores:
        mine = [p for p in totals
                if (p["mode"], p["curve"], p["machine"]) == (mode, curve, machine) and p["cells"]]
        per = sorted(p["cells"] / (p["cores"] if mode == "weak" else 1) for p in mine)
        if per and per[-1] > (1.5 if mode == "weak" else 1.0) * per[0]:
            yield (f"equal work at all points of {mode} {curve}",
                   f"{per[0]:.0f} to {per[-1]:.0f} cells" + (" per core" if mode == "weak" else ""))
    if any(str(s.get("study", {}).get("title", "")).startswith("Synthetic times")
           for s in results.get("studies", [])):
        yield "a study of your own", "the synthetic one"


def check(folder):
    """Failures, as those of a compiled check."""
    results, failure = results_of(folder)
    try:
        wrong = [failure] if failure else list(judge(results))
    except (KeyError, TypeError, AttributeError) as error:
        wrong = [("the results.json of `perf/study report`", f"{type(error).__name__}: {error}")]
    return [{"test": "study", "expected": expected, "found": found} for expected, found in wrong]
