"""The emulated cluster (perf/cluster): its hosts have the network and the disks that were asked
for. Skipped where namespaces are not allowed.

Ranges are wide: the machine may be busy. Every command has a time limit.
"""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from clusters import (CLUSTER, NOBODY, cluster, counts, needs_file_system,  # noqa: F401 (a fixture)
                      needs_root)
from conftest import processes_of

PING = """
import socket, sys, time, fcntl, struct, termios
if sys.argv[1] == "serve":
    server = socket.create_server(("0.0.0.0", 9000))
    print("ready", flush=True)
    one, _ = server.accept()
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while data := one.recv(65536):
        if len(data) < 100:
            one.send(data)
else:
    one = socket.create_connection((sys.argv[1], 9000))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(100):
        begin = time.perf_counter()
        one.send(b"x")
        one.recv(1)
        times.append(time.perf_counter() - begin)
    size, begin = 0, time.perf_counter()
    while size < 4000000:
        one.sendall(bytes(100000))
        size += 100000
    while struct.unpack("i", fcntl.ioctl(one, termios.TIOCOUTQ, bytes(4)))[0] > 0:
        time.sleep(0.001)
    print(min(times), size / (time.perf_counter() - begin), flush=True)
"""


def ping(cluster):
    """Least time there and back, and bytes per second, between two nodes."""
    server = subprocess.Popen(
        [sys.executable, CLUSTER, "run", "node2", sys.executable, "-c", PING, "serve"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=cluster.environment)
    assert server.stdout.readline().strip() == "ready"
    seconds, rate = map(float,
                        cluster("run", "node1", sys.executable, "-c", PING, "node2").stdout.split())
    server.kill()
    server.wait()
    return seconds, rate


def best_ping(cluster, seconds, rate):
    """The least time and the highest rate of up to five pings; the first ones suffice if they are
    better than given. A busy machine makes both worse, never better."""
    found = []
    for _ in range(5):
        found.append(ping(cluster))
        least, most = min(s for s, _ in found), max(r for _, r in found)
        if least < seconds and most > rate:
            break
    return least, most


def test_hosts_have_names_and_cards_of_the_given_rate_and_latency(cluster):
    cluster("up", "-n", 3, "-r", "40mbit", "-l", "2ms")
    assert cluster("run", "node2", "hostname").stdout == "node2\n"
    seconds, rate = best_ping(cluster, 0.012, 0.5 * 40e6 / 8)
    assert 0.004 <= seconds < 0.012
    assert 0.5 * 40e6 / 8 < rate < 1.05 * 40e6 / 8


def test_ranks_see_the_nodes_and_send_what_they_send_elsewhere(cluster, tmp_path):
    """The program meets real nodes; what it counts does not depend on them: nodes, processes of one
    node, virtual ranks."""
    cluster("up", "-n", 4, "-l", "1ms")
    names = cluster("mpirun", "--slots", 2, "-n", 8, "hostname", timeout=90).stdout.split()
    assert sorted(names) == [f"node{1 + n // 2}" for n in range(8)]

    def report(program, *arguments, where):
        path = tmp_path / "report.json"
        words = [str(pathlib.Path(os.environ["NUNATAK"]).parent / program), *arguments, path]
        if where == "nodes":
            cluster("mpirun", "-n", 4, *words, timeout=90)
        else:
            start = ([*shlex.split(os.environ["NUNATAK_MPIEXEC"]), "4"] if where == "processes"
                     else [])
            words += ["-virtual_ranks", "4"] if where == "virtual" else []
            subprocess.run([str(word) for word in start + words], check=True, capture_output=True,
                           timeout=60)
        return counts(json.loads(path.read_text()))

    for words in (("nunatak-distance", "-mask", "shelves:1", "-grid_Mx", "61", "-grid_My", "43",
                   "-compare", "-report"), ("nunatak-labels", "-mask", "percolation:0.593",
                                            "-grid_Mx", "61", "-grid_My", "43", "-report")):
        found = [report(*words, where=where) for where in ("virtual", "processes", "nodes")]
        assert found[0] == found[1] == found[2]
        assert sum(found[0].values()) > 100
    words = ("nunatak", "-init", "marine", "-grid_dx", "64km", "-stress", "sia", "-run_steps", "1",
             "-io_format", "null", "-report")
    found = [report(*words, where=where) for where in ("processes", "nodes")]
    assert found[0] == found[1]
    assert sum(found[0].values()) > 100


@pytest.mark.parametrize("version, expected, absent", [
    ("mpirun (Open MPI) 4.1.4", ["--mca plm_rsh_agent", "--oversubscribe", "--host node1:3,node2:3",
                                 "-x OMP_NUM_THREADS=2"], "prte"),
    ("mpirun (Open MPI) 5.0.7",
     ["--prtemca plm_ssh_agent", "--map-by :OVERSUBSCRIBE", "--host node1:3,node2:3"], "orte"),
    ("HYDRA build details:",
     ["-launcher-exec", "-hosts node1:3,node2:3", "-genv OMP_NUM_THREADS 2"], "mca")])
def test_each_mpi_library_is_started_by_its_own_names(cluster, tmp_path, version, expected, absent):
    """The command line of `mpirun`; ranks are started by the installed library in other tests."""
    mpirun = tmp_path / "mpirun"
    mpirun.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "{version}"; else echo "$@"; fi\n')
    mpirun.chmod(0o755)
    cluster.environment.update(PATH=f"{tmp_path}:{cluster.environment['PATH']}",
                               OMP_NUM_THREADS="2")
    cluster("up", "-n", 2)
    line = cluster("mpirun", "--slots", 3, "-n", 6, "program", "-option").stdout
    assert all(words in line for words in expected) and absent not in line
    assert line.endswith(" -n 6 program -option\n")


@needs_file_system
def test_the_file_system_is_shared_striped_and_as_fast_as_its_cards(cluster):
    cluster("up", "-n", 2, "-s", 2, "-r", "80mbit", "-S", "40mbit", "--stripe", 65536)
    megabytes, begin = 4, time.time()
    cluster("run", "node1", "dd", "if=/dev/urandom", "of=/mnt/pfs/x", "bs=1M", f"count={megabytes}",
            "conv=fsync")
    seconds = time.time() - begin
    assert seconds > 0.9 * megabytes * 2**20 / (2 * 40e6 / 8)  # two servers
    assert seconds < 5 * megabytes * 2**20 / (2 * 40e6 / 8) + 5
    sums = {cluster("run", node, "md5sum", "/mnt/pfs/x").stdout for node in ("node1", "node2")}
    assert len(sums) == 1
    cluster("run", "node2", "mv", "/mnt/pfs/x", "/mnt/pfs/y")
    assert cluster("run", "node1", "ls", "/mnt/pfs").stdout == "y\n"


@needs_file_system
def test_two_nodes_append_to_one_file(cluster):
    cluster("up", "-n", 2, "-s", 1)
    script = ("import os, sys, time; f = open('/mnt/pfs/log', 'a'); time.sleep(max(0, "
              "float(sys.argv[2]) - time.time())); [(f.write(sys.argv[1] + '\\n'), f.flush(), "
              "time.sleep(0.02)) for _ in range(20)]")
    begin = str(time.time() + 1)  # both have the file open before one of them writes
    both = [subprocess.Popen([sys.executable, CLUSTER, "run", node, "python3", "-c", script, node,
                              begin], env=cluster.environment) for node in ("node1", "node2")]
    assert [one.wait(timeout=30) for one in both] == [0, 0]
    lines = cluster("run", "node1", "cat", "/mnt/pfs/log").stdout.split()
    assert sorted(lines) == ["node1"] * 20 + ["node2"] * 20


@needs_file_system
@pytest.mark.parametrize("wait", ["fcntl.lockf(f, fcntl.LOCK_EX)", "fcntl.flock(f, fcntl.LOCK_EX)"])
def test_who_waits_for_a_lock_of_another_node_can_be_killed(cluster, wait):
    cluster("up", "-n", 2, "-s", 1)
    script = ("import fcntl, time; f = open('/mnt/pfs/lock', 'a'); print('open', flush=True); "
              f"{wait}; print('held', flush=True); time.sleep(100)")

    def start(node):
        one = subprocess.Popen([sys.executable, CLUSTER, "run", node, "python3", "-c", script,
                                node], stdout=subprocess.PIPE, text=True, env=cluster.environment)
        assert one.stdout.readline() == "open\n"
        return one
    holder = start("node1")
    assert holder.stdout.readline() == "held\n"
    waiter = start("node2")
    time.sleep(0.5)
    assert waiter.poll() is None
    cluster("run", "room", "pkill", "-9", "-f", "python3.* node2$")
    assert waiter.wait(timeout=10) != 0 and holder.poll() is None
    holder.kill()


@needs_file_system
def test_a_storage_server_may_be_slow(cluster):
    cluster("up", "-n", 1, "-s", 2, "-r", "80mbit", "--slow", "2:8")
    script = ("import os, time; t = time.time(); f = os.open('/mnt/pfs/x', os.O_WRONLY | "
              "os.O_CREAT); os.write(f, bytes(4 << 20)); os.fsync(f); print(time.time() - t)")
    assert float(cluster("run", "node1", "python3", "-c", script).stdout) > 0.9 * 2 * 2**20 / (
        10e6 / 8)
    cluster("down")
    assert "--slow: expected the number of a storage server and a factor" in cluster(
        "up", "-s", 2, "--slow", "3:10", check=False).stderr
    for rate in ("50", "5mbps", "0mbit"):
        assert f"-r: expected a rate like 50mbit (kbit, mbit, gbit), found '{rate}'" in cluster(
            "up", "-r", rate, check=False).stderr


@needs_root
def test_an_ordinary_user_has_a_cluster_or_a_sentence(cluster):
    """Without root: a user namespace; devices that the user may not open are named, with the option
    that needs them."""
    allowed = subprocess.run([*NOBODY, "unshare", "-r", "--net", "/usr/bin/python3", "-c",
                              f"open({str(CLUSTER)!r})"], capture_output=True)
    if allowed.returncode != 0:
        pytest.skip("an ordinary user may not make namespaces here, or not read the source")
    for device, option, value in (("/dev/net/tun", "-l", "1ms"), ("/dev/fuse", "-s", "1")):
        if subprocess.run([*NOBODY, "test", "-w", device]).returncode != 0:
            refused = cluster("up", "-n", 2, option, value, user=NOBODY, check=False)
            assert refused.returncode == 1 and f"{option}: expected '{device}'" in refused.stderr
    cluster("up", "-n", 2, "-r", "40mbit", user=NOBODY)
    assert cluster("run", "node2", "hostname", user=NOBODY).stdout == "node2\n"
    assert sorted(cluster("mpirun", "-n", 2, "hostname", user=NOBODY).stdout.split()) == ["node1",
                                                                                          "node2"]
    owner = os.stat(cluster.folder / "room.pid").st_uid
    cluster("down", user=NOBODY)
    assert owner == 65534 and not cluster.folder.exists()


def test_nothing_is_left_when_a_part_is_killed(cluster):
    cluster("up", "-n", 2)
    inside = subprocess.Popen([sys.executable, CLUSTER, "run", "node1", "sleep", "1000"],
                              env=cluster.environment)
    time.sleep(0.3)
    os.kill(int((cluster.folder / "room.pid").read_text().split()[0]), signal.SIGKILL)
    assert inside.wait(timeout=10) != 0
    assert "no cluster runs" in cluster("status", check=False).stderr
    cluster("up", "-n", 2)  # over what the killed one left


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_of_a_start_that_is_interrupted(cluster, number):
    # SIGINT is ignored where tests run in the background
    start = subprocess.Popen([sys.executable, CLUSTER, "up", "-n", "30", "-l", "200us"],
                             env=cluster.environment, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    deadline = time.time() + 20
    while not (cluster.folder / "node1.pid").exists() and time.time() < deadline:
        time.sleep(0.01)
    assert processes_of(cluster.folder)
    start.send_signal(number)
    assert start.wait(timeout=10) != 0
    deadline = time.time() + 10
    while processes_of(cluster.folder) and time.time() < deadline:
        time.sleep(0.05)
    assert not processes_of(cluster.folder)


@needs_root
def test_folders_of_the_machine_in_mnt_are_there(cluster):
    with tempfile.TemporaryDirectory(dir="/mnt") as folder:
        pathlib.Path(folder, "x").write_text("here")
        cluster("up", "-n", 1)
        assert cluster("run", "node1", "cat", f"{folder}/x").stdout == "here"
        # nor is anything of the machine in the state, which is removed
        for where in ("node1", "room"):
            assert cluster("run", where, "find", cluster.folder, "-name", "x").stdout == ""
            refused = cluster("run", where, "python3", CLUSTER, "down", check=False)
            assert refused.returncode == 1 and "expected a shell of the machine" in refused.stderr
        assert pathlib.Path(folder, "x").exists()
        cluster("down")


def test_mistakes_are_refused(cluster):
    environment = {**cluster.environment, "NUNATAK_CLUSTER": f"{cluster.folder} b"}
    refused = subprocess.run([sys.executable, CLUSTER, "up"], env=environment, capture_output=True,
                             text=True, timeout=60)
    assert refused.returncode == 1 and "expected a path without blanks and colons" in refused.stderr
    assert "no cluster runs" in cluster("run", "node1", "true", check=False).stderr
    assert "expected a time" in cluster("up", "-l", "fast", check=False).stderr
    cluster("up", "-n", 2)
    assert "runs already" in cluster("up", "-n", 2, check=False).stderr
    assert "found 'node7'" in cluster("run", "node7", "true", check=False).stderr
