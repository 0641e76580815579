"""ReFrame's description of this machine: jobs start at once, by the words of NUNATAK_MPIEXEC
(default: mpiexec -n)."""
import pathlib
import shlex
import sys

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import launcher  # noqa: E402


# Open MPI 4 and 5 bind a rank to one core, and with it all its threads
UNBOUND = ["OMPI_MCA_hwloc_base_binding_policy=none", "PRTE_MCA_hwloc_default_binding_policy=none"]


@register_launcher("nunatak_mpiexec")
class Mpiexec(JobLauncher):
    def command(self, job):
        unbound = ["env", *UNBOUND] if job.num_cpus_per_task > 1 else []
        return [*unbound, *map(shlex.quote, shlex.split(launcher.MPIEXEC)), str(job.num_tasks)]


site_configuration = {
    "systems": [{"name": "local", "descr": "this machine", "hostnames": [".*"], "partitions": [
        {"name": "here", "scheduler": "local", "launcher": "nunatak_mpiexec",
         "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}],
}
