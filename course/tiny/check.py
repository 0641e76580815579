#!/usr/bin/env python3
"""Are tiny.cpp, tiny.py and tiny.f90 right? Each is built and run on 1 and 6 ranks: every ghost,
then every cell of the ice after 1000 years on 25 x 25 points, compared with nunatak's field.

    course/tiny/check.py [tiny.cpp|tiny-dmda|tiny.py|tiny.f90 ...]
        all four without a name; status 0 if all are right

reference.txt is the field of `nunatak -init dome -stress sia -energy off -ocean none -grid_dx 100km
-run_years 1000 -dt_max 1000`, the thickness of a point (x, y) in km with 0 <= y <= x; the others
are its mirror images, or without ice.
"""

import argparse
import os
import pathlib
import re
import shlex
import struct
import sys
import tempfile

import limits

HERE = pathlib.Path(__file__).resolve().parent
M, SPACING, YEARS, RANKS = 25, 100, 1000, (1, 6)
TOLERANCE = 1e-9  # m, of 3000: round-off
SECONDS = float(os.environ.get("NUNATAK_COURSE_SECONDS", 60))
FLAGS = {"tiny.cpp": "mpicxx -std=c++17 -O1 -DOMPI_SKIP_MPICXX {source} -o {program} -lpnetcdf",
         "tiny-dmda": "mpicxx -std=c++17 -O1 -DOMPI_SKIP_MPICXX -DTINY_DMDA {source} -o {program} "
         "-lpnetcdf {petsc}",
         "tiny.f90": "mpifort -O1 {source} -o {program} -J {folder} -I/usr/include "
         "-I/usr/include/x86_64-linux-gnu -lpnetcdf"}
OPTIONS = {"tiny.f90": ("check", "{dx} {years} {file}"),
           "tiny.py": ("--check", "--dx {dx} --years {years} -o {file}")}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_pml": "ob1"}


def said(command, folder):
    """(status, last part of the output); a command that does not end, or prints without an end, is
    stopped."""
    try:
        status, output = limits.run(command, SECONDS, folder, {**MPI, **os.environ})
    except OSError as error:
        return 1, str(error)
    if status is None:
        return None, f"no end within {SECONDS:g} s: a rank waits for a message that no rank sends"
    if status == limits.TOO_MUCH:
        return None, f"no end of its output within {limits.MOST >> 20} MB: a loop that prints"
    return status, output


def gist(output):
    """The lines of a program, of Python or of MPI that say what is wrong, and the last place that
    Python names."""
    output = re.sub(r".* on signal .*",
                    "expected an end of the program, found an access outside of an array", output)
    # names without their folders
    lines = [re.sub(r"(?<![\w.])/\S*/", "", line.strip()) for line in output.splitlines()]
    wrong = [line for line in lines if re.search(r"expected|lab 11|no end|rror: |MPI_ERR", line)]
    places = [line for line in lines if '.py", line' in line]
    return "\n    ".join([*list(dict.fromkeys(wrong))[:3], *places[-1:]]) or output[-300:].strip()


def reference():
    """{(j, i): thickness} of the points with ice."""
    ice = {}
    for line in (HERE / "reference.txt").read_text().splitlines():
        x, y, H = line.split()
        a, b, middle = int(x) // SPACING, int(y) // SPACING, M // 2
        for j, i in ((a, b), (b, a)):
            ice.update(
                {(middle + sj * j, middle + si * i): float(H) for sj in (1, -1) for si in (1, -1)})
    return ice


def field(path):
    """{(j, i): thickness}: thk comes last in the file, M x M big-endian doubles."""
    data = path.read_bytes()[-8 * M * M:]
    return {divmod(n, M): value for n, value in enumerate(struct.unpack(f">{M * M}d", data))}


def compare(found, expected):
    """What is wrong with a field, in words; None if nothing is."""
    wrong = [(c, found[c], expected.get(c, 0.0))
             for c in sorted(found) if not abs(found[c] - expected.get(c, 0.0)) <= TOLERANCE]
    if not wrong:
        return None
    (j, i), H, right = max(wrong, key=lambda w: abs(w[1] - w[2]))
    return (f"{len(wrong)} of {M * M} cells differ, most at (j {j}, i {i}): expected {right!r} m, "
            f"found {H!r}")


def failures(name, source, python=sys.executable):
    """[(expected, found)] of one implementation; empty if it is right."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        if name == "tiny.py":
            run = [python, str(source)]
        else:
            petsc = (said(shlex.split("pkg-config --cflags --libs PETSc"), folder)[1].strip()
                     if name == "tiny-dmda" else "")
            status, output = said(shlex.split(FLAGS[name].format(
                source=source, program=program, folder=folder, petsc=petsc)), folder)
            if status != 0:
                return [("a file that compiles", gist(output))]
            run = [str(program)]
        check, options = OPTIONS.get(name, ("-check", "-dx {dx} -years {years} -o {file}"))
        for ranks in RANKS:
            start, file = ["mpiexec", "-n", str(ranks), *run], pathlib.Path(folder, "tiny.nc")
            status, output = said([*start, check], folder)
            if status != 0:
                return [(f"every ghost on {ranks} ranks", gist(output))]
            file.unlink(missing_ok=True)
            status, output = said(
                [*start, *options.format(dx=SPACING, years=YEARS, file=file).split()], folder)
            wrong = compare(field(file), reference()) if status == 0 else gist(output)
            if wrong:
                return [(f"nunatak's field to {TOLERANCE:g} m on {ranks} ranks", wrong)]
    return []


def main():
    names = ["tiny.cpp", "tiny-dmda", "tiny.py", "tiny.f90"]
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=", ".join(names))
    status = 0
    for name in parser.parse_args().names or names:
        if name not in names:
            parser.error(f"expected one of {', '.join(names)}, found {name}")
        found = failures(name, HERE / name.replace("-dmda", ".cpp"))
        print(f"{name}: " + ("; ".join(f"expected {e}, found {f}" for e, f in found) or
                             f"right on {', '.join(map(str, RANKS))} ranks"))
        status = status or int(bool(found))
    return status


if __name__ == "__main__":
    sys.exit(main())
