"""Texts that come from elsewhere: files of a results folder, which may be anybody's, and long
messages as one line. Numbers as text."""
import errno
import json
import os
import re
import stat

LONGEST = 1 << 26  # bytes of a file of a results folder
ERROR = re.compile(r"^nunatak[\w-]*: error: .*", re.M)  # what a program of ours says last


def expect_regular(status, longest=LONGEST):
    """Refuses what `os.stat` says is a FIFO, a device or a folder, and files of more bytes."""
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    if status.st_size > longest:
        raise OSError(errno.EFBIG, f"more than {longest} bytes")


def text_of(path, longest=LONGEST, errors="strict"):
    """Of a regular file, without a byte order mark. Does not wait for the writer of a FIFO."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        expect_regular(os.fstat(file.fileno()), longest)
        return file.read(longest).decode("utf-8-sig", errors)


def parsed(text):
    """JSON, or a ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("too many brackets inside one another") from None


def one_line(text):
    """The program's error, else the last line that says something."""
    error = ERROR.search(str(text))
    lines = [line.strip() for line in str(text).splitlines() if re.search(r"\w", line) and
             not line.startswith("---")]
    return (error[0] if error else lines[-1] if lines else "")[:300]


def number(value, digits=3):
    """Short, in one cell: 12.3, 0.0451, 1.2e-05, -."""
    if value is None or value != value:
        return "-"
    if isinstance(value, str):
        return value
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.0f}" if abs(value) >= 10**(digits - 1) else f"{value:.{digits}g}"
