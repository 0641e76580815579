"""Names of files: no option destroys what another one names, under whatever alias."""
import os
import resource

import pytest
from conftest import refused, run_program

RUN = ("-grid_Mz", "3", "-stress", "sia", "-run_steps", "1", "-verbose", "false")
DOME = ("-init", "dome", "-grid_Mx", "11", *RUN)
OUTPUTS = ("-spatial_file", "-timeseries_file", "-ssa_failed_file", "-report")


def aliases(folder, name):
    """Other names of folder/name; those of links are made."""
    os.symlink(name, folder / "symbolic.nc")
    os.symlink(".", folder / "again")
    yield from (name, f"./{name}", f"again/{name}", f"../{folder.name}/{name}", str(folder / name),
                "symbolic.nc")
    if (folder / name).exists():
        os.link(folder / name, folder / "hard.nc")
        yield "hard.nc"


def test_every_alias_of_the_input(nunatak, island, tmp_path):
    path = island(name="x.nc")
    before = path.read_bytes()
    for number, alias in enumerate(aliases(tmp_path, "x.nc")):
        for option in OUTPUTS if number < 2 else (OUTPUTS[number % len(OUTPUTS)],):
            refused(nunatak("-i", "x.nc", *RUN, option, alias), f"-i 'x.nc' and {option} '{alias}'",
                    "the same one twice")
            assert path.read_bytes() == before and not (tmp_path / "x.nc.tmp").exists()
    (tmp_path / "run.yaml").write_text("init: dome\n")
    refused(nunatak("-options_file", "run.yaml", "-report", "./run.yaml"),
            "-report './run.yaml' and -options_file 'run.yaml'")
    os.symlink("/dev/null", tmp_path / "nowhere")
    nunatak("-i", "x.nc", *RUN, "-o", "./x.nc", "-report", "nowhere", status=0)
    assert (tmp_path / "nowhere").is_symlink()


def test_every_alias_of_an_output_that_is_not_there_yet(nunatak, tmp_path):
    for alias in aliases(tmp_path, "x.nc"):
        refused(nunatak(*DOME, "-o", "x.nc", "-spatial_file", alias),
                f"-o 'x.nc' and -spatial_file '{alias}'")
    outputs = ("-o", *OUTPUTS)
    for n, a in enumerate(outputs):
        b = outputs[(n + 1) % len(outputs)]
        refused(nunatak(*DOME, a, "y", b, "./y"), a + " ", b + " ", "'y'", "'./y'",
                "the same one twice")


@pytest.mark.parametrize("option, other, name", [
    ("-o", "-report", "x.nc.0001"), ("-spatial_file", "-o", "x.nc.0000"),
    ("-snapshot_file", "-o", "x_00010.000.nc")])
def test_names_that_an_output_takes_for_itself(nunatak, tmp_path, option, other, name):
    every = ("-snapshot_every", "1") if option == "-snapshot_file" else ()
    refused(nunatak(*DOME, option, "x.nc", *every, other, f"./{name}"), f"{option} 'x.nc'",
            f"{other} './{name}'", "belongs to the other")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["-o", *OUTPUTS])
@pytest.mark.parametrize("name", ["manifest.jsonl", "x.nc.tmp", "x.nc.lock"])
def test_reserved_names(nunatak, tmp_path, option, name):
    (tmp_path / name).write_text("of another run\n")
    refused(nunatak(*DOME, option, name), f"option {option}: '{name}'", "which are reserved")
    assert (tmp_path / name).read_text() == "of another run\n"


@pytest.mark.parametrize("option", ["-o", *OUTPUTS, "-snapshot_file"])
@pytest.mark.parametrize("name, why", [
    ("a" * 252, "of at most 2"), ("caf\udce9.nc", "expected a file name in UTF-8"),
    (" x.nc", "begin with a blank"), ("c://x.nc", "no '://'"),
    ("a\nb.nc", "without control characters"), ("a\x1b[31mb.nc", "without control characters")])
def test_names_that_cannot_be_written(nunatak, tmp_path, option, name, why):
    every = ("-snapshot_every", "1") if option == "-snapshot_file" else ()
    run = nunatak(*DOME, *every, option, name)
    refused(run, f"option {option}: '", why)
    assert "step " not in run.out and "\x1b" not in run.err and not any(tmp_path.iterdir())


def test_names_that_mpi_io_would_cut(nunatak):
    for io_format, name in (("pnetcdf", "c:x.nc"), ("netcdf4", "a\\b.nc")):
        refused(run := nunatak(*DOME, "-io_format", io_format, "-o", name),
                f"file '{name}': expected a path without ':' and")
        assert "step " not in run.out


def test_names_as_long_as_they_may_be(nunatak, tmp_path):
    nunatak(*DOME, "-run_years", "1", "-run_steps", "5", "-o", "o" * 246, "-report", "r" * 251,
            "-snapshot_file", "s" * 229, "-snapshot_every", "1",
            "-io_layout", "file-per-aggregator:2", ranks=2, status=0)
    assert len(list(tmp_path.glob("o*"))) == 2 and len(list(tmp_path.glob("s*.nc.*"))) == 2


def test_none_is_no_file(nunatak, tool, tmp_path):
    words = [word for option in ("-o", *OUTPUTS, "-i") for word in (option, "none")]
    nunatak(*DOME, *words, "-run_wall", "none", status=0)
    (tmp_path / "run.yaml").write_text("o: none\nreport: none\n")
    nunatak(*DOME, "-options_file", "run.yaml", status=0)
    tool("labels", "-mask", "full", "-o", "none", "-report", "none", status=0)
    assert [path.name for path in tmp_path.iterdir()] == ["run.yaml"]


def test_what_is_write_protected_is_kept(nunatak, tool, tmp_path):
    run = (*DOME[:-4], "-run_years", "2", "-dt_max", "1")
    nunatak(*run, "-o", "a.nc", "-report", "r.json", "-snapshot_file", "s.nc", "-snapshot_every",
            "1", status=0)
    for name in ("a.nc", "r.json", "s_00001.000.nc", "s_00002.000.nc"):
        os.chmod(tmp_path / name, 0o444)
    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.nc")}
    for words in (("-o", "a.nc"), ("-spatial_file", "a.nc"), ("-report", "r.json"),
                  ("-snapshot_file", "s.nc", "-snapshot_every", "1")):
        run_of_words = nunatak(*run, *words)
        refused(run_of_words, f"option {words[0]}: cannot write '", "the file is write-protected")
        assert "step " not in run_of_words.out
    refused(tool("labels", "-mask", "full", "-o", "a.nc"), "write-protected",
            program="nunatak-labels")
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.nc")} == before
    # later ones
    nunatak("-i", "s_00002.000.nc", "-stress", "sia", "-run_years", "1", "-snapshot_file", "s.nc",
            "-snapshot_every", "1", status=0)
    nunatak(*run, "-o", "a.nc", "-snapshot_file", "s.nc", "-snapshot_every", "1", "-overwrite",
            status=0)


def test_input_that_an_output_would_overwrite(nunatak, island, tmp_path):
    island(name="x.nc.tmp")
    refused(nunatak("-i", "x.nc.tmp", *RUN, "-o", "x.nc"), "-i 'x.nc.tmp' and -o 'x.nc'")
    assert nunatak("-i", "x.nc.tmp", *RUN, "-o", "y.nc").status == 0
    assert nunatak("-i", "y.nc", *RUN, "-snapshot_file", "y", "-snapshot_every", "1").status == 0
    (tmp_path / "manifest.jsonl").unlink()
    (tmp_path / "manifest.jsonl").mkdir()
    run = nunatak("-i", "y.nc", "-i_verify", "false", *RUN, "-o", "z.nc")
    refused(run, "manifest.jsonl': cannot append to the manifest")
    assert not (tmp_path / "z.nc.tmp").exists()


@pytest.mark.parametrize("name", ["o.nc.tmp", "r.json.tmp"])
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_that_were_planted(nunatak, tmp_path, name, link):
    """A link under a temporary name was followed, and its file overwritten with status 0. The
    options have bytes that are not UTF-8."""
    (tmp_path / "precious").write_text("precious")
    link(tmp_path / "precious", tmp_path / name)
    nunatak(*DOME, "-o", "o.nc", "-report", "r.json", "-ssa_failed_file", tmp_path / "f\udce4/f.nc",
            status=0)
    assert (tmp_path / "precious").read_text() == "precious"


def test_tools(tool, tmp_path):
    mask = ("-mask", "comb", "-grid_Mx", "20", "-virtual_ranks", "1")
    assert tool("labels", *mask, "-o", "x.nc").status == 0
    before = (tmp_path / "x.nc").read_bytes()
    for program, a, b in (("labels", "-i", "-o"), ("distance", "-i", "-report"),
                          ("labels", "-expect", "-report")):
        more = mask if a == "-expect" else ("-virtual_ranks", "1")
        refused(tool(program, *more, a, "x.nc", b, "./x.nc"), f"{a} 'x.nc' and {b} './x.nc'",
                program=f"nunatak-{program}")
    refused(tool("join", "-i", "x.nc", "-o", "./x.nc.0001"), "-i 'x.nc' and -o './x.nc.0001'",
            program="nunatak-join")
    for a, b in (("-i", "-report"), ("-forcing", "-report")):
        files = ("y.nc", a, "x.nc", b, "./x.nc") if a != "-i" else ("x.nc", b, "./x.nc")
        refused(tool("check", *files), f"{a} 'x.nc' and {b} './x.nc'", program="nunatak-check")
    for program, more in (("labels", mask), ("distance", mask), ("step", ("-virtual_ranks", "1"))):
        refused(tool(program, *more, "-machine", "x.nc", "-report", "./x.nc"),
                "-machine 'x.nc' and -report './x.nc'", program=f"nunatak-{program}")
    os.symlink("x.nc", tmp_path / "other.nc")
    for words, named in (((), "./x.nc"), (("x.nc",), "./x.nc"), (("other.nc",), "other.nc")):
        refused(tool("verify", *words, "-report", named), "-report", f"'{named}'",
                program="nunatak-verify")
    assert (tmp_path / "x.nc").read_bytes() == before


def test_a_full_disk_for_text(nunatak, tmp_path):
    """/dev/full takes no byte; through a link, so that it is not replaced."""
    os.symlink("/dev/full", tmp_path / "full")
    run = nunatak(*DOME, "-o", "x.nc", "-report", "full", ranks=2)
    refused(run, "'full'", "No space left on device")
    assert (tmp_path / "full").is_symlink() and not (tmp_path / "full.tmp").exists()


LABELS = ("nunatak-labels", "-mask", "full", "-virtual_ranks", "1")


@pytest.mark.parametrize("command, name",
                         [(("nunatak", "-init", "dome", "-grid_Mx", "111", "-grid_Mz", "31",
                            *RUN[2:], "-io_format", "serial", "-o", "x.nc"), "x.nc"),
                          ((*LABELS, "-grid_Mx", "1200", "-o", "x.nc"), "x.nc")])
def test_a_limit_of_the_size_of_files(tmp_path, command, name):
    """ulimit -f: SIGXFSZ ended the run without a word."""
    limit = 5000000  # MPI itself needs some
    run = run_program(*command, cwd=tmp_path,
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    refused(run, name, "File too large", program=command[0])
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("io_format", ["netcdf4", "pnetcdf", "hybrid"])
def test_a_limit_of_the_size_of_files_on_several_ranks(nunatak, tmp_path, io_format):
    """Before values are sent: MPI-IO and HDF5 may wait for ever after an error of one rank."""
    limit = 24000000  # shared memory of Open MPI 5: 16 MiB
    run = nunatak("-init", "marine", "-grid_dx", "16km", *RUN[2:], "-o", "x.nc", "-io_format",
                  io_format, ranks=3,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    refused(run, "x.nc.tmp': no room for ", f"File too large (ulimit -f: {limit} bytes)")
