"""What the tests on the emulated cluster share: a cluster of their own, or the reason why there is
none."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

SOURCE = pathlib.Path(os.environ["NUNATAK_SOURCE"])
CLUSTER = SOURCE / "perf" / "cluster" / "cluster"
PROGRAMS = pathlib.Path(os.environ.get("NUNATAK_CLUSTER_PROGRAMS", "/nonexistent"))
HAS_FILE_SYSTEM = (PROGRAMS / "striped_fs").exists() and os.path.exists("/dev/fuse")
needs_file_system = pytest.mark.skipif(not HAS_FILE_SYSTEM, reason="no FUSE 3")
HAS_SLURM = shutil.which("slurmctld") is not None or os.path.exists("/usr/sbin/slurmctld")
needs_slurm = pytest.mark.skipif(not HAS_SLURM, reason="no Slurm")
needs_root = pytest.mark.skipif(os.geteuid() != 0,
                                reason="all tests of clusters are those of an ordinary user here")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def call(environment, *words, check=True, timeout=60, user=()):
    python = "/usr/bin/python3" if user else sys.executable  # that of the tests may lie in a home
    done = subprocess.run([*user, python, CLUSTER, *map(str, words)], capture_output=True,
                          text=True, timeout=timeout, env=environment)
    assert not check or done.returncode == 0, done.stderr
    return done


def skip_without_cluster():
    for tool in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(tool) is None and not os.path.exists(f"/usr/sbin/{tool}"):
            pytest.skip(f"no {tool}")
    if not (PROGRAMS / "switch").exists():
        pytest.skip("perf/cluster was not built")
    if subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork",
                       *([] if os.geteuid() == 0 else ["-r"]), "true"],
                      capture_output=True).returncode != 0:
        pytest.skip("this machine does not allow namespaces")


@pytest.fixture
def cluster():
    """cluster("up", ...), cluster("run", ...): ended after the test."""
    skip_without_cluster()
    above = tempfile.mkdtemp(prefix="nk", dir="/tmp")  # short: Open MPI makes sockets below it
    os.chmod(above, 0o1777)  # one of the tests is an ordinary user's
    folder = f"{above}/c"
    environment = {**os.environ, "NUNATAK_CLUSTER": folder,
                   "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    environment.pop("LD_PRELOAD", None)

    def command(*words, **keywords):
        return call(environment, *words, **keywords)
    command.folder, command.environment = pathlib.Path(folder), environment
    yield command
    command("down")
    assert not os.path.exists(folder)
    os.rmdir(above)


def counts(report, path=""):
    """All counts of messages, rounds, collectives and bytes, by their place in the report; not
    those of the modelled path."""
    found = {}
    for key, value in (report.items() if isinstance(report, dict) else enumerate(report)):
        if isinstance(value, (dict, list)):
            found.update(counts(value, f"{path}/{key}"))
        elif any(word in str(key) for word in ("messages", "rounds", "collectives", "lagged",
                                               "bytes")) and not str(key).startswith("path_"):
            found[f"{path}/{key}"] = value
    return found
