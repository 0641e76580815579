#!/usr/bin/env python3
"""Kills a server, a client, or all of a run of nunatak with output servers at seeded instants while
it writes, and goes on from what is left.

  instants.py NUNATAK "MPIEXEC -n" --slow-disk LIBRARY [--instants 100] [--seed 1]
      [--transport async:1] [--go-on every|last]

Three runs that are not killed come first. The disk is one of --rate bytes per second
(slow_disk.cpp), which makes most of their time, however busy the machine is; the instants lie
within the shortest of them. Every other run must end within 30 s, with a status that is not 0;
nunatak-verify must find each file as the manifest says; each snapshot must have the bits of the
first run's, each series those of its first records, and no snapshot may be newer than a series.
Then a run goes on, on a disk that is not slow, from the latest snapshot (--go-on: of every trial,
or of the last one that left some), and its files must be those of the first run, bit for bit.
"""
import argparse
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import netCDF4

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from conftest import ranks_of  # noqa: E402

LONGEST = 30  # s
YEARS = 30
MODEL = ("-stress", "sia", "-dt_max", "0.5")
FILES = ("-timeseries_file", "series.nc", "-spatial_file", "maps.nc", "-spatial_every", "1",
         "-spatial_vars", "thk,mask", "-io_commit_every", "1", "-snapshot_file", "s.nc",
         "-snapshot_every", "1", "-o", "end.nc", "-io_format", "direct", "-verbose", "no")


def command(options, *words):
    servers = int(options.transport.split(":")[1])
    return [*shlex.split(options.mpiexec), str(2 + servers), options.nunatak, *words, *MODEL,
            "-run_until", str(YEARS), *FILES,
            "-io_transport", options.transport, "-io_patience", "10"]


def start(options, folder):
    words = command(options, "-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5")
    words[words.index(options.nunatak):words.index(options.nunatak)] = [
        "env", f"LD_PRELOAD={options.slow_disk}",
        f"NUNATAK_DISK={options.rate} {folder}/ {folder}.disk"]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            text=True)


def undisturbed(options, folder):
    """Seconds from its first file to its end."""
    folder.mkdir()
    process = start(options, folder)
    wait_for_output(process, folder)
    begin = time.time()
    err = process.communicate(timeout=300)[1]
    if process.returncode != 0:
        sys.exit(f"instants: fails without a kill: {err}")
    return time.time() - begin


def wait_for_output(process, folder):
    """Until the run has begun its first file, or has ended."""
    while process.poll() is None and not any(folder.iterdir()):
        time.sleep(0.005)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False


def contents(path):
    """Bytes by variable; of those with records, of each record."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        unlimited = {name for name, dimension in data.dimensions.items() if dimension.isunlimited()}
        return {name: [record.tobytes() for record in v[:]] if unlimited & set(v.dimensions)
                else v[:].tobytes() for name, v in data.variables.items()}


def differences(folder, whole, complete):
    """Files that are not the beginning (complete: all) of those of the run that was not killed."""
    for path in sorted(folder.glob("*.nc")):
        found, expected = contents(path), contents(whole / path.name)
        for name in expected:
            n = None if complete or not isinstance(expected[name], list) else len(found[name])
            if found[name] != expected[name][:n]:
                yield f"{path.name}: {name} differs"
    if complete:
        yield from (f"{path.name} is missing"
                    for path in whole.glob("*.nc") if not (folder / path.name).exists())


def newer(folder):
    """A snapshot is never newer than what the series have committed: else the run could not go on
    from it."""
    snapshot = max(folder.glob("s_*.nc"), default=None)
    for name in ("series.nc", "maps.nc") if snapshot else ():
        if not (folder / name).exists():
            yield f"{snapshot.name} is there, and {name} is not"
            continue
        with netCDF4.Dataset(snapshot) as state, netCDF4.Dataset(folder / name) as series:
            if series["time"][-1] < state["time"][0] - 1e-6:
                yield f"{snapshot.name} is newer than {name}"


def verify(options, folder):
    done = subprocess.run([pathlib.Path(options.nunatak).with_name("nunatak-verify"), folder],
                          capture_output=True, text=True, timeout=60)
    return [] if done.returncode == 0 else ["nunatak-verify: " + done.stdout + done.stderr]


def trial(options, folder, whole, who, instant):
    """What is wrong; None if the run had ended before."""
    process = start(options, folder)
    wait_for_output(process, folder)
    time.sleep(instant)
    ranks = ranks_of(process)
    if not ranks:
        process.kill() if process.poll() is None else None
        process.communicate()
        return None
    struck = {"client": [random.choice((0, 1))], "server": [max(ranks)], "all": list(ranks)}[who]
    begin = time.time()
    for rank in struck:
        kill(ranks.get(rank, max(ranks.values())))
    if who == "all":
        process.kill()
    wrong = []
    try:
        process.communicate(timeout=2 * LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        wrong.append("hangs")
    while time.time() - begin < LONGEST and any(map(is_alive, ranks.values())):
        time.sleep(0.01)
    left = [rank for rank, pid in ranks.items() if is_alive(pid)]
    if left or time.time() - begin > LONGEST:
        wrong.append(f"took {time.time() - begin:.0f} s, and ranks {left} live")
    for rank in left:
        kill(ranks[rank])
    if process.returncode == 0:
        wrong.append("status 0")
    if any(folder.glob("*.nc")):
        wrong += verify(options, folder)
    return wrong + list(differences(folder, whole, False)) + list(newer(folder))


def go_on(options, folder, whole):
    last = max(folder.glob("s_*.nc"))
    done = subprocess.run(command(options, "-i", last.name), cwd=folder, capture_output=True,
                          text=True, timeout=120)
    if done.returncode != 0:
        return [f"does not go on from {last.name}: {done.stderr}"]
    return [f"from {last.name}: {what}"
            for what in differences(folder, whole, True)] + verify(options, folder)


def a_fast_folder():
    """/dev/shm, if it has room for the files of several runs (containers often have 64 MB)."""
    shared = pathlib.Path("/dev/shm")
    return (str(shared) if shared.is_dir() and
            shutil.disk_usage(shared).free > 1 << 29 else tempfile.gettempdir())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nunatak")
    parser.add_argument("mpiexec", help="mpiexec with its flags, the number of ranks to follow")
    parser.add_argument("--instants", type=int, default=100)
    parser.add_argument("--folder", default=a_fast_folder(),
                        help="of the runs (default %(default)s)")
    parser.add_argument("--slow-disk", required=True, help="the library of slow_disk.cpp")
    parser.add_argument("--rate", default="5e6",
                        help="of the disk (default %(default)s: the files of a run have 21 MB)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--transport", default="async:1")
    parser.add_argument("--go-on", choices=("every", "last"), default="every")
    options = parser.parse_args()
    random.seed(options.seed)
    bad, went_on, struck, left = 0, 0, 0, None
    with tempfile.TemporaryDirectory(dir=options.folder) as base:
        whole = pathlib.Path(base) / "whole"
        length = min(undisturbed(options, folder)
                     for folder in (whole, whole.with_name("second"), whole.with_name("third")))
        folder = whole
        for n in range(options.instants):
            if folder not in (whole, left):
                shutil.rmtree(folder)
            folder = pathlib.Path(base) / str(n)
            folder.mkdir()
            struck_ones = ("server", "client", "all")
            who, instant = struck_ones[n % len(struck_ones)], random.uniform(0.0, length)
            wrong = trial(options, folder, whole, who, instant)
            if wrong is None:
                continue
            struck += 1
            if any(folder.glob("s_*.nc")):
                if left:
                    shutil.rmtree(left)
                left = folder
            if left == folder and options.go_on == "every" and not wrong:
                wrong, went_on = go_on(options, folder, whole), went_on + 1
            bad += len(wrong)
            for what in wrong:
                print(f"WRONG {who} killed after {instant:.3f} s (trial {n}): {what}", flush=True)
        if left and options.go_on == "last":
            wrong, went_on = go_on(options, left, whole), went_on + 1
            bad += len(wrong)
            print("".join(f"WRONG {what}\n" for what in wrong), end="")
    print(f"{options.transport}: {struck} of {options.instants} killed before their end (they "
          f"write for {length:.1f} s), {went_on} went on, {bad} wrong")
    return 1 if bad or struck == 0 or went_on == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
