"""ReFrame's description of a Slurm that is taken as it is: sbatch and srun. Accounts and partitions
come by `perf/study run -J`.

Without accounting (`sacct` fails) ReFrame asks squeue. A centre with modules or access rules has a
site file of its own.
"""
import os
import subprocess


def has_accounting():
    try:
        return subprocess.run(["sacct", "-n", "-X"], capture_output=True, timeout=30,
                              check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


# reasons for which a job would wait forever: it is cancelled, and the run has failed
HOPELESS = ["ReqNodeNotAvail", "PartitionNodeLimit", "PartitionTimeLimit", "PartitionConfig",
            "BadConstraints", "AssocMaxNodePerJobLimit",
            "QOSMaxNodePerJobLimit", "AccountNotAllowed"]

site_configuration = {
    "systems": [{"name": "slurm", "descr": "Slurm", "hostnames": [".*"], "partitions": [
        {"name": "nodes", "scheduler": "slurm" if has_accounting() else "squeue",
         "launcher": "srun", "environs": ["builtin"],
         "sched_options": {"slurm_job_cancel_reasons": HOPELESS},
         "max_jobs": int(os.environ["NUNATAK_STUDY_AT_ONCE"])}]}],
    "environments": [{"name": "builtin"}],
}
