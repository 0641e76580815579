"""Runs a student's program, which may print or wait for ever, within limits of time and output."""
import contextlib
import os
import select
import signal
import subprocess
import time

KEPT = 1 << 20  # last bytes of the output of a command that are kept
MOST = 64 << 20  # bytes of output after which a command is stopped
TOO_MUCH = "too much output"


def run(command, seconds, cwd=None, environment=None):
    """(status, last part of the output) of a command. Status None: it was stopped at its time
    limit, with all that it had started; TOO_MUCH: stopped in the same way because of its output."""
    kept, total, end, status = bytearray(), 0, time.monotonic() + seconds, None
    with subprocess.Popen([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=environment, start_new_session=True) as process:
        try:
            while ((left := end - time.monotonic()) > 0 and
                   select.select([process.stdout], [], [], left)[0]):
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    status = process.wait(max(end - time.monotonic(), 0))
                    break
                kept += part
                total += len(part)
                del kept[:-KEPT]
                if total > MOST:
                    status = TOO_MUCH
                    break
        except subprocess.TimeoutExpired:
            pass  # it has closed its output and does not end
        finally:
            if process.returncode is None:
                kill_session(process.pid)
    return status, kept.decode(errors="replace")


def kill_session(leader):
    """Of a process that leads it, with all that it has started: mpiexec gives each rank a process
    group of its own."""
    os.killpg(leader, signal.SIGKILL)
    for pid in map(int, filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ())):
        with contextlib.suppress(OSError):  # it has ended
            if os.getsid(pid) == leader:
                os.kill(pid, signal.SIGKILL)
