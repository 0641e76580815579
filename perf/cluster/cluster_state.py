"""The state of a cluster: a folder that belongs to this user alone, and processes that are known by
their start time.

What is in the folder decides which library is loaded into a program and which process is killed. It
is believed only if the folder and all that lies in it belong to this user, are no links and cannot
be written by others. The number of a process may belong to another one later, and is believed only
together with the time at which the process started.
"""
import json
import os
import pathlib
import select
import signal
import stat


class StateError(Exception):
    pass


def _why_not_private(path, mode_of_others):
    """What speaks against `path`; None if it belongs to this user and `mode_of_others` is not
    allowed to others."""
    found = os.lstat(path)
    if stat.S_ISLNK(found.st_mode):
        return "a link"
    if found.st_uid != os.getuid():
        return f"one of the user with number {found.st_uid}"
    if found.st_mode & mode_of_others:
        return f"mode {stat.S_IMODE(found.st_mode):04o}"
    return None


def check_folder(folder):
    """Refuses a folder that others could have made or could change, and one with something in it
    that others have made."""
    parent = os.stat(os.path.dirname(os.path.abspath(folder)))
    if parent.st_mode & 0o002 and not parent.st_mode & stat.S_ISVTX:
        raise StateError(f"folder '{folder}': expected that others cannot replace it, found that "
                         "they can write the folder above it")
    for path in ((folder, *(entry.path for entry in os.scandir(folder))) if os.path.isdir(folder)
                 else (folder,)):
        why_not = _why_not_private(path, 0o022)
        if why_not or (path == folder and not os.path.isdir(path)):
            raise StateError(f"'{path}': expected a folder or file of this user that others cannot "
                             f"write, found {why_not or 'no folder'}")


def make_folder(folder):
    """A new folder with mode 0700, or the present one, checked."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    check_folder(folder)


def private_folder():
    """$XDG_RUNTIME_DIR/nunatak, else /tmp/nunatak-<number of the user>: short, for sockets lie
    below it."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        usable = (os.path.isabs(runtime) and os.path.isdir(runtime) and
                  _why_not_private(runtime, 0o077) is None)
    except OSError:
        usable = False
    folder = os.path.join(runtime, "nunatak") if usable else f"/tmp/nunatak-{os.getuid()}"
    make_folder(folder)
    return folder


def start_time(pid):
    """Field 22 of /proc/PID/stat, in ticks since the machine started; None if there is no such
    process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return text.rpartition(")")[2].split()[19]


class State:
    """The folder of one cluster: $NUNATAK_CLUSTER, or `cluster` in the private folder."""

    def __init__(self, folder=None):
        folder = (folder or os.environ.get("NUNATAK_CLUSTER") or
                  os.path.join(private_folder(), "cluster"))
        self.folder = pathlib.Path(os.path.abspath(folder))
        if os.path.lexists(self.folder):
            check_folder(str(self.folder))

    def description(self):
        """What `cluster up` was asked for; None if there is no cluster."""
        try:
            return json.loads((self.folder / "cluster.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write_process(self, name, pid):
        (self.folder / f"{name}.pid").write_text(f"{pid} {start_time(pid)}\n")

    def process(self, name):
        """The number of the process that NAME.pid names; None if it has ended."""
        try:
            pid, start = (self.folder / f"{name}.pid").read_text().split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid) if start_time(int(pid)) == start else None

    def kill(self, name):
        """Kills that process, by a handle that no later process can have, and waits for its end."""
        pid = self.process(name)
        if pid is None:
            return
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        try:
            if self.process(name) == pid:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                select.select([handle], [], [])
        finally:
            os.close(handle)
