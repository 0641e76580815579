"""Disks that fill up and disks that lose their power, as root; skipped elsewhere.

Environment: as for tests/program, and NUNATAK_VICTIM (victim.cpp).
"""
import fcntl
import os
import shlex
import shutil
import signal
import struct
import subprocess
import time

import pytest

FORMATS = ["serial", "pnetcdf", "hybrid", "direct", "netcdf4"]
EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2  # linux/fs/ext4/ext4.h


def mpiexec(ranks):
    return shlex.split(os.environ["NUNATAK_MPIEXEC"]) + [str(ranks)]


def mount(*words):
    if os.geteuid() != 0:
        pytest.skip("mounting a disk of its own needs root")
    done = subprocess.run(["mount", *words], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("this machine mounts no disk: " + done.stderr.strip())


def unmount(folder):
    for _ in range(600):  # a rank that was killed may take long to die where cores are busy, and keeps the disk until then
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
    """What the victim's own check says; the number of files."""
    done = subprocess.run([os.environ["NUNATAK_VICTIM"], "check", str(folder)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_full_disk_is_an_error_of_the_model(small_disk, output_format):
    """Patches that interleave in the file, as in a run; the first two disks hold part of the result only."""
    for size, fits in (("600k", False), ("1500k", False), ("30M", True)):
        folder = small_disk(size)
        command = mpiexec(2) + [os.environ["NUNATAK"], "-init", "marine", "-grid_dx", "32km", "-grid_Mz", "11", "-stress", "sia",
                                "-run_steps", "1", "-io_format", output_format, "-io_patience", "20", "-o", str(folder / "f.nc")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if fits:
            assert run.returncode == 0, run.stderr
            assert (folder / "f.nc").exists()
        else:
            assert run.returncode != 0
            assert "f.nc" in run.stderr and "No space left on device" in run.stderr, run.stderr
            assert "-io_patience" not in run.stderr, run.stderr
            assert not (folder / "f.nc").exists()


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_disk_that_fills_up_keeps_what_was_committed(small_disk, output_format):
    kept = 0
    for size in ("100k", "160k", "220k", "280k", "340k", "420k", "500k"):
        folder = small_disk(size)
        run = subprocess.run(mpiexec(2) + [os.environ["NUNATAK_VICTIM"], "run", str(folder), output_format, "20"],
                             capture_output=True, text=True, timeout=60)
        assert "-io_patience" not in run.stderr, run.stderr
        found = check(folder)
        if run.returncode != 0:
            assert str(folder) in run.stderr, run.stderr
            kept += found
    assert kept > 0


def cut_power(folder):
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
    finally:
        os.close(fd)


@pytest.mark.parametrize("output_format", ["pnetcdf", "serial", "netcdf4", "direct"])
def test_power_loss_on_ext4_leaves_what_was_committed(tmp_path, output_format):
    """The file system stops soon after the first commit, without its journal; then it is mounted again."""
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
            run = subprocess.Popen(mpiexec(2) + [os.environ["NUNATAK_VICTIM"], "run", str(folder), output_format, "5"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
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
                subprocess.run(["pkill", "-9", "-f", str(folder)])  # ranks have groups of their own; no disk is mounted twice
        finally:
            unmount(folder)
        mount("-o", "loop", str(image), str(folder))
        try:
            kept += check(folder)
        finally:
            unmount(folder)
    assert kept > 0, "no run lived long enough to commit a file"
