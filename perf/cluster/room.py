#!/usr/bin/env python3
"""The init of the machine room: builds hosts and network in the namespaces that it was started in,
then reaps what ends in them.

Started by `cluster up`, which describes the cluster in STATE/cluster.json. A host is a process that
holds a network, UTS, IPC and mount namespace of its own. Without latency the hosts hang on a bridge
(veth); with it on a switch in user space (TAP, switch.cpp). Killing this process ends everything.
"""
import json
import os
import pathlib
import shlex
import stat
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
state = pathlib.Path(sys.argv[1])
cluster = json.loads((state / "cluster.json").read_text())
programs = pathlib.Path(cluster["programs"])
TCP = ["net.ipv4.tcp_rmem=4096 131072 524288", "net.ipv4.tcp_wmem=4096 65536 524288",
       "net.ipv6.conf.all.disable_ipv6=1"]


def sh(*words):
    subprocess.run([str(word) for word in words], check=True)


def on(host, *words):
    return [HERE / "agent", host, shlex.join(str(word) for word in words)]


def netns_of(host):
    return (state / f"{host}.pid").read_text().split()[0]


def start_host(name):
    """Its name, its /dev/shm, and a process that keeps them."""
    pid_file = shlex.quote(str(state / f"{name}.pid"))
    script = (
        f"hostname {name} && mount -t tmpfs tmpfs /dev/shm && "
        "(mount -t sysfs sysfs /sys 2>/dev/null || true) && "
        "read -r stat </proc/$$/stat && set -- ${stat##*) } && "
        f"echo $$ ${{20}} > {pid_file}.new && mv {pid_file}.new {pid_file} && exec sleep infinity")
    return subprocess.Popen(["unshare", "--net", "--uts", "--ipc", "--mount", "--propagation",
                             "private", "sh", "-c", script])


def limit_rate(words_before, device, rate):
    # deep enough that windows of 512 KiB from many hosts never overflow it
    sh(*words_before, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst",
       "20k", "limit", "16m")


def connect_by_bridge(hosts):
    sh("ip", "link", "add", "bridge0", "type", "bridge")
    sh("ip", "link", "set", "bridge0", "up", "mtu", 9000)
    for k, host in enumerate(hosts):
        sh("ip", "link", "add", f"port{k}", "mtu", 9000, "type", "veth", "peer", "name", "eth0",
           "mtu", 9000, "netns", netns_of(host))
        sh("ip", "link", "set", f"port{k}", "gso_max_segs", 1, "master", "bridge0", "up")
        sh(*on(host, "ip", "link", "set", "eth0", "gso_max_segs", 1))
        limit_rate([], f"port{k}", cluster["rates"][host])  # what the host receives
        limit_rate(on(host), "eth0", cluster["rates"][host])  # what it sends


def connect_by_switch(hosts):
    """TAP devices: the switch adds the latency and the receiver's rate. The sender's rate is tbf's,
    where TCP can see the queue."""
    ports = [f"{k + 1} 02:77:00:00:00:{k + 1:02x} {cluster['rates'][host]}\n"
             for k, host in enumerate(hosts)]
    (state / "ports").write_text("".join(ports))
    switch = subprocess.Popen(
        [programs / "switch", str(cluster["latency_us"]), state / "ports", state / "switch.ready"])
    while not (state / "switch.ready").exists():
        if switch.poll() is not None:
            sys.exit("the switch ended: " + str(switch.returncode))
        time.sleep(0.01)
    for k, host in enumerate(hosts):
        sh("ip", "link", "set", f"tap{k + 1}", "netns", netns_of(host))
        sh(*on(host, "ip", "link", "set", f"tap{k + 1}", "name", "eth0", "address",
               f"02:77:00:00:00:{k + 1:02x}", "mtu", 9000))
        limit_rate(on(host), "eth0", cluster["rates"][host])


def start_network():
    hosts = cluster["hosts"]
    names = "127.0.0.1 localhost\n" + "".join(f"{address} {host}\n"
                                              for host, address in hosts.items())
    (state / "hosts").write_text(names)
    sh("mount", "--bind", state / "hosts", "/etc/hosts")  # before the hosts copy the mounts
    processes = {host: start_host(host) for host in hosts}
    while not all((state / f"{host}.pid").exists() for host in hosts):
        for host, process in processes.items():
            if process.poll() is not None:
                sys.exit(f"host {host} ended: {process.returncode}")
        time.sleep(0.005)
    (connect_by_switch if cluster["latency_us"] > 0 else connect_by_bridge)(list(hosts))
    for host, address in hosts.items():
        settings = " && ".join(f"sysctl -qw '{setting}'" for setting in TCP)
        sh(*on(host, "sh", "-c",
               f"ip link set lo up && ip addr add {address}/24 dev eth0 && {settings}; "
               "ip link set eth0 up txqueuelen 1000"))


def start_file_system():
    """The content is a folder that all nodes share; the time is that of requests to the servers
    (striped_fs.cpp)."""
    servers = {host: address
               for host, address in cluster["hosts"].items() if host.startswith("oss")}
    for host in servers:
        with open(state / f"{host}.log", "w") as log:
            subprocess.Popen(on(host, programs / "storage_server"), stdout=log, stderr=log)
    for host in cluster["hosts"]:
        if host.startswith("node"):
            sh(*on(host, programs / "striped_fs", state / "backing", "/mnt/pfs", cluster["stripe"],
                   cluster["locks"], *servers.values()))


def make_mount_point():
    """/mnt/pfs, next to the folders that the machine has in /mnt: a new /mnt, made aside, so that
    nothing of the machine stays there."""
    aside = state / "mnt"
    sh("mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "tmpfs", aside)
    (aside / "pfs").mkdir()
    for name in os.listdir("/mnt"):
        try:
            mode = os.lstat(f"/mnt/{name}").st_mode
        except OSError as error:  # a file system of another machine that has gone
            print(f"/mnt/{name} is left out: {error.strerror}", flush=True)
            continue
        if stat.S_ISDIR(mode) and name != "pfs":
            (aside / name).mkdir()
            subprocess.run(["mount", "--rbind", f"/mnt/{name}", str(aside / name)], check=False)
    sh("mount", "-n", "--move", aside, "/mnt")


def main():
    sh("ip", "link", "set", "lo", "up")
    for folder in ("backing", "tmp", "mnt"):
        (state / folder).mkdir()
    sh("mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", state / "backing")
    make_mount_point()
    start_network()
    if cluster["servers"] > 0:
        start_file_system()
    (state / "ready").touch()
    while True:  # init reaps
        try:
            os.wait()
        except ChildProcessError:
            time.sleep(1)


main()
