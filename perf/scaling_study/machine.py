"""Where a study runs: the systems that `perf/study run --system` knows, and what machine.json says
of them."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from . import texts
from .study_file import StudyError

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))
import cluster_state  # noqa: E402

OWN = ("local", "cluster", "slurm")
MOST_WATTS = 500  # of a socket
# Shell: the cores of a node, without those that a process may not use; hardware threads are none
CORES = """{ grep Cpus_allowed_list /proc/self/status; lscpu -p=CPU,SOCKET,CORE 2>/dev/null; } |
awk -F'[:,[:space:]]+' '
/^Cpus/ { for (k = 2; k <= NF; ++k) if ((n = split($k, ends, "-")) > 0)
            for (c = ends[1]; c <= ends[n]; ++c) { may[c]; ++threads } }
/^[0-9]/ && ($1 in may) && !seen[$2, $3]++ { ++cores }
END { print cores ? cores : threads }'"""
# Shell: a line with the name of the processor behind a colon. On ARM only lscpu has it
CPU = ("grep -m1 'model name' /proc/cpuinfo || "
       "LC_ALL=C lscpu 2>/dev/null | grep -m1 'Model name' || echo")
# least looks per second at a job that runs; of batch systems ReFrame's own
POLLS = {"local": "5", "cluster": "5"}


class System:
    """What --system names: a site file of ReFrame, and how jobs are started there."""

    def __init__(self, words):
        file, dot, self.place = f"{words}:".partition(".py:")
        self.name, self.place = words, self.place.removesuffix(":")
        if words in OWN:
            self.site = HERE / "sites" / f"{words}.py"
        elif dot:
            self.site = pathlib.Path(f"{file}.py").resolve()
            if not self.site.is_file():
                raise StudyError(
                    f"--system: file '{file}.py': expected a site file of ReFrame, found none")
            self.name = self.site.stem
        else:
            raise StudyError("--system: expected local, cluster, slurm or a site file of ReFrame "
                             f"(SITE.py), found '{words}'")
        if self.name == "slurm" and not all(map(shutil.which, ("sbatch", "srun"))):
            raise StudyError("--system slurm: expected sbatch and srun in the PATH, found none")
        if self.name == "slurm":
            expect_controller()
        if os.path.expandvars(self.site) != str(self.site):
            raise StudyError(f"--system: file '{self.site}': expected a path without a variable, "
                             "as ReFrame would replace it, found one")
        self.local, self.cluster = self.name == "local", self.name == "cluster"

    @property
    def one_at_a_time(self):
        return self.local or self.cluster

    @property
    def polls(self):
        return POLLS.get(self.name, "0.5")


def expect_controller():
    """Says in one sentence that Slurm does not answer, which every job would say at length."""
    try:
        asked = subprocess.run(["sinfo", "--noheader"], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=60, check=False)
        why = texts.one_line(asked.stderr) if asked.returncode != 0 else None
    except OSError:  # no sinfo
        return
    except subprocess.TimeoutExpired:
        why = "no answer within 60 s"
    if why is not None:
        raise StudyError(f"--system slurm: expected a Slurm that answers sinfo, found none: {why}")


def cluster_words(study, nodes):
    """The arguments of `cluster up`."""
    return ["-n", str(nodes), *[word for name, value in study["cluster"].items()
                                for word in (f"--{name.replace('_', '-')}", value)]]


def study_name(output):
    """The name of a study among others of this user; the same when the study continues."""
    return f"nunatak-study-{hashlib.sha1(str(output).encode()).hexdigest()[:8]}"


def cluster_folder(output):
    """The state of the study's own cluster."""
    try:
        return os.path.join(cluster_state.private_folder(), study_name(output))
    except cluster_state.StateError as error:
        raise StudyError(str(error)) from None


def emulated_description(folder):
    """Of the emulated cluster whose state is in `folder`; nothing elsewhere."""
    try:
        return cluster_state.State(folder).description() if folder else None
    except cluster_state.StateError as error:
        raise StudyError(str(error)) from None


def rate(text):
    return re.sub(r"^([0-9.]+)\s*([kmg])bit$",
                  lambda m: f"{m[1]} {m[2].upper() if m[2] != 'k' else 'k'}bit/s", text)


def facts_of(system, nodes, cluster, facts):
    """machine.json except for the versions, which come with the first report. `facts`: the lines
    that a job wrote of its node."""
    kernel, cores, cpu, file_system, sockets, accelerators = (facts + [""] * 6)[:6]
    cores, sockets = (int(number) if number.isdigit() else None for number in (cores, sockets))
    machine = {"system": system.name, "nodes": nodes, "cores_per_node": cores,
               **({"sockets_per_node": sockets} if sockets else {}),
               "accelerators_per_node": accelerators.strip() or "no NVIDIA GPU",
               "cpu": cpu.partition(":")[2].strip(), "kernel": kernel,
               "file_system": file_system, "network": None, "emulated": cluster is not None}
    if cluster:
        servers = (f"{cluster['servers']} servers of {rate(cluster['server_rate'])}, stripes of "
                   f"{cluster['stripe'] / 2**20:g} MiB")
        machine.update(cores_per_node=1, physical_cores=cores,
                       network=f"{rate(cluster['rate'])}, {cluster['latency_us']:g} us",
                       file_system=f"emulated, {servers}" if cluster["servers"] else file_system)
    return machine


def software_of(report):
    """MPI, its MPI-IO and the versions of all libraries, as nunatak or nunatak-io reports them."""
    if "versions" in report:
        return {"mpi": report["versions"].get("MPI"),
                "mpi_io": report.get("output", {}).get("mpi_io"), "versions": report["versions"]}
    host = report.get("host", {})
    return {"mpi": host.get("mpi"), "mpi_io": host.get("mpi_io"),
            "versions": {"nunatak": report.get("version"), "MPI": host.get("mpi"),
                         **host.get("libraries", {})}}


def energy(run):
    """Joules that the sockets of a run on one node took: from the energy and range (uJ) of each
    before it, and after it. A counter begins anew at the end of its range; what may have done so
    twice says nothing."""
    found = [int(word) for word in run.get("energy", "").split()]
    n, most = len(found) // 4, MOST_WATTS * 1e6 * (run.get("elapsed") or 0)
    if (run["nodes"] > 1 or n == 0 or len(found) != 4 * n or
        any(most > found[2 * k + 1] for k in range(n))):
        return {}
    return {"energy_J": sum((found[2 * (n + k)] - found[2 * k]) % (found[2 * k + 1] + 1)
                            for k in range(n)) / 1e6}


def core_marks(machine, run):
    """Marks of a run whose ranks do not have a core each."""
    if machine["emulated"]:
        # its disks need a core; from two nodes on its network, too
        needed, cores = run["ranks"] * run["threads"] + 1, machine["physical_cores"]
        return {"oversubscribed": False,
                "shared_cores": run["nodes"] > 1 or cores is None or needed > cores}
    cores = machine["cores_per_node"]
    return {"oversubscribed": cores is not None and run["ranks_per_node"] * run["threads"] > cores,
            "shared_cores": False}


def own_cluster(system, output):
    """The folder of state of the emulated cluster, if runs happen on one: the study's own, or that
    whose Slurm runs them."""
    if system.cluster:
        return cluster_folder(output)
    return None if system.local else os.environ.get("NUNATAK_CLUSTER")
