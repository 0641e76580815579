"""The benchmark (docs/benchmark.md) as a test of ReFrame in the style of the EESSI test suite: a
size is a test, on its most nodes.

    reframe -C SITE.py -c perf/reframe/benchmark.py --tag CI -r -S program=/path/of/nunatak
"""
import json
import pathlib
import sys

import reframe as rfm
from reframe.core.builtins import (parameter, performance_function, run_after, sanity_function,
                                   variable)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from scaling_study import points, submission  # noqa: E402


@rfm.simple_test
class NunatakBenchmark(rfm.RunOnlyRegressionTest):
    size = parameter(["XS", "S", "M", "L", "XL"])
    program = variable(str, value="nunatak")
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    @run_after("init")
    def choose(self):
        self.rules = submission.rules_of(self.size)
        one = [p
               for p in points.points_of(self.rules) if p["options"].get("io_format") != "null"][-1]
        self.descr = f"simulated years per day to the last durable byte, size {self.size}"
        self.tags |= {"CI"} if self.size == "XS" else set()
        self.num_tasks, self.num_tasks_per_node = one["ranks"], one["ranks_per_node"]
        self.num_cpus_per_task = one["threads"]
        self.time_limit = self.rules["time_limit"]
        self.executable = self.program
        self.executable_opts = [word for name, value in one["options"].items()
                                for word in (f"-{name}", value)] + ["-report", "report.json"]

    @sanity_function
    def fields_are_right(self):
        found = submission.hash_of(
            submission.sums_of((pathlib.Path(self.stagedir) / "manifest.jsonl").read_text()))
        return self.rules["fields"] in (found, submission.UNKNOWN)

    @performance_function("years/day")
    def sypd(self):
        return submission.sypd(
            {"report": json.loads((pathlib.Path(self.stagedir) / "report.json").read_text())})
