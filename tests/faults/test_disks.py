"""Disks that fill up and disks that lose their power, as root; skipped elsewhere.

Environment: as for tests/program, and NUNATAK_VICTIM (victim.cpp).
"""
import errno
import fcntl
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "program"))
from conftest import command_of, run_program  # noqa: E402

FORMATS = ["serial", "pnetcdf", "hybrid", "direct", "netcdf4"]
EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # linux/fs/ext4/ext4.h


def mount(*words):
    if os.geteuid() != 0:
        pytest.skip("mounting a disk of its own needs root")
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("this machine mounts no disk: " + done.stderr.strip())


def unmount(folder):
    # a rank that was killed may take long to die where cores are busy, and keeps the disk until
    # then
    for _ in range(600):
        if subprocess.run(["umount", str(folder)], capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """small_disk(size): a folder on a file system of its own ("3M")."""
    folders = []

    def make(size):
        folder = tmp_path / f"disk{len(folders)}"
        folder.mkdir()
        mount("-t", "tmpfs", "-o", f"size={size}", "none", str(folder))
        folders.append(folder)
        return folder
    yield make
    for folder in folders:
        unmount(folder)


def check(folder):
    """What the victim's own check says: the number of files, and of records of the series."""
    return map(int, run_program(os.environ["NUNATAK_VICTIM"], "check", folder, timeout=60,
                                status=0).out.split())


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_disk_that_fills_up_is_an_error_and_keeps_what_was_committed(small_disk, output_format):
    """Patches that interleave in the file, as in a run of the model; the last disk has room for
    all."""
    kept = 0
    for size in ("100k", "160k", "220k", "280k", "340k", "420k", "500k", "30M"):
        folder = small_disk(size)
        run = run_program(os.environ["NUNATAK_VICTIM"], "run", folder, output_format, "20", ranks=2,
                          timeout=60)
        assert "-io_patience" not in run.err, run.err
        found, _ = check(folder)
        if run.status != 0:
            assert str(folder) in run.err and "No space left on device" in run.err, run.err
            kept += found
    assert run.status == 0 and found == 3 and kept > 0, run.err


def test_an_error_of_writing_back_is_not_lost(tmp_path):
    """Of a large file that becomes durable in pieces: fsync would not say it again."""
    (tmp_path / "files").mkdir()
    fault = f"-1 writeback 1 {errno.ETIMEDOUT} {tmp_path}/files {tmp_path}/struck"
    run = run_program("nunatak-io", "-raw", 300 << 20, "-repeat", 1, "-o", tmp_path / "files",
                      environment={"LD_PRELOAD": os.environ["NUNATAK_FAULTS"],
                                   "NUNATAK_FAULT": fault}, ranks=1, timeout=60, status=2)
    assert (tmp_path / "struck").exists() and os.strerror(errno.ETIMEDOUT) in run.err, run.err


def cut_power(folder):
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(fd)


@pytest.mark.parametrize("output_format", ["pnetcdf", "serial", "netcdf4", "direct"])
def test_power_loss_on_ext4_leaves_what_was_committed(tmp_path, output_format):
    """The file system stops soon after the first commit, without its journal; then it is mounted
    again."""
    if not shutil.which("mkfs.ext4"):
        pytest.skip("expected mkfs.ext4 (the package e2fsprogs)")
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    kept = 0
    for delay in (0.0, 0.01, 0.03, 0.1, 1.0, 10.0):
        if delay > 0.1 and kept > 0:
            break  # the last two are for a disk that takes long to commit
        with open(image, "wb") as file:
            file.truncate(64 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
        mount("-o", "loop", str(image), str(folder))
        try:
            run = subprocess.Popen(command_of(os.environ["NUNATAK_VICTIM"], "run", folder,
                                              output_format, "5", ranks=2), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, start_new_session=True)
            begin = time.time()
            while not any(folder.glob("*.nc")) and run.poll() is None and time.time() - begin < 60:
                time.sleep(0.002)
            time.sleep(delay)
            try:
                cut_power(folder)
            except OSError as error:
                pytest.skip(f"this kernel does not stop a file system: {error}")
            finally:
                try:
                    os.killpg(run.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                run.wait(timeout=20)
                # ranks have groups of their own; no disk is mounted twice
                subprocess.run(["pkill", "-9", "-f", str(folder)])
                # records, each after its commit and before its snapshot
                said = len(re.findall(r"^\d+$", run.stdout.read(), re.M))
        finally:
            unmount(folder)
        mount("-o", "loop", str(image), str(folder))
        try:
            files, records = check(folder)
            assert (files >= min(said - 1, 2) and
                    (output_format != "direct" or records >= said)), (said, files, records)
            kept += files
        finally:
            unmount(folder)
    assert kept > 0, "no run lived long enough to commit a file"
