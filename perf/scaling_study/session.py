"""The process of a study that holds its cluster, if it has one, and ReFrame: `session.py PLAN`.
Started by jobs.py.

On SIGTERM, which the kernel sends when `perf/study` is killed, it ends cleanly: ReFrame cancels its
jobs, the cluster goes down.
"""
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from reframe.core.exceptions import ForceExitError
from reframe.frontend import cli
from reframe.utility import osext

HERE = pathlib.Path(__file__).resolve().parent
CLUSTER = [sys.executable, str(HERE.parent / "cluster" / "cluster")]


def end(signum, _):
    signal.signal(signum, signal.SIG_IGN)
    raise SystemExit(128 + signum)


def handle_error(handler, record, otherwise=logging.Handler.handleError):
    """ReFrame's handler of SIGTERM raises an exception; while a line is logged, Python would print
    that and continue."""
    if isinstance(sys.exc_info()[1], ForceExitError):
        raise
    otherwise(handler, record)


def start(command, *arguments, otherwise=osext.run_command_async, **keywords):
    """ReFrame splits a command into words, also where it is the path of a job's script."""
    return otherwise([command] if os.path.exists(str(command)) else command, *arguments, **keywords)


def reframe(plan):
    """In the folder of the plan: names in it hold nothing that ReFrame would expand, as its path
    may."""
    logging.Handler.handleError = handle_error
    osext.run_command_async = start
    tempfile.tempdir = plan["folder"]  # its log
    os.symlink(HERE / "study_run.py", "study_run.py")
    sys.argv = ["reframe", "-C", plan["site"], "-c", "study_run.py", "-r",
                f"--exec-policy={plan['policy']}", "--nocolor", "--prefix", ".", "--report-file",
                plan["session_report"], *(["--system", plan["system"]] if plan["system"] else []),
                *[f"-J{option}" for option in plan["job_options"]]]
    return cli.main()


def main():
    path = sys.argv[1]
    plan = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    signal.signal(signal.SIGTERM, end)
    os.environ["NUNATAK_STUDY_PLAN"] = path
    up = plan["cluster_up"]
    try:
        if up:
            subprocess.run([*CLUSTER, "down"], check=True)  # of a study that did not end cleanly
            if subprocess.run([*CLUSTER, "up", *up], check=False).returncode != 0:
                sys.exit(3)
        sys.exit(reframe(plan))
    finally:
        if up:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            subprocess.run([*CLUSTER, "down"], check=False)


main()
