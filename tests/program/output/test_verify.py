"""nunatak-verify, and what a run does about its input: what was changed after it was written is
named."""
import json
import os
import shutil

import pytest
from conftest import run_program

DOME = ("-init", "dome", "-grid_Mx", "21", "-grid_Mz", "5", "-run_steps", "2", "-verbose", "false")


def verify(folder, *arguments, ranks=1):
    return run_program("nunatak-verify", *arguments, ranks=ranks, cwd=folder)


def flip(path, at):
    """Another bit."""
    data = bytearray(path.read_bytes())
    data[at] ^= 16
    path.write_bytes(data)


@pytest.fixture
def files(nunatak, tmp_path):
    nunatak(*DOME, "-o", "o.nc", "-spatial_file", "s.nc", "-timeseries_file", "t.nc", ranks=2,
            status=0)
    return tmp_path


@pytest.mark.parametrize("ranks", [1, 3])
def test_all_is_well(files, ranks):
    size = sum((files / name).stat().st_size for name in ("o.nc", "s.nc", "t.nc"))
    run = verify(files, ranks=ranks)
    assert (run.status == 0 and
            run.out == f"3 file(s), {size} bytes: as they were written\n"), run.text
    assert verify(files.parent, files, "-report", files / "v.json", ranks=ranks).status == 0
    assert json.loads((files / "v.json").read_text())["complaints"] == []
    run = verify(files.parent, files / "o.nc", ranks=ranks)
    assert run.status == 0 and run.out.startswith("1 file(s), "), run.text


@pytest.mark.parametrize("ranks", [1, 3])
def test_each_change_is_told(files, ranks):
    flip(files / "o.nc", -1)
    with open(files / "s.nc", "ab") as data:
        data.write(b"more")
    (files / "t.nc").unlink()
    run = verify(files, "-report", "v.json", ranks=ranks)
    assert run.status == 1, run.text
    assert run.err.startswith("nunatak-verify: 3 file(s)") and "3 complaint(s)" in run.err
    for name, what in (("o.nc", ": "), ("s.nc", "bytes"), ("t.nc", "No such file")):
        line, = [line for line in run.out.splitlines() if f"{name}': " in line]
        assert what in line.split("found", 1)[1], line
    assert len(json.loads((files / "v.json").read_text())["complaints"]) == 3
    assert verify(files, "o.nc").status == 1
    shutil.copy(files / "o.nc", files / "copy.nc")
    run = verify(files, "copy.nc", "nowhere/x.nc", ranks=ranks)
    assert (run.status == 2 and
            "copy.nc': expected a line of it in 'manifest.jsonl', found none" in run.out), run.text
    assert "nowhere/manifest.jsonl': no such manifest" in run.out and "2 complaint(s)" in run.err


def test_an_input_that_was_changed_is_refused(nunatak, files):
    """A flipped bit of thk was a start as good as any."""
    assert nunatak("-i", "o.nc", "-run_steps", "1", "-o", "next.nc").status == 0
    flip(files / "o.nc", files.joinpath("o.nc").stat().st_size // 2)
    os.symlink("o.nc", files / "link.nc")
    for name in ("o.nc", "link.nc", files / "o.nc"):
        run = nunatak("-i", name, "-run_steps", "1", ranks=2)
        assert run.status == 2 and run.err.count("nunatak: error:") == 1, run.text
        assert (f"{name}': variable '" in run.err and "with the sum" in run.err and
                "-i_verify no" in run.err), run.text
    run = nunatak("-i", "o.nc", "-i_verify", "false", "-run_steps", "1", ranks=2)
    # it may fail of the value, but not of the sum
    assert run.status in (0, 2) and "manifest" not in run.text and "sum" not in run.err


def test_a_series_that_was_changed_is_not_continued(nunatak, tmp_path):
    """Its records would be copied, and have new sums that agree with them."""
    assert nunatak(*DOME, "-o", "o.nc", "-timeseries_file", "t.nc").status == 0
    flip(tmp_path / "t.nc", -1)
    before = (tmp_path / "t.nc").read_bytes()
    run = nunatak("-i", "o.nc", "-run_steps", "1", "-timeseries_file", "t.nc", ranks=2)
    assert (run.status == 2 and "option -timeseries_file: " in run.err and
            "with the sum" in run.err), run.text
    assert (tmp_path / "t.nc").read_bytes() == before
    assert nunatak("-i", "o.nc", "-run_steps", "1", "-timeseries_file", "t.nc",
                   "-overwrite").status == 0
