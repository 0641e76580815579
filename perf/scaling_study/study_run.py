"""The runs of a study as one parametrised test of ReFrame, which makes, submits and awaits the
jobs.

The plan (jobs.py) comes in the file NUNATAK_STUDY_PLAN. A run that fails is a result, not a failure
of the test: it is recorded like the others, and the next one starts. Each record goes down a pipe,
one JSON line, as soon as its job has ended.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import sys

import reframe as rfm
from reframe.core.builtins import parameter, run_after, run_before, sanity_function

PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PERF / "cluster"), str(PERF)]
import cluster_state  # noqa: E402
from scaling_study import machine, texts, tools  # noqa: E402

PLAN = json.loads(pathlib.Path(os.environ["NUNATAK_STUDY_PLAN"]).read_text(encoding="utf-8"))
GRACE = 60.0  # seconds of a job beyond the limit of its run
LAST_LINES = 12
TIMED_OUT = (124, 137)  # statuses of `timeout`
# Of the node where the job begins: load average of a minute; mean frequency of all cores (MHz; 0
# where the kernel does not say); ticks of processors that the hypervisor gave to others; all ticks
LOAD = ("cut -d' ' -f 1 /proc/loadavg; "
        "awk -F: '/^cpu MHz/ { sum += $2; n += 1 } END { print n ? sum / n : 0 }' /proc/cpuinfo; "
        "awk '/^cpu / { print $9; for (n = 2; n <= 9; ++n) sum += $n; print sum }' /proc/stat")
# Its tasks that run or could run, three times, without the one that looks
OTHERS = """for n in 1 2 3; do
awk '{ split($4, tasks, "/"); print tasks[1] - 1 }' /proc/loadavg; sleep 0.05; done"""
# RAPL: energy and range (uJ) of each socket of that node; nothing where only root may read them
ENERGY = (
    "for zone in $(grep -l '^package' /sys/class/powercap/intel-rapl:*/name); do e=$(cat "
    "${zone%name}energy_uj) && echo $e $(cat ${zone%name}max_energy_range_uj); done 2>/dev/null")


def hand_over(record):
    """A finished run, to `perf/study run`."""
    os.write(PLAN["pipe"], (json.dumps(record) + "\n").encode())


def emulated_cluster():
    """What cluster.json says of it; null elsewhere."""
    return (cluster_state.State(PLAN["cluster_folder"]).description() if PLAN["cluster_folder"]
            else None)


def on_node(script):
    """The line of a job that runs `script` where the nodes' files are."""
    return shlex.join([*PLAN["on_node"], "sh", "-c", script])


@rfm.simple_test
class StudyRun(rfm.RunOnlyRegressionTest):
    number = parameter(range(len(PLAN["runs"])))
    descr = "one run of a study"

    @run_after("init")
    def choose_place(self):
        """The first partition of the system, with its first environment: a study runs in one
        place."""
        system = self.current_system
        partition = system.partitions[0]
        self.valid_systems = [f"{system.name}:{partition.name}"]
        self.valid_prog_environs = [partition.environs[0].name] if partition.environs else ["*"]
        self.one = PLAN["runs"][self.number]

    @run_before("run")
    def prepare(self):
        one, here = self.one, pathlib.Path(self.stagedir)
        self.num_tasks, self.num_tasks_per_node = one["ranks"], one["ranks_per_node"]
        self.num_cpus_per_task = one["threads"]
        self.exclusive_access = True
        # they have the time of the run once more
        after = PLAN["verify"] or PLAN["raw_writes"] or PLAN["triad"]
        self.time_limit = PLAN["time_limit"] * (2 if after else 1) + GRACE
        self.env_vars = {"OMP_NUM_THREADS": str(one["threads"])}
        folder = shlex.quote(PLAN["scratch"])
        refused = shlex.quote(f"folder '{PLAN['scratch']}': expected one of this user, found one "
                              "of another or a link")
        files = f"{folder}/{one['name']}"  # what the run writes
        # an empty folder; the machine as a node of the job sees it, for machine.json
        before = (
            f"mkdir -p {shlex.quote(os.path.dirname(PLAN['scratch']))}; "
            f"mkdir -m 700 {folder} 2>/dev/null; "
            f"if [ -L {folder} ] || ! [ -O {folder} ]; then echo {refused} >&2; exit 1; fi; "
            f"rm -rf {files} && mkdir {files}; uname -sr; ({machine.CORES}); {machine.CPU}; "
            f"df -h --output=fstype,source,size {files} | tail -n 1 | tr -s ' '; "
            "sort -u /proc/cpuinfo | grep -c 'physical id'; "
            "gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null) || exit 0; "
            "echo \"$gpus\" | sort | uniq -c | tr -s ' ' | paste -sd,")
        self.prerun_cmds = [f"{on_node(before)} > facts || exit 1", f"({OTHERS}) > others",
                            f"({LOAD}) > load", f"({ENERGY}) > energy", "date +%s.%N > begin"]
        self.executable = "env"
        self.tools = pathlib.Path(PLAN["results"]) / "tools" / one["name"]  # what they leave
        if PLAN["tools"]:
            shutil.rmtree(self.tools, ignore_errors=True)
            self.tools.mkdir(parents=True)
        words = ["-C", f"{PLAN['scratch']}/{one['name']}", *tools.before(PLAN["tools"], self.tools),
                 PLAN["program"], *one["words"], "-report", str(here / "report.json")]
        self.executable_opts = [shlex.quote(word) for word in words]
        after = f"rm -rf {files}; rmdir --ignore-fail-on-non-empty {folder}"
        self.postrun_cmds = ["echo $? > status", "date +%s.%N > end", f"({LOAD}) >> load",
                             f"({ENERGY}) >> energy",
                             *map(on_node, tools.collect(PLAN["tools"], files, self.tools)),
                             *self.baselines(files), on_node(after)]

    @run_before("run")
    def limit_time(self):
        self.job.launcher.modifier = " ".join(
            ["timeout", *PLAN["timeout_options"], "-k", "5", str(PLAN["time_limit"])])

    def baselines(self, files):
        """What is done with the same ranks after a run that ended well: its files are compared with
        their sums, as many bytes are written raw, and in repetition 0 the step of the same grid is
        compared with the triad."""
        job = self.job
        job.num_tasks, job.num_tasks_per_node = self.num_tasks, self.num_tasks_per_node
        job.num_cpus_per_task = self.num_cpus_per_task
        start, found = f"{job.launcher.run_command(job)} env -C {files}", []
        if self.has("verify"):
            found += [f"{start} {shlex.quote(PLAN['verify'])} > verify 2>&1; echo $? > verified",
                      f"{on_node(f'cat {files}/manifest.jsonl')} > manifest"]
        if self.has("raw_writes"):
            found += [
                """bytes=$(awk '/"written_bytes"/ { gsub(/[^0-9]/, ""); n += $0 } """
                """END { printf "%.0f", n }' report.json)""",
                on_node(f"rm -rf {files}/*"), f"{start} {shlex.quote(PLAN['raw_writes'])} -raw "
                "$bytes -repeat 1 > raw; echo $? > raw_status"]
        if self.has("triad"):
            dx, levels = (f"""$(awk -F: '/"{name}"/ {{ print $2 + 0 }}' report.json)"""
                          for name in ("dx", "Mz"))
            found += [f"{start} {shlex.quote(PLAN['triad'])} -grid_dx {dx} -grid_Mz {levels} "
                      "-repeat 3 > triad; echo $? > triad_status"]
        return ["if [ $(cat status) = 0 ]; then", *found, "fi"] if found else []

    def has(self, baseline):
        """Is it done after a run that ended well?"""
        applies = (self.one["repetition"] == 0 if baseline == "triad"
                   else self.one["options"].get("io_format") != "null")
        return bool(PLAN[baseline]) and applies

    @sanity_function
    def record(self):
        outcome = self.outcome()
        after = self.after() if outcome["status"] == "ok" else {}
        hand_over({**self.one, "facts": self.read("facts").splitlines(),
                   "cluster": emulated_cluster(), **self.load(), **outcome, **after,
                   "energy": self.read("energy")})
        return True

    def after(self):
        """What baselines() left."""
        found = {}
        for baseline, what, status in (
            ("verify", "files differ from what was written: " + self.read("verify"),
             self.read("verified")),
            ("raw_writes", "raw writes after the run", self.read("raw_status")),
            ("triad", "triad after the run", self.read("triad_status"))):
            if self.has(baseline) and status != "0":
                why = f"exit status {status}" if status else "the job ended before it"
                return {"status": "failed", "reason": self.last_lines(f"{what} ({why})")}
        if self.has("verify"):
            found["manifest"] = self.one["report"].removesuffix("json") + "manifest.jsonl"
            shutil.copyfile(pathlib.Path(self.stagedir) / "manifest",
                            pathlib.Path(PLAN["results"]) / found["manifest"])
        try:
            if raw := self.read("raw"):
                found["raw"] = {name: json.loads(raw)["raw"][name] for name in ("bytes", "seconds")}
            if triad := self.read("triad"):
                triad = json.loads(triad)
                found["triad"] = {"GB_per_s": triad["triad"]["GB_per_s"],
                                  "step without SSA": triad["without_ssa"]["share_of_triad"],
                                  "SSA": triad["ssa"].get("share_of_triad")}
        except (ValueError, LookupError) as error:
            return {"status": "failed", "reason": self.last_lines(
                f"expected raw writes and a triad after the run, found none ({error})")}
        return found

    def load(self):
        """Load average and frequency before and after the run; tasks of others that ran before it;
        the fraction of processor time that the hypervisor gave to others."""
        found, others = ([float(word) for word in self.read(name).split()]
                         for name in ("load", "others"))
        if len(found) != 8 or not others:
            return {}
        (load, frequency, stolen, ticks), after = found[:4], found[4:]
        return {
            "load_average": [load, after[0]], "others_running": int(min(others)),
            "steal": round((after[2] - stolen) / max(after[3] - ticks, 1.0), 4),
            **({"cpu_MHz": [round(frequency), round(after[1])]} if frequency and after[1] else {})}

    def read(self, name):
        path = pathlib.Path(self.stagedir) / name
        return path.read_text(errors="replace").strip() if path.exists() else ""

    def outcome(self):
        """Status, reason and seconds; the report, if there is one, goes to the results."""
        status, begin, end = self.read("status"), self.read("begin"), self.read("end")
        seconds = round(float(end) - float(begin), 3) if begin and end else None
        if not status:
            timed_out = self.job.state == "TIMEOUT"
            return {"status": "timeout" if timed_out else "failed", "seconds": seconds,
                    "reason": self.last_lines("the job ended before its program (state "
                                              f"{self.job.state})")}
        if int(status) in TIMED_OUT and seconds >= PLAN["time_limit"]:
            return {"status": "timeout", "seconds": seconds,
                    "reason": self.last_lines(f"time limit of {PLAN['time_limit']:g} s")}
        if int(status) != 0:
            error = texts.ERROR.search(self.said())
            return {"status": "failed", "seconds": seconds, "exit_status": int(status),
                    "reason": error[0] if error else self.last_lines(f"exit status {status}")}
        report = pathlib.Path(self.stagedir) / "report.json"
        try:
            wall = json.loads(report.read_text()).get("wall_seconds", seconds)
        except (OSError, ValueError, AttributeError) as error:
            return {"status": "no report", "seconds": seconds,
                    "reason": self.last_lines(f"expected a report, found none ({error})")}
        shutil.copyfile(report, pathlib.Path(PLAN["results"]) / self.one["report"])
        counted = {"tools": tools.read(PLAN["tools"], self.tools)} if PLAN["tools"] else {}
        return {"status": "ok", "seconds": wall, "elapsed": seconds, **counted}

    def said(self):
        return "\n".join(filter(None, [self.read(self.job.stdout), self.read(self.job.stderr)]))

    def last_lines(self, what):
        """Without the lines that mpiexec draws."""
        return "\n".join([what, *[line for line in self.said().splitlines()
                                  if re.search(r"\w", line)][-LAST_LINES:]])
