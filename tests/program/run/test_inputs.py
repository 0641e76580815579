"""inputs/antarctica.py on small synthetic copies of what BedMachine, Bedmap2, Zwally's basins and
Schmidtko's shelf water look like; one step of nunatak on what it makes; and every option file of
inputs/, read and run at a coarse resolution."""
import pathlib
import re
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
from conftest import variables

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPACING = 20e3  # of the synthetic sources; the real ones have 500 m and 1 km
POINTS = 333


def make(*arguments):
    command = [sys.executable, str(ROOT / "inputs" / "antarctica.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def sheet(x, y):
    """Bed, thickness and surface of a round ice sheet with a shelf; a lake below its middle."""
    r = np.hypot(x, y) / 2000e3
    bed = 600 - 1400 * r**2
    thickness = np.where(r < 1.15, np.maximum(3000 * np.sqrt(np.maximum(1 - r, 0)), 300), 0.0)
    surface = np.where(thickness > 0, np.maximum(bed + thickness, (1 - 910 / 1028) * thickness),
                       np.maximum(bed, 0))
    return bed, thickness, surface, r


def write_bedmachine(path, without=None):
    x = (np.arange(POINTS) - POINTS // 2) * SPACING
    y = x[::-1]
    bed, thickness, surface, r = sheet(*np.meshgrid(x, y))
    mask = np.where(thickness == 0, 0, np.where(bed + thickness > surface - 1e-9, 2, 3))
    lake = r < 0.03
    mask[lake], bed[lake] = 4, bed[lake] - 500
    with netCDF4.Dataset(path, "w") as data:
        for name, values in (("x", x), ("y", y)):
            data.createDimension(name, POINTS)
            v = data.createVariable(name, "i4", (name,))
            v[:], v.units = values, "meters"
        for name, values, kind in (("mask", mask, "i1"), ("bed", bed, "f4"),
                                   ("thickness", thickness, "f4"), ("surface", surface, "f4")):
            if name == without:
                continue
            v = data.createVariable(name, kind, ("y", "x"),
                                    fill_value=-9999.0 if kind == "f4" else None)
            v[:] = values
    return path


def write_bedmap2(folder):
    folder.mkdir()
    x = (np.arange(POINTS) - POINTS // 2) * SPACING
    xx, yy = np.meshgrid(x, x[::-1])
    bed, thickness, _, _ = sheet(xx, yy)
    bed[np.hypot(xx, yy) > 3400e3] = -9999
    thickness[thickness == 0] = -9999
    for name, values in (("bedmap2_bed", bed), ("bedmap2_thickness", thickness)):
        values.astype("<f4").tofile(folder / f"{name}.flt")
        (folder / f"{name}.hdr").write_text(
            f"ncols         {POINTS}\nnrows         {POINTS}\nxllcorner     {x[0] - SPACING / 2}\n"
            f"yllcorner     {x[0] - SPACING / 2}\n"
            f"cellsize      {SPACING}\nNODATA_value  -9999\nbyteorder     LSBFIRST\n")
    return folder


def write_basins(path):
    """Four quarters of a disk up to 70 S; basin 1 lies between longitudes 0 and 90."""
    lines = ["header"] * 7
    for basin in range(1, 5):
        west = 90 * (basin - 1)
        arc = [(-70, west + d) for d in np.linspace(0, 90, 200)]
        lines += [f"{lat:.4f} {lon:.4f} {basin}" for lat, lon in [(-90, west), *arc, (-90, west)]]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_shelf_water(path):
    """None in basin 3; -1.5, -0.5, 1.0 degrees in the others, none within 5 degrees of their
    borders."""
    lines = ["LONGITUDE LATITUDE DEPTH C_T C_T_STD ABS_S ABS_S_STD"]
    for lon in np.arange(0.25, 360, 1.0):
        basin = int(lon // 90) + 1
        if basin != 3 and 5 < lon % 90 < 85:
            lines.append(
                f"{lon:.2f} -71.25 -500 {(-1.5, -0.5, 0, 1.0)[basin - 1]} 0.1 35.16504 0.01")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("source", ["bedmachine", "bedmap2"])
def test_antarctica_is_made_and_runs(nunatak, tmp_path, source):
    geometry = (write_bedmachine(tmp_path / "BedMachineAntarctica-v3.nc") if source == "bedmachine"
                else write_bedmap2(tmp_path / "bedmap2_bin"))
    made = make(geometry, "--basins", write_basins(tmp_path / "basins.txt"), "--shelf-water",
                write_shelf_water(tmp_path / "water.txt"),
                "--dx", "80km", "-o", tmp_path / "antarctica.nc")
    assert made.returncode == 0, made.stderr
    f = variables(tmp_path / "antarctica.nc")
    assert f["thk"].shape == (77, 77) and f["x"][0] == -3040e3 and f["y"][-1] == 3040e3
    bed, thickness, _, r = sheet(*np.meshgrid(f["x"], f["y"]))
    inland = (r > 0.1) & (r < 0.9)
    assert (np.abs(f["thk"] - thickness)[inland].max() < 60 and
            np.abs(f["topg"] - bed)[inland].max() < 60)
    assert (f["thk"][r > 1.25] == 0).all()
    assert np.abs(f["topg"] - bed)[38, 38] < 20  # not the bottom of the lake
    # basin 1 between longitudes 0 and 90 is where x and y are positive; in the ocean, too
    xx, yy = np.meshgrid(f["x"], f["y"])
    for basin, inside in ((1, (xx > 0) & (yy > 0)), (2, (xx > 0) & (yy < 0)),
                          (3, (xx < 0) & (yy < 0)), (4, (xx < 0) & (yy > 0))):
        assert (f["basins"][inside] == basin).all()
    theta = {basin: np.unique(f["theta_ocean"][f["basins"] == basin]) for basin in range(1, 5)}
    # 3: between 2 and 4
    np.testing.assert_allclose([t.item() for t in theta.values()], [-1.5, -0.5, 0.25, 1.0],
                               atol=1e-6)
    np.testing.assert_allclose(f["salinity_ocean"], 35.0, atol=1e-5)

    nunatak("-i", "antarctica.nc", "-run_steps", "1", "-grid_Mz", "11", "-o", "out.nc", ranks=2,
            status=0)
    out = variables(tmp_path / "out.nc")
    assert out["pico_shelf_mask"].max() >= 1 and out["pico_basal_melt_rate"].max() > 0
    assert set(np.unique(out["basins"])) == {1, 2, 3, 4}


# what makes each option file a run of seconds; -i: files that are made by inputs/antarctica.py
COARSE = {"antarctica.yaml": ("-i", "antarctica.nc", "-grid_dx", "80km", "-run_steps", "1",
                              "-run_years", "1"),
          "g5km.yaml": ("-grid_Mx", "31", "-grid_My", "57", "-grid_Mz", "11"),
          "greenland.yaml": ("-i", "greenland.nc", "-run_steps", "1", "-run_years", "1"),
          "halfar.yaml": ("-grid_dx", "120km", "-run_years", "200"),
          "marine.yaml": ("-grid_dx", "64km", "-run_years", "1"),
          "stream.yaml": ("-grid_My", "41"),
}


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "inputs").glob("*.yaml")))
def test_option_file_runs(nunatak, tmp_path, name):
    if "-i" in COARSE[name]:
        greenland = ["--greenland"] if name == "greenland.yaml" else []
        made = make(write_bedmachine(tmp_path / "source.nc"), *greenland, "--dx", "80km", "-o",
                    tmp_path / COARSE[name][1])
        assert made.returncode == 0, made.stderr
    nunatak("-options_file", ROOT / "inputs" / name, *COARSE[name], ranks=2, status=0)
    written = re.search(r"^o: (\S+)", (ROOT / "inputs" / name).read_text(), re.M).group(1)
    assert np.isfinite(variables(tmp_path / written)["thk"]).all()


def test_what_is_wrong_is_named(tmp_path):
    basins = write_basins(tmp_path / "basins.txt")
    (tmp_path / "short.txt").write_text("header\n1 2 3\n")
    bedmap2 = write_bedmap2(tmp_path / "bedmap2_bin")
    for arguments, expected in (
        ((tmp_path / "no.nc",), "no.nc: expected a file, found none"),
        ((write_bedmachine(tmp_path / "a.nc", without="thickness"),),
         "a.nc: expected a variable 'thickness', as in BedMachine, found x"),
        ((tmp_path,), "expected a file bedmap2_bed.hdr"),
        ((bedmap2, "--dx", "7km"), "--dx: expected a spacing that divides 6080 km"),
        ((bedmap2, "--dx", "160km", "--basins", basins, "--merge", "1+9"),
         "--merge: expected basins of the file (1, 2, 3, 4), found 9"),
        ((bedmap2, "--dx", "160km", "--shelf-water", tmp_path / "short.txt"),
         "short.txt: expected 7 columns"),
        ((bedmap2, "--greenland", "--basins", basins), "--greenland: expected no --basins")):
        run = make(*arguments, "-o", tmp_path / "out.nc")
        assert (run.returncode != 0 and expected in run.stderr and
                "Traceback" not in run.stderr), (arguments, run.stderr)
    with open(bedmap2 / "bedmap2_bed.flt", "ab") as out:
        out.write(b"1234")
    assert "bedmap2_bed.flt: expected 443556 bytes" in make(bedmap2, "-o",
                                                            tmp_path / "out.nc").stderr
