#!/usr/bin/env python3
"""Runs a command as a rank, and writes its peak resident memory: mpiexec -n 4 perf/peak_of_rank.py
OUT/direct nunatak-io ...

OUT/direct.0.json, OUT/direct.1.json, ...: {"peak_MiB": 139}. Its exit status is that of the
command."""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("prefix", help="of the files")
parser.add_argument("command", nargs=argparse.REMAINDER, help="a program and its arguments")
arguments = parser.parse_args()
rank = next(os.environ[name]
            for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID") if name in os.environ)
status = subprocess.run(arguments.command).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # kB on Linux
pathlib.Path(f"{arguments.prefix}.{rank}.json").write_text(json.dumps({"peak_MiB": peak}))
sys.exit(status)
