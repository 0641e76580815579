"""ReFrame's description of the emulated cluster (perf/cluster): jobs start at once, by the MPI of
the PATH over its nodes."""
import pathlib
import shlex

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher

CLUSTER = pathlib.Path(__file__).resolve().parents[2] / "cluster" / "cluster"


@register_launcher("nunatak_cluster")
class ClusterMpirun(JobLauncher):
    def command(self, job):
        return [shlex.quote(str(CLUSTER)), "mpirun", "--slots", str(job.num_tasks_per_node), "-n",
                str(job.num_tasks)]


site_configuration = {
    "systems": [{"name": "cluster", "descr": "the emulated cluster", "hostnames": [".*"],
                 "partitions": [{"name": "nodes", "scheduler": "local",
                                 "launcher": "nunatak_cluster", "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}],
}
