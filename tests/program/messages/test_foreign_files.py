"""NetCDF files as other programs write them: each was once refused, or read wrongly with status 0.
How stored values become numbers is tests/io/test_reader.cpp; here is what the programs make of
them, on 1, 2 and 3 ranks and in all ways to read."""

import netCDF4
import numpy as np
import pytest
from conftest import refused, variables

RUNS = ((1, "each"), (2, "parallel"), (3, "serial"), (3, "direct"))  # ranks, way to read
SIA = ("-stress", "sia")
UNITS = dict(thk="m", topg="m", usurf="m", u_ssa="m s-1", tauc="Pa", theta_ocean="K",
             salinity_ocean="g/kg", ice_surface_temp="K", climatic_mass_balance="kg m-2 s-1")


def sheet(nx=15, ny=12, d=16e3):
    """A small ice sheet with a shelf in the south: x, y (m), fields in SI units."""
    x, y = (np.arange(n) * d for n in (nx, ny))
    xx, yy = np.meshgrid(x, y)
    r = np.hypot(xx - x.mean(), yy - y.mean())
    thk = np.where(r < 70e3, np.round(1500 * np.sqrt(np.maximum(1 - (r / 75e3)**2, 0))), 0.0)
    thk[(r >= 60e3) & (r < 100e3) & (yy < y.mean())] = 300.0
    return (x, y,
            {"thk": thk, "topg": np.round(np.where(r < 65e3, 300 - 2.5e-3 * r, 650 - 0.01 * r))})


def write(path, fields=(), attributes=(), records=0, coordinate=("f8", 1.0, "m")):
    """Fields as they are stored; those of more dimensions have `records`."""
    x, y, own = sheet()
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as out:
        out.createDimension("time", records or None)
        for name, values in (("y", y), ("x", x)):
            out.createDimension(name, len(values))
            v = out.createVariable(name, coordinate[0], (name,))
            v.units, v[:] = coordinate[2], values * coordinate[1]
        for name, values in {**own, **dict(fields)}.items():
            more = {"units": UNITS.get(name, ""), **dict(attributes).get(name, {})}
            v = out.createVariable(name, values.dtype, ("time", "y", "x")[3 - values.ndim:],
                                   fill_value=more.pop("_FillValue", None))
            v.set_auto_maskandscale(False)
            v.setncatts({key: value for key, value in more.items() if key != "units" or value})
            v[:] = values
        out.createVariable("mapping", "i4", ()).setncatts(dict(attributes).get("mapping", {}))


def values(path, name):
    return variables(path)[name].squeeze()


def outputs(nunatak, tmp_path, *options, words=()):
    """Runs that must succeed, each with its way to read; yields the name of what they wrote."""
    for ranks, way in RUNS:
        run = nunatak("-i", "a.nc", "-io_read", way, "-run_years", 0, "-grid_Mz", 5, "-o", "o.nc",
                      *options, ranks=ranks, status=0)
        for word in words:
            assert word in run.text, run.text
        yield tmp_path / "o.nc"


X, Y, OWN = sheet()
ICE = OWN["thk"] > 0
IDS = np.where(X < X.mean(), 1, 200) + 0 * Y[:, None]


def packed(field, scale, offset=0.0, kind="i2", **more):
    stored = np.round((field - offset) / scale).astype("i8").astype(kind)
    return stored, {"scale_factor": scale, **({"add_offset": offset} if offset else {}), **more}


READ = {  # field: stored values and their attributes; the numbers, and how well they are known
        "packed, zero above 0": ("thk", *packed(OWN["thk"], 0.075, 1200.02), OWN["thk"], 0.04),
        "packed ids": ("basins", *packed(IDS, 0.3, 1.0), IDS, 0),
        "no basin is a fill value": ("basins", np.where(ICE, 3, 0).astype("i1"),
                                     {"_FillValue": np.int8(0)}, np.where(ICE, 3, 0), 0),
}


@pytest.mark.parametrize("case", READ)
def test_values(nunatak, tmp_path, case):
    name, stored, attributes, numbers, error = READ[case]
    write(tmp_path / "a.nc", {name: stored}, {name: attributes})
    for out in outputs(nunatak, tmp_path, "-stress", "ssa+sia", "-energy", "off", "-ssa_view",
                       "false"):
        found = values(out, name)
        assert np.abs(found - numbers).max() <= error
        if name == "thk":
            assert ((found == 0) == (numbers == 0)).all()


MONTHS = np.arange(12.0)[:, None, None] + 0 * OWN["thk"]


def test_the_mean_of_a_climatology(nunatak, tmp_path):
    write(tmp_path / "a.nc", {"climatic_mass_balance": 1e-5 * (MONTHS - 5.5),
                              "ice_surface_temp": 250 + MONTHS}, records=12)
    for out in outputs(nunatak, tmp_path, *SIA, words=("the mean of its 12 records",)):
        assert np.abs(values(out, "climatic_mass_balance")).max() < 1e-18
        assert np.abs(values(out, "ice_surface_temp") - 255.5).max() < 1e-9


def test_the_last_record_of_a_series(nunatak, tmp_path):
    write(tmp_path / "a.nc", {"thk": OWN["thk"] + 10 * MONTHS, "ice_surface_temp": 250 + MONTHS},
          records=12)
    for out in outputs(nunatak, tmp_path, *SIA, words=("the last of 12 records is read",)):
        assert ((values(out, "ice_surface_temp") == 261).all() and
                (values(out, "thk") == OWN["thk"] + 110).all())


def test_float_coordinates_in_km_and_their_own_spacing(nunatak, tmp_path):
    write(tmp_path / "a.nc", coordinate=("f4", 16.1e-3 / 16, "km"))
    for options in ((), ("-grid_dx", "16.1km")):
        for out in outputs(nunatak, tmp_path, *SIA, *options):
            assert (values(out, "thk") == OWN["thk"]).all()


UNUSED = {
    # what the run does not use: missing values, options
    "usurf": ({"usurf": np.where(ICE, 1000.0, np.nan)}, ()),
    "ocean": ({"theta_ocean": np.where(ICE, np.nan, 272.0),
               "salinity_ocean": np.where(ICE, np.nan, 35.0)}, ("-ocean", "none")),
    "basins": ({"basins": np.where(ICE, 1.0, np.nan)}, ("-ocean", "none")),
    "sliding": ({"tauc": np.where(ICE, 1e5, np.nan), "u_ssa": np.where(ICE, 0.0, np.nan)}, ()),
}


@pytest.mark.parametrize("case", UNUSED)
def test_missing_values_in_a_field_that_the_run_does_not_use(nunatak, tmp_path, case):
    fields, options = UNUSED[case]
    write(tmp_path / "a.nc", fields)
    words = ([] if case == "usurf"
             else [f"'{name}' has missing values, and this run does not use it" for name in fields])
    for out in outputs(nunatak, tmp_path, *SIA, *options, words=words):
        assert (values(out, "thk") == OWN["thk"]).all()


POLAR = dict(grid_mapping_name="polar_stereographic", latitude_of_projection_origin=-90.0,
             standard_parallel=-71.0, straight_vertical_longitude_from_pole=0.0)
WGS84 = dict(semi_major_axis=6378137.0, inverse_flattening=298.257223563)
POINT = (X[4], Y[3])  # m


def latitude(a, f):
    """Snyder (1987), eqs. 15-9, 21-33 and 7-9 by iteration."""
    e2 = f * (2 - f)
    e, c = e2**0.5, np.radians(71)
    t_of = lambda p: np.tan(np.pi / 4 - p / 2) * ((1 + e * np.sin(p)) / (1 - e * np.sin(p)))**(
        e / 2)
    t = np.hypot(*POINT) * t_of(c) / (a * np.cos(c) / np.sqrt(1 - e2 * np.sin(c)**2))
    p = np.pi / 2 - 2 * np.arctan(t)
    for _ in range(20):
        p = np.pi / 2 - 2 * np.arctan(t * ((1 - e * np.sin(p)) / (1 + e * np.sin(p)))**(e / 2))
    return -np.degrees(p)


MAPPINGS = {
    # thk:grid_mapping, attributes of mapping; latitude, or what a line of the log says
    "extended": ("other: lat lon mapping: x y", {**POLAR, **WGS84},
                 latitude(6378137.0, 1 / 298.257223563)),
    "sphere": ("mapping", {**POLAR, "earth_radius": 6371229.0}, latitude(6371229.0, 0.0)),
    "sphere of PROJ": ("mapping", {**POLAR, "semi_major_axis": 6371229.0,
                                   "semi_minor_axis": 6371229.0, "inverse_flattening": 0.0},
                       latitude(6371229.0, 0.0)),
    "two axes": ("mapping", {**POLAR, "semi_major_axis": 6378273.0, "semi_minor_axis": 6306889.449},
                 latitude(6378273.0, 1 - 6306889.449 / 6378273.0)),
    "one axis": ("mapping", {**POLAR, "semi_major_axis": 6371229.0},
                 "'mapping' lacks inverse_flattening: no lat and lon"),
    "no pole": ("mapping", {k: v for k, v in POLAR.items() if "origin" not in k},
                "lacks latitude_of_projection_origin: no lat and lon"),
    "no variable": ("Polar Stereographic", POLAR,
                    "'Polar Stereographic' is not a variable of the file: no lat and lon"),
}


@pytest.mark.parametrize("case", MAPPINGS)
def test_projection(nunatak, tmp_path, case):
    name, attributes, right = MAPPINGS[case]
    write(tmp_path / "a.nc", attributes={"thk": {"grid_mapping": name}, "mapping": attributes})
    for out in outputs(nunatak, tmp_path, *SIA, words=[right] if isinstance(right, str) else []):
        with netCDF4.Dataset(out) as data:
            assert ("lat" in data.variables) != isinstance(right, str)
            assert isinstance(right, str) or data["lat"][3, 4] == pytest.approx(right, abs=1e-6)


REFUSED = {
    # field: stored values and their attributes; words of the error
    "a basin too many": ("basins", np.full(ICE.shape, 1001, "i4"), {},
                         ("'basins'", "from 0 to 1000")),
    "months of the bed": ("topg", MONTHS, {}, ("'topg'", "expected one record, found 12")),
    "months of basins": ("basins", MONTHS, {}, ("'basins'", "expected one record, found 12")),
    "no unit": ("thk", OWN["thk"], {"units": "\0"}, ("units '' cannot be converted to 'm'",)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(nunatak, tmp_path, case):
    name, stored, attributes, words = REFUSED[case]
    write(tmp_path / "a.nc", {name: stored}, {name: attributes},
          records=12 if stored.ndim == 3 else 0)
    for ranks, way in RUNS:
        refused(nunatak("-i", "a.nc", "-io_read", way, "-run_years", 0, "-grid_Mz", 5, *SIA,
                        ranks=ranks), "a.nc", *words)
