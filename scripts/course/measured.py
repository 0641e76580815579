"""Numbers that the programs of a full build count (labs 7, 8 and 10). Such a build: the folder
NUNATAK_PROGRAMS, else the newest of build/*.

Counts and bytes only. Where a program is absent, `Missing` names it, and the answer is not graded.
"""

import json
import os
import pathlib
import shlex
import tempfile

from workshop import MPIEXEC, SOURCE, Problem, run

BATCH = 512 << 10  # bytes, of lab 10
MOST_RECORDS = 8  # of a run


class Missing(Exception):
    """A program that is not here: its path."""


def full_build():
    if "NUNATAK_PROGRAMS" in os.environ:
        return pathlib.Path(os.environ["NUNATAK_PROGRAMS"]).resolve()
    built = sorted(SOURCE.glob("build/*/miniapp/nunatak-io"),
                   key=lambda found: found.stat().st_mtime)
    return built[-1].parents[1] if built else SOURCE / "build/release"


def need(path):
    found = full_build() / path
    if not found.exists():
        raise Missing(found)
    return found


def said(command, seconds=300):
    status, output = run(command, seconds)
    if status != 0:
        raise Problem(f"{shlex.join(map(str, command))}: status {status}\n{output[-1000:]}")
    return output


def on_ranks(n, *command):
    return [*shlex.split(MPIEXEC), str(n), *command]


def method_of(ranks, before, *options):
    """What nunatak-io reports of a run with one method of output."""
    program = need("miniapp/nunatak-io")
    with tempfile.TemporaryDirectory() as folder:
        preloaded = [word.replace("FOLDER", folder) for word in before]
        said(on_ranks(ranks, *preloaded, program, *options, "-repeat", "1", "-verify", "no", "-o",
                      folder, "-report", f"{folder}/out.json"))
        return json.loads(pathlib.Path(folder, "out.json").read_text())["methods"][0]


def iterations(preconditioner, M):
    """Lab 7: of conjugate gradients in one solve of test J on two ranks."""
    options = (["-ssa_solver", "petsc"] if preconditioner == "multigrid"
               else ["-ssa_pc_type", preconditioner])
    output = said(on_ranks(2, need("perf/bench_ssa"), "-problem", "J", "-M", str(M), "-repeat", "1",
                           *options))
    return next(int(line.split(":")[1].strip(" ,"))
                for line in output.splitlines() if '"linear_iterations"' in line)


def growth(preconditioner, M):
    """Lab 7: iterations with half the spacing over those on M x M cells."""
    return iterations(preconditioner, 2 * int(M) - 1) / iterations(preconditioner, int(M))


def late_definitions(n):
    """Lab 8: bytes moved over payload if each of n variables is defined just before it is
    written."""
    method = method_of(2, [], "-workload", "cam:FV-B", "-scale", "0.15", "-variables", n,
                       "-methods", "serial/define=interleaved/header=0")
    return method["moved_bytes"] / method["payload_bytes"]


def ring(pool, records):
    """Options of lab 10: records of 1537775 bytes from one rank through a ring of `pool` KiB to one
    server."""
    return ["-workload", "pism:G5km", "-scale", "0.036", "-records", str(records), "-io_pool",
            f"{pool}KiB", "-io_buffer", str(BATCH)]


def waits_in_a_run(pool, records):
    """How often the rank waits for room, counted by nunatak-io on a disk that writes nothing, not
    even a header, for four seconds, or, where a busy machine needs longer to fill the ring, 32; the
    ring must hold what it promises."""
    slow, size = need("tests/faults/libslow_disk.so"), int(pool) * 1024
    for seconds in (4, 32):
        method = method_of(
            2, ["env", f"LD_PRELOAD={slow}",
                f"NUNATAK_DISK=1e8 FOLDER/nunatak-io.files/method FOLDER/disk {seconds} 1"],
            *ring(pool, records), "-methods", "direct", "-io_transport", "async:1")
        waits, payload = method["phases"]["stall"]["operations"], method["payload_bytes"]
        if waits or payload <= size + 2 * BATCH:  # one batch that is written, and the next one
            break
    if waits and payload <= size or not waits and payload > size + 2 * BATCH:
        raise Problem(f"{payload} bytes through a ring of {size} bytes: expected it to hold these "
                      f"and no more, found {waits} waits")
    return waits


def first_wait(pool):
    """Lab 10: the first record that waits for room in the ring, by halving."""
    without, with_wait = 0, MOST_RECORDS
    while with_wait - without > 1:
        middle = (without + with_wait) // 2
        without, with_wait = ((without, middle) if waits_in_a_run(pool, middle)
                              else (middle, with_wait))
    return with_wait


def measure(words):
    """The number that a question of labs.json asks for: the name of a function above and its
    arguments."""
    name, *arguments = words
    return {"growth": growth, "late_definitions": late_definitions,
            "first_wait": first_wait}[name](*arguments)
