"""Hints for MPI-IO: they reach ROMIO, also where the MPI library keeps them from it (Open MPI 5); a
line says which do not count; and OMPIO, which loses errors, is refused unless it is accepted."""
import json

import pytest

RUN = ("-init", "marine", "-grid_dx", "96km", "-grid_Mz", "4", "-stress", "sia", "-o", "result.nc",
       "-report", "report.json")


@pytest.fixture
def run(nunatak, tmp_path):
    """run(mpi_io, *options, environment): the output of a run; skipped where the MPI library has no
    such MPI-IO."""
    def call(mpi_io, *options, environment=None):
        done = nunatak(*RUN, *options, ranks=2, environment=environment or {}, status=0)
        found = json.loads((tmp_path / "report.json").read_text())["output"]["mpi_io"]
        if found != mpi_io:
            pytest.skip(f"this MPI library writes through {found}")
        return done.out
    return call


def hint(text, key):
    """What ROMIO says that it uses: the values of all files."""
    lines = (line.split() for line in text.splitlines() if line.startswith("key ="))
    return {words[5] for words in lines if words[2] == key}


@pytest.mark.parametrize("io_format", ["pnetcdf", "netcdf4"])
def test_hints_reach_romio(run, io_format):
    text = run("ROMIO", "-io_format", io_format, "-io_hints", "cb_buffer_size=65536",
               "-io_aggregators", 1, environment={"ROMIO_PRINT_HINTS": "1"})
    assert hint(text, "cb_buffer_size") == {"65536"}, text
    assert hint(text, "cb_config_list") == {"*:1"}, text
    if io_format == "netcdf4":  # so that an error of one rank is known to all
        assert hint(text, "romio_cb_write") == {"enable"}, text
    assert "have no effect" not in text


@pytest.mark.parametrize("way", ["pnetcdf", "hybrid", "netcdf4", "netcdf4/box:1"])
def test_writes_do_without_sieving(run, way):
    """A sieved write that fails keeps ROMIO's lock of the file, and others wait for it; after a
    layout ROMIO reads and writes the whole file once more with what HDF5 writes at close."""
    io_format, *more = way.split("/")
    options = ("-io_format", io_format,
               *(word for layout in more for word in ("-io_layout", layout)))
    found = hint(run("ROMIO", *options, environment={"ROMIO_PRINT_HINTS": "1"}), "romio_ds_write")
    assert found == {"disable"}
    given = run("ROMIO", *options, "-io_hints", "romio_ds_write=enable",
                environment={"ROMIO_PRINT_HINTS": "1"})
    assert hint(given, "romio_ds_write") == {"enable"}


def test_ompio_is_refused_unless_accepted(run, nunatak):
    # skips where there is none
    run("OMPIO", "-io_format", "pnetcdf", "-io_ompio", "yes", environment={"OMPI_MCA_io": "ompio"})
    refused = nunatak(*RUN, "-io_format", "pnetcdf", ranks=2, environment={"OMPI_MCA_io": "ompio"})
    assert refused.status != 0
    assert refused.err.count("expected ROMIO to carry MPI-IO, found OMPIO") == 1, refused.text
