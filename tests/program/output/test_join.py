"""nunatak-join as a user meets it: a run in subfiles, joined, is the run in one file; and can be
continued."""
import netCDF4
import numpy as np
import xarray as xr
from conftest import attributes

MODEL = ("-init", "marine", "-grid_dx", "64km", "-stress", "sia", "-run_steps", 2)


def test_a_run_in_subfiles(nunatak, tool, tmp_path):
    nunatak(*MODEL, "-o", "one.nc", "-timeseries_file", "of_one.nc", ranks=2, status=0)
    nunatak(*MODEL, "-o", "run.nc", "-timeseries_file", "series.nc", "-io_layout",
            "file-per-aggregator:2", ranks=3, status=0)
    assert "join them with nunatak-join" in nunatak("-i", "run.nc.0000", "-run_steps", "1",
                                                    status=2).err
    assert (tmp_path / "series.nc").exists() and not (tmp_path / "run.nc").exists()
    assert sorted(p.name for p in tmp_path.glob("run.nc.*")) == ["run.nc.0000", "run.nc.0001"]
    with xr.open_dataset(tmp_path / "run.nc.0001", decode_times=False) as piece, \
            xr.open_dataset(tmp_path / "one.nc", decode_times=False) as whole:
        assert piece.attrs["NumFilesInSet"] == 2
        part = whole.sel(x=piece.x, y=piece.y)
        assert 0 < part.thk.size < whole.thk.size
        np.testing.assert_array_equal(piece.thk, part.thk)

    run = tool("join", "-i", "run.nc", "-o", "joined.nc", ranks=2)
    assert (run.status == 0 and
            "joined 2 subfiles of run.nc, 1 record(s): joined.nc" in run.out), run.text
    with netCDF4.Dataset(tmp_path / "one.nc") as one, netCDF4.Dataset(
        tmp_path / "joined.nc") as joined:
        assert list(one.variables) == list(joined.variables)
        for name, variable in one.variables.items():
            np.testing.assert_array_equal(variable[:], joined[name][:], err_msg=name)
    assert attributes(tmp_path / "one.nc") == attributes(tmp_path / "joined.nc")
    assert nunatak("-i", "joined.nc", "-run_steps", 1, "-o", "next.nc", ranks=2).status == 0


def test_a_damaged_subfile_is_not_joined(nunatak, tool, tmp_path):
    """Its file would get fresh sums that declare it right."""
    nunatak(*MODEL, "-o", "run.nc", "-io_layout", "file-per-aggregator:2", ranks=2, status=0)
    data = bytearray((tmp_path / "run.nc.0001").read_bytes())
    data[-9] ^= 16
    (tmp_path / "run.nc.0001").write_bytes(data)
    for ranks in (1, 3):
        run = tool("join", "-i", "run.nc", "-o", "joined.nc", ranks=ranks)
        assert (run.status == 2 and "run.nc.0001': variable '" in run.err and
                "-i_verify no joins it all the same" in run.err), run.text
        assert not (tmp_path / "joined.nc").exists()
    tool("join", "-i", "run.nc", "-o", "joined.nc", "-i_verify", "no", status=0)


def test_refused(nunatak, tool):
    run = tool("join", "-i", "run.nc", "-o", "joined.nc", ranks=2)
    assert run.status == 2
    assert (run.err.count("error:") == 1 and
            "run.nc.0000': no such file (the first subfile of 'run.nc')" in run.err)
    assert "expected both, found 'run.nc' and ''" in tool("join", "-i", "run.nc").err
    many = nunatak("-init", "marine", "-grid_dx", "64km", "-o", "run.nc", "-io_format", "serial",
                   "-io_layout", "box:1")
    assert many.status == 2 and "gathers to rank 0 by itself" in many.err
