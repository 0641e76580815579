"""What every program does alike: -version, exit statuses, man pages and completions; and what a run
says of itself."""
import pathlib
import re
import shutil
import subprocess
import sys

import netCDF4
import pytest
from conftest import FOLDER, run_program
from test_help import PROGRAMS

SOURCE = pathlib.Path(__file__).resolve().parents[3]
VERSION = re.search(r"project\(nunatak VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]


@pytest.mark.parametrize("program", PROGRAMS)
def test_version(program, tmp_path):
    """The same for both spellings, after other options, and nothing runs."""
    run = run_program(program, "-version", cwd=tmp_path, status=0)
    lines = dict(line.split(maxsplit=1) for line in run.out.splitlines()[1:])
    assert run.out.splitlines()[0] == f"{program} {VERSION}" and run.err == ""
    assert {"compiler", "Kokkos", "kernels"} <= lines.keys() and lines["Kokkos"].split()[0]
    assert ("PETSc" in lines) == (program == "nunatak")
    if program not in ("nunatak-distance", "nunatak-labels", "nunatak-step") or "MPI" in lines:
        assert {"MPI", "NetCDF-C", "PnetCDF"} <= lines.keys()
    assert run_program(program, "-nonsense", "--version", cwd=tmp_path, status=0).out == run.out
    assert not list(tmp_path.iterdir())


def test_a_run_of_length_zero(nunatak):
    out = nunatak("-init", "dome", "-grid_Mx", "11", "-grid_Mz", "3", status=0).out
    assert ("no step: year 0.0000  volume" in out and "dt" not in out and
            "step " not in out.replace("no step: ", ""))


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_table_of_times_adds_up(nunatak, ranks):
    """Parts of parts are indented; the others and the rest make 100 %."""
    out = nunatak("-init", "marine", "-grid_dx", "64km", "-grid_Mz", "5", "-run_steps", "2", "-o",
                  "o.nc", "-spatial_file", "s.nc", ranks=ranks, status=0).out
    rows = out[out.index("\nseconds "):].splitlines()[2:]
    top = [float(row.split()[-2]) for row in rows if not row.startswith(" ")]
    assert rows[-1].startswith("total ") and top[-1] == 100.0 and min(top) >= 0.0
    assert sum(top[:-1]) == pytest.approx(100.0, abs=0.05 * len(top))
    assert [row.split("  ")[1] for row in rows if row.startswith(" ")] == ["init: read or generate",
                                                                           "output: open"]


def test_ocean_fields_that_a_run_did_not_have(nunatak, island, tmp_path):
    """-ocean none wrote the constants of the options as fields, and a later run with PICO took them
    for water."""
    def with_holes(data):
        for name, units in (("theta_ocean", "K"), ("salinity_ocean", "g/kg")):
            data.createVariable(name, "f8", ("y", "x"), fill_value=-1.0).units = units
            data[name][:4] = 272.0 if units == "K" else 34.0

    island()
    island(with_holes, name="holes.nc")
    for start in (("-init", "dome", "-grid_Mx", "11"), ("-i", "island.nc", "-ocean", "none"),
                  ("-i", "holes.nc", "-ocean", "none")):
        nunatak(*start, "-grid_Mz", "3", "-stress", "sia", "-run_steps", "1", "-o", "o.nc", ranks=2,
                status=0)
        with netCDF4.Dataset(tmp_path / "o.nc") as data:
            assert not {"theta_ocean", "salinity_ocean", "basins"} & set(data.variables)
        nunatak("-i", "o.nc", "-stress", "sia", "-run_steps", "1", "-o", "p.nc", status=0)
        run = nunatak("-i", "o.nc", "-ocean", "pico", "-stress", "sia", "-run_steps", "1", ranks=2,
                      status=2)
        assert "variable 'theta_ocean' is missing: expected it, or option -theta_ocean" in run.err
        nunatak("-i", "p.nc", "-ocean", "pico", "-theta_ocean", "272", "-salinity_ocean", "34.5",
                "-stress", "sia", "-run_steps", "1", status=0)
    nunatak("-init", "marine", "-grid_dx", "64km", "-grid_Mz", "3", "-ocean", "none", "-stress",
            "sia", "-o", "m.nc", status=0)
    nunatak("-i", "m.nc", "-ocean", "pico", "-stress", "sia", status=0)  # the generator has water


@pytest.mark.skipif(shutil.which("cdo") is None, reason="no cdo")
def test_means_of_cdo_are_weighted_by_area(nunatak, tmp_path):
    nunatak("-init", "marine", "-grid_dx", "64km", "-grid_Mz", "3", "-stress", "sia", "-o", "o.nc",
            status=0)
    done = subprocess.run(["cdo", "-s", "output", "-fldmean", "-selname,thk", "o.nc"], cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    with netCDF4.Dataset(tmp_path / "o.nc") as data:
        thk, area = data["thk"][0], data["cell_area"][:]
        expected = (thk * area).sum() / area.sum()
        assert abs(expected / thk.mean() - 1) > 0.01 and area.min() < 64e3**2 < area.max()
    assert float(done.stdout) == pytest.approx(expected, rel=1e-4) and done.stderr == ""


def test_man_pages_and_completions(tmp_path):
    subprocess.run([sys.executable, SOURCE / "scripts/manual_pages.py", tmp_path,
                    *(FOLDER / name for name in PROGRAMS)], check=True, timeout=120)
    for name in PROGRAMS:
        page = (tmp_path / "man/man1" / f"{name}.1").read_text()
        help_text = run_program(name, "-help", status=0).out
        options = set(re.findall(r"^  -([\w.]+)(?: |$)", help_text, re.M))
        assert ({found.replace("\\-", "-")
                 for found in re.findall(r"^\\fB\\-(\S+)\\fR", page, re.M)} == options and
                f"nunatak {VERSION}" in page)
        script = (f'source {tmp_path}/bash-completion/completions/{name}; COMP_WORDS=({name} -); '
                  f'COMP_CWORD=1; _{name.replace("-", "_")}; echo "${{COMPREPLY[@]}}"')
        words = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                               check=True).stdout.split()
        assert {word[1:] for word in words} == options | {"help", "version"}
    script = (f"source {tmp_path}/bash-completion/completions/nunatak-distance; COMP_WORDS=(x "
              f"-machine R); COMP_CWORD=2; _nunatak_distance; echo ${{COMPREPLY[@]}}")
    assert subprocess.run(["bash", "-c", script], cwd=SOURCE, capture_output=True, text=True,
                          check=True).stdout.split() == ["README.md"]
