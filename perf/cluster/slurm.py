#!/usr/bin/env python3
"""Starts the distribution's Slurm in the machine room: slurmctld on node1, a slurmd on every node.
Called by `cluster slurm`.

No munge: the room trusts itself (auth/none). Without root the daemons are told that they have no
groups (nogroups.cpp). Then `cluster run node1 srun -N 4 --mpi=pmix PROGRAM`, and sbatch, squeue,
scancel as anywhere; SLURM_CONF is set by `cluster run`.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
state = pathlib.Path(sys.argv[1])
cluster = json.loads((state / "cluster.json").read_text())
folder = state / "slurm"
nodes = {host: address for host, address in cluster["hosts"].items() if host.startswith("node")}

CONFIGURATION = f"""ClusterName=nunatak
SlurmctldHost=node1
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
TmpFS={folder}/tmp.%n
MpiDefault=pmix
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=60
"""


def may_set_groups():
    return pathlib.Path("/proc/self/setgroups").read_text().strip() == "allow"


def on(host, *words):
    return [HERE / "agent", host, shlex.join(str(word) for word in words)]


def idle_nodes():
    done = subprocess.run(
        on("node1", "timeout", "2", "sinfo", "-h", "-t", "idle", "-o", "%D"), capture_output=True,
        text=True, env={"NUNATAK_CLUSTER": str(state), "SLURM_CONF": str(folder / "slurm.conf"),
                        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    return (int(done.stdout.strip() or 0) if done.returncode == 0 and
            done.stdout.strip().isdigit() else 0)


def main():
    for name in ("state", "cgroup"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines = [f"NodeName={host} NodeAddr={address} CPUs=4 RealMemory=2000 State=UNKNOWN"
             for host, address in nodes.items()]
    partition = (f"PartitionName=all Nodes={','.join(nodes)} Default=YES MaxTime=60 State=UP "
                 "OverSubscribe=NO")
    (folder / "slurm.conf").write_text(CONFIGURATION + "\n".join([*lines, partition]) + "\n")
    # slurmd wants a cgroup plugin even if nothing uses it: v1, on an empty folder and not on the
    # machine's
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"
                                        f"CgroupMountpoint={folder}/cgroup\nConstrainCores=no\n")
    if not may_set_groups():
        os.environ["LD_PRELOAD"] = str(pathlib.Path(cluster["programs"]) / "libnogroups.so")
    subprocess.run(on("node1", "slurmctld", "-f", folder / "slurm.conf"), check=True)
    for host in nodes:
        for name in ("spool", "tmp"):
            (folder / f"{name}.{host}").mkdir(exist_ok=True)
        subprocess.run(on(host, "slurmd", "-N", host, "-f", folder / "slurm.conf"), check=True)
    begin = time.time()
    while idle_nodes() < len(nodes):
        if time.time() - begin > 20:
            sys.exit(f"cluster: error: Slurm did not start in 20 s; its logs are in {folder}")
        time.sleep(0.1)
    print(f"Slurm runs on {len(nodes)} nodes")


main()
