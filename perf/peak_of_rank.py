#!/usr/bin/env python3
"""Runs a command as a rank, and writes its peak resident memory: mpiexec -n 4 perf/peak_of_rank.py OUT/direct nunatak-io ...

OUT/direct.0.json, OUT/direct.1.json, ...: {"peak_MiB": 139}. Its exit status is that of the command."""
import json
import os
import pathlib
import resource
import subprocess
import sys

prefix, *command = sys.argv[1:]
rank = next(os.environ[name] for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID") if name in os.environ)
status = subprocess.run(command).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # kB on Linux
pathlib.Path(f"{prefix}.{rank}.json").write_text(json.dumps({"peak_MiB": peak}))
sys.exit(status)
