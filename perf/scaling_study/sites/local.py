"""ReFrame's description of this machine: jobs start at once, by the words of NUNATAK_MPIEXEC (default: mpiexec -n)."""
import pathlib
import shlex
import sys

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import launcher  # noqa: E402


@register_launcher("nunatak_mpiexec")
class Mpiexec(JobLauncher):
    def command(self, job):
        return [*shlex.split(launcher.MPIEXEC), str(job.num_tasks)]


site_configuration = {
    "systems": [{"name": "local", "descr": "this machine", "hostnames": [".*"], "partitions": [
        {"name": "here", "scheduler": "local", "launcher": "nunatak_mpiexec", "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}],
}
