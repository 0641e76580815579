#!/usr/bin/env python3
"""Lets the k-th system call of one rank fail, for k = 1, 2, ... until a run never gets that far.

Every run must end within 30 s. With status 0 all files must be there, whole, as the manifest says.
With another status there must be an error that names a file of the run and a cause, the same on all
ranks or from one rank only; what was committed before must be there, be whole and verify: records
of `direct` that were committed while the series grew, other files when they were closed.

A run without a fault counts the calls of each rank first; no k is tried beyond half as many again
(the next run may make some more).

Where others use the cores, so that a run without a fault takes n times half a second, runs have n
times 30 s, and a call has n times 3 s (-io_patience). n, 1 to 20, is measured before the trials of
a method, and when a trial has gone wrong or was ended by the watchdog: if the machine has become
slower the trial is made again, and what it says then holds.

  loop.py VICTIM FAULTS "MPIEXEC -n" [--ranks 2,3] [--struck R,...] [--methods M,...]
      [--calls C,...] [--actions kill,...] [--every [K]]

By default a short form: four methods, k = 1, 6, 36, ..., the first and the last rank. --every takes
all methods, all k up to K (40), disks that stay full, and ranks that die at any call. Prints the
trials by method. Also:

  loop.py ... --every 4 --actions full --methods pnetcdf
      a disk that is full for all ranks from the k-th write on

  loop.py ... --continued --methods direct
      runs that continue in place what an earlier run has left: a series of three records, behind
      the second; after each trial, as after each kill, ncdump, CDO and xarray open it, too

  loop.py ... --ranks 3 --struck 1,2 --methods direct/transport=async:2 --every 1000
      both servers, every counted call
"""
import argparse
import atexit
import errno
import functools
import itertools
import math
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import xarray

SHORT = ["pnetcdf", "netcdf4", "direct", "direct/transport=async:1"]  # on 2 ranks
METHODS = ["serial", "pnetcdf", "hybrid", "direct", "direct/calls=mpiio", "netcdf4",
           "pnetcdf/zslab", "pnetcdf/box:1", "netcdf4/morton:1", "serial/file-per-aggregator:2",
           "pnetcdf/define=interleaved", "direct/transport=async:1", "pnetcdf/transport=async:1"]
FAULTS = [("open", errno.EIO), ("write", errno.EIO), ("write", errno.ENOSPC), ("write", "short"),
          ("fsync", errno.EIO), ("close", errno.EIO), ("rename", errno.EIO),
          ("fallocate", errno.ENOSPC), ("ftruncate", errno.EIO), ("new", errno.ENOMEM)]
EVERYBODY = -1  # all ranks
FULL = [("write", "full")]  # from then on all writes fail, of all ranks
KILLS = [(call, "kill") for call in ("open", "write", "fsync", "close", "rename", "unlink",
                                     "fallocate", "ftruncate")]
PATIENCE, LONGEST = 3, 30  # seconds: of a call, of a run
KEPT = 2  # records of a series that is continued
# of a run without a fault: on two idle cores 0.36 to 0.41, of pnetcdf 0.37 to 0.6 (9 runs of each
# of six methods)
USUAL = 0.5


def strides(every):
    """1, 2, 3, ..., every, and then twice as many each time (direct writes row by row), or, for the
    short form, 1, 6, 36, ..."""
    k = 1
    while True:
        yield k
        k = 6 * k if not every else k + 1 if k < every else 2 * k


def grows_in_place(method):
    """Its series is one file under its final name from the first commit on."""
    return method.startswith("direct") and "per-aggregator" not in method


def complaints(run, method, folder, seconds, slowness, victim, call, faults_hit, continued):
    """What is wrong with a run that was hit."""
    wrong = []
    if seconds > LONGEST * slowness:
        wrong.append(f"took {seconds:.0f} s")
    check = subprocess.run([victim, "check", folder], capture_output=True, text=True, timeout=60)
    if check.returncode != 0:
        wrong.append("left behind: " + check.stderr.strip())
    errors = {line for line in run.stderr.splitlines() if "error: " in line}
    files, records = map(int, check.stdout.split() or (0, 0))
    if records > 0 and (continued or faults_hit == "kill"):
        wrong += opened(folder / "series.nc", KEPT if continued else 0, records)
    committed = (max(map(int, filter(str.isdigit, run.stdout.split())), default=0)
                 if grows_in_place(method) else 0)
    committed = max(committed, KEPT if continued else 0)
    if records < committed:
        wrong.append(f"{committed} records had been committed, found {records}")
    if run.returncode == 0:
        n_files = 0 if "per-aggregator" in method else 3
        if files != n_files:
            wrong.append(f"status 0, but {files} complete files of {n_files}")
        if errors:
            wrong.append("status 0 with an error: " + " ".join(errors))
        if call == "fsync":
            wrong.append("status 0 after a failed fsync: tried again, or not looked at")
    elif faults_hit != "kill":
        causes = {re.sub(r"rank \d+|phase '\w+'", "", line) for line in errors}
        if not errors:
            wrong.append("no message: " + run.stderr[-600:])
        elif len(causes) > 1 and not any("-io_patience" in line for line in errors):
            wrong.append("several messages: " + " | ".join(sorted(errors)))
        elif not any(str(folder) in line or "memory" in line for line in errors):
            wrong.append("a message that names no file: " + " | ".join(sorted(errors)))
    return wrong


def opened(path, kept, records):
    """What is wrong with a series in the eyes of ncdump, CDO and xarray; it was begun by a run that
    left `kept` records, and has `records`."""
    for command in (["ncdump", "-v", "time,topg", path],
                    *([["cdo", "-s", "ntime", path]] if shutil.which("cdo") else [])):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or (command[0] == "cdo" and done.stdout.split() != [str(records)]):
            return [f"{command[0]}, {records} records: {done.stdout if command[0] == 'cdo' else ''}"
                    f"{done.stderr}"]
    with xarray.open_dataset(path, decode_times=False, engine="netcdf4") as data:
        lines, times = data.history.rstrip(" ").split("\n"), list(data.time.values)
    if (lines not in (["first"], *([["first", "second"]] if kept else [])) or
        times != list(range(records)) or len(times) < kept):
        return [f"xarray: history {lines}, times {times}"]
    return []


def all_ranks_ended(process):
    """They are zombies that mpiexec does not collect."""
    states = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "stat="], capture_output=True,
                            text=True).stdout.split()
    return bool(states) and all(state.startswith("Z") for state in states)


def communicate(process, seconds):
    """What it prints until its end. An mpiexec whose ranks have all ended, twice in a row seen so,
    is killed: PMIx 4.2.2 may wait for itself when ranks abort at once."""
    begin, before = time.time(), False
    while True:
        try:
            return process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            now = all_ranks_ended(process)
            if before and now:
                print("mpiexec does not end after its ranks: killed", flush=True)
                process.kill()
            elif time.time() - begin > seconds:
                raise
            before = now


def servers_of(method):
    """Words of the command line: servers are set apart before the program reads anything else."""
    return (["-io_transport", re.search(r"transport=([^/]*)", method)[1]] if "transport=" in method
            else [])


@functools.lru_cache
def first_part(mpiexec, victim, method, ranks):
    """A folder with what an earlier run has left."""
    folder = tempfile.mkdtemp(prefix="nunatak_first_")
    atexit.register(shutil.rmtree, folder)
    subprocess.run(shlex.split(mpiexec) + [str(ranks), victim, "run", folder, method, "600",
                                           *servers_of(method)], check=True, capture_output=True)
    return folder


def trial(options, method, ranks, rank, call, action, k, slowness, counts=None):
    """None if the run never came to the k-th call; else (ended by the watchdog, complaints).
    `slowness`: of the machine; `counts`: takes {(rank, call): number} if `call` is "every"."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="nunatak_faults_"))
    folder, hit = base / "files", base / "hit"
    folder.mkdir()
    if options.continued:
        shutil.copytree(first_part(options.mpiexec, options.victim, method, ranks), folder,
                        dirs_exist_ok=True)
    fault = f"{rank} {call} {k} {action} {folder} {hit}"
    mpiexec = shlex.split(options.mpiexec) + [str(ranks)]
    victim = [options.victim, "continue" if options.continued else "run", str(folder), method,
              str(math.ceil(PATIENCE * slowness)), *servers_of(method)]
    command = [*mpiexec, "env", f"LD_PRELOAD={options.faults}", f"NUNATAK_FAULT={fault}", *victim]
    begin = time.time()
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, start_new_session=True)
        try:
            out, err = communicate(process, 2 * LONGEST * slowness)
            run = subprocess.CompletedProcess(command, process.returncode, out, err)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return False, ["hangs"]
        if not hit.exists():
            if run.returncode != 0:
                return False, ["fails without a fault: " + run.stderr[-600:]]
            for r in range(ranks) if counts is not None else ():
                lines = pathlib.Path(f"{hit}.{r}").read_text().splitlines()
                counts.update({(r, line.split()[0]): int(line.split()[1]) for line in lines})
            return None
        wrong = complaints(run, method, folder, time.time() - begin, slowness, options.victim, call,
                           action, options.continued)
        return "-io_patience" in run.stderr, wrong
    finally:
        shutil.rmtree(base, ignore_errors=True)


def without_fault(options, method, ranks):
    """How many times longer than usual a run without a fault takes now, 1 to 20, and how often it
    makes each call: {(rank, call): number}."""
    begin, counts = time.time(), {}
    result = trial(options, method, ranks, -1, "every", 0, 0, 40, counts)
    if result is not None:
        sys.exit(f"loop: {method}, {ranks} ranks, without a fault: {result[1]}")
    return min(20.0, max(1.0, (time.time() - begin) / USUAL)), counts


def patient_trial(options, method, ranks, rank, call, action, k, slowness):
    """What trial() returns, and the slowness. Made again if others have taken the cores from it."""
    result = trial(options, method, ranks, rank, call, action, k, slowness)
    if result is None or result == (False, []):
        return result, slowness
    now, _ = without_fault(options, method, ranks)
    if now <= 1.2 * slowness:
        return result, slowness
    print(f"again {method}, {ranks} ranks: {call} number {k} of rank {rank}: {action}: without a "
          f"fault {now * USUAL:.1f} s", flush=True)
    return trial(options, method, ranks, rank, call, action, k, now), now


def struck_ranks(options, ranks, action):
    if options.struck:
        return list(map(int, options.struck.split(",")))
    return [EVERYBODY] if action == "full" else [0, ranks - 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("victim")
    parser.add_argument("faults")
    parser.add_argument("mpiexec", help="mpiexec with its flags, the number of ranks to follow")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--struck", default="",
                        help="ranks, a list (default: the first and the last)")
    parser.add_argument("--methods", default="")
    parser.add_argument("--calls", default="")
    parser.add_argument("--actions", default="")
    parser.add_argument("--without", default="", help="calls that the struck ranks do not make")
    parser.add_argument("--every", type=int, nargs="?", const=40, default=0)
    parser.add_argument("--continued", action="store_true")
    options = parser.parse_args()
    methods = options.methods.split(",") if options.methods else METHODS if options.every else SHORT
    faults = FAULTS + (FULL + KILLS if options.every
                       else [kill for kill in KILLS if kill[0] in ("write", "fsync", "rename")])
    total = bad = watched = 0
    struck = set()  # calls
    for ranks, method in itertools.product(map(int, options.ranks.split(",")), methods):
        begin, trials, ended = time.time(), 0, 0
        slowness, counts = without_fault(options, method, ranks)
        for (call, action), rank in ((fault, rank) for fault in faults
                                     for rank in struck_ranks(options, ranks, fault[1])):
            if (options.calls and call not in options.calls.split(",") or options.actions and
                str(action) not in options.actions.split(",")):
                continue
            most = 1.5 * max(counts[r, call] for r in range(ranks) if rank in (r, EVERYBODY))
            for k in itertools.takewhile(lambda k: k <= most, strides(options.every)):
                result, slowness = patient_trial(options, method, ranks, rank, call, action, k,
                                                 slowness)
                if result is None:
                    break
                trials += 1
                struck.add(call)
                ended += result[0]
                for complaint in result[1]:
                    bad += 1
                    print(f"WRONG {method}, {ranks} ranks: {call} number {k} of rank {rank}: "
                          f"{action}: {complaint}", flush=True)
                if not result[1] and result[0]:
                    print(f"watchdog {method}, {ranks} ranks: {call} number {k} of rank {rank}: "
                          f"{action}", flush=True)
        print(f"{method}, {ranks} ranks: {trials} trials, {ended} ended by the watchdog, "
              f"{time.time() - begin:.0f} s", flush=True)
        total, watched = total + trials, watched + ended
    asked = {call for call, action in faults if call not in options.without.split(",") and
             (not options.calls or call in options.calls.split(",")) and
             (not options.actions or str(action) in options.actions.split(","))}
    print(f"{total} trials, {watched} ended by the watchdog, {bad} wrong; never struck: "
          f"{', '.join(sorted(asked - struck)) or 'none'}")
    return 1 if bad or total == 0 or asked - struck else 0


if __name__ == "__main__":
    sys.exit(main())
