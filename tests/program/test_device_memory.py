"""nunatak as -DNUNATAK_DEVICE_MEMORY=ON compiles it (docs/gpu.md), under tests/kernels/as_if_gpu.cpp: no host code touches an array that
would be in the memory of a device, the levels of columns lie apart, and files are those of the ordinary program, bit for bit."""
import os

import netCDF4
import pytest

LIBRARY = os.environ.get("NUNATAK_AS_IF_GPU", "")
WITHOUT_HOST = {
    "LD_PRELOAD": LIBRARY, "KOKKOS_TOOLS_LIBS": LIBRARY, "AS_IF_GPU_DEVICE_MEMORY": "1", "NUNATAK": os.environ.get("NUNATAK_DEVICE_MEMORY", ""),
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_smsc": "^cma",  # another process would read what we may not touch
}
MARINE = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "5", "-run_steps", "2")
SERIES = ("-spatial_file", "s.nc", "-spatial_every", "0.01", "-timeseries_file", "t.nc", "-snapshot_file", "p.nc", "-snapshot_every", "0.01")
RUNS = {  # the first one is restarted
    "series": (2, *MARINE, *SERIES),
    "netcdf4": (2, *MARINE, *SERIES, "-io_format", "netcdf4", "-io_order", "zyx", "-grid_cut", "ice"),
    "serial": (2, *MARINE, "-io_format", "serial", "-pico_distance", "device"),
    "failed": (1, *MARINE, "-ssa_max_steps", "1", "-ssa_failed_file", "failed.nc"),
    "shelf": (2, "-init", "shelf", "-grid_Mx", "21", "-run_steps", "1"),
}


def content(path):
    """All but the time and the command of the run."""
    try:
        data = netCDF4.Dataset(path)
    except OSError:
        return path.read_bytes()
    with data:
        data.set_auto_mask(False)
        variables = {name: (v.dimensions, v.ncattrs(), v[:].tobytes()) for name, v in data.variables.items()}
        return variables, [(name, str(data.getncattr(name))) for name in data.ncattrs() if name != "history"]


@pytest.fixture
def both(nunatak, tmp_path):
    """both(ranks, *options): runs the two programs, each in its folder, and compares what they say of their end and their files."""
    if not os.path.exists(WITHOUT_HOST["NUNATAK"]):
        pytest.skip("no nunatak_device_memory in this build")
    folders = [tmp_path / "usual", tmp_path / "device"]
    for folder in folders:
        folder.mkdir()

    def call(ranks, *options, status=0):
        for folder, environment in zip(folders, ({}, WITHOUT_HOST)):
            done = nunatak(*options, ranks=ranks, cwd=folder, environment=environment)
            assert "as_if_gpu" not in done.text and done.status == status, done.text
        usual, device = ({p.name: p for p in folder.iterdir() if p.name != "manifest.jsonl"} for folder in folders)
        assert usual.keys() == device.keys() and len(usual) > 0
        for name in usual:
            assert content(usual[name]) == content(device[name]), name
    return call


@pytest.mark.parametrize("name", RUNS)
def test_the_host_touches_nothing_and_files_are_the_same(both, name):
    both(*RUNS[name], "-o", "r.nc", status=1 if name == "failed" else 0)
    if name == "series":
        both(1, "-i", "r.nc", "-run_steps", "2", "-io_format", "serial", "-o", "again.nc")


def test_the_other_exchanges_are_refused(nunatak):
    """It is the program that was compiled so."""
    run = nunatak(*MARINE, "-halo", "packed", environment=WITHOUT_HOST)
    assert run.status == 1 and "option -halo: expected auto or loops, found packed" in run.err
