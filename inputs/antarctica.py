#!/usr/bin/env python3
"""Makes an input file of nunatak from public data: an Antarctica with its ocean, or a Greenland.

    inputs/antarctica.py BedMachineAntarctica-v3.nc -o antarctica_32km.nc \\
        --basins Ant_Full_DrainageSystem_Polygons.txt --shelf-water Antarctic_shelf_data.txt
    inputs/antarctica.py bedmap2_bin --dx 8km -o antarctica_8km.nc   # the ocean is one basin
    inputs/antarctica.py BedMachineGreenland-v5.nc --greenland --dx 16km -o greenland_16km.nc

What to fetch (each of the three belongs to its authors, who ask to be cited):

  geometry     BedMachineAntarctica-v3.nc, Morlighem et al., NSIDC-0756, doi:10.5067/FPSU0V1MWUB6;
               needs a free Earthdata login
               or bedmap2_bin.zip, unpacked, Fretwell et al. 2013, doi:10.5194/tc-7-375-2013
               or BedMachineGreenland-v5.nc, IDBMG4, Morlighem et al. 2017, doi:10.1002/2017GL074954
  basins       Ant_Full_DrainageSystem_Polygons.txt, Zwally et al. 2012, from NASA's Goddard Space
               Flight Center ("Antarctic and Greenland drainage systems"): 7 lines of header, then
               latitude, longitude, basin
  shelf water  Antarctic_shelf_data.txt, Schmidtko et al. 2014, doi:10.1126/science.1256117: one
               line of header, then longitude, latitude, depth, conservative temperature and its
               deviation, absolute salinity and its deviation

What it does. The grid is that of ISMIP6 (the points of --dx within its square). A cell has ice if
half of the source points in it have; its thickness is the mean of those, its bed the mean of all.
Below Lake Vostok the bed is the base of the ice. Cells without a bed (beyond 60 S in Bedmap2) take
the nearest one. A cell belongs to the basin in which its centre lies, in the ocean to the nearest
basin; --merge joins basins. As in PICO (Reese et al. 2018, doi:10.5194/tc-12-1969-2018, section 3)
a basin has one temperature and one salinity: the mean over its shelf; a basin without shelf water
takes the mean of its neighbours by number. Conservative temperature is taken for potential
temperature (at these values they differ by less than 0.01 K), and practical salinity is 35/35.16504
of absolute salinity (within 0.01 g/kg). BedMachine's 13333 x 13333 points take half a minute and
0.5 GB."""
import argparse
import pathlib
import sys

import matplotlib.path
import netCDF4
import numpy as np
import scipy.ndimage

A, F = 6378137.0, 1 / 298.257223563  # WGS84
# pole, standard parallel and meridian in degrees; first and last point of the grid of ISMIP6 in
# metres
SHEETS = {"antarctica": dict(pole=-90.0, parallel=-71.0, meridian=0.0, x=(-3040e3, 3040e3),
                             y=(-3040e3, 3040e3)),
          "greenland": dict(pole=90.0, parallel=70.0, meridian=-45.0, x=(-720e3, 960e3),
                            y=(-3450e3, -570e3)),
}


def fail(message):
    sys.exit(f"antarctica.py: error: {message}")


def project(lat, lon, sheet):
    """Polar stereographic x and y in metres (Snyder 1987, equations 14-15, 15-9, 21-30, 21-31 and
    21-34)."""
    e = np.sqrt(F * (2 - F))
    sign = np.sign(sheet["pole"])
    def t(phi):
        return np.tan(np.pi / 4 - phi / 2) * ((1 + e * np.sin(phi)) / (1 - e * np.sin(phi))) ** (
            e / 2)
    phi, phi_c = np.radians(sign * np.asarray(lat)), np.radians(sign * sheet["parallel"])
    rho = A * np.cos(phi_c) / np.sqrt(1 - (e * np.sin(phi_c)) ** 2) * t(phi) / t(phi_c)
    angle = np.radians(np.asarray(lon) - sheet["meridian"])
    return rho * np.sin(angle), -sign * rho * np.cos(angle)


class BedMachine:
    """BedMachine: one NetCDF file; y falls with the row."""

    def __init__(self, path, antarctica):
        try:
            self.data, self.antarctica = netCDF4.Dataset(path), antarctica
        except OSError as error:
            fail(f"{path}: expected a NetCDF file, as BedMachine, or the folder of Bedmap2, "
                 f"found: {error}")
        for name in ("x", "y", "bed", "thickness", "surface", "mask"):
            if name not in self.data.variables:
                fail(f"{path}: expected a variable '{name}', as in BedMachine, found "
                     f"{', '.join(self.data.variables)}")
        self.x, self.y = (np.asarray(self.data[name][:], float) for name in ("x", "y"))

    def rows(self, rows):
        """Bed and thickness of these rows, NaN where there is none."""
        bed, thickness, surface = (np.ma.filled(self.data[name][rows].astype(float), np.nan)
                                   for name in ("bed", "thickness", "surface"))
        if self.antarctica:
            # 4: Lake Vostok
            bed = np.where(np.ma.filled(self.data["mask"][rows], 0) == 4, surface - thickness, bed)
        return bed, thickness


class Bedmap2:
    """The binary distribution of Bedmap2: 32-bit floats by rows from north to south, each file with
    a header of text."""

    def __init__(self, folder):
        self.fields = []
        for name in ("bedmap2_bed", "bedmap2_thickness"):
            for suffix in (".hdr", ".flt"):
                if not (folder / (name + suffix)).is_file():
                    fail(f"{folder}: expected a file {name}{suffix} (bedmap2_bin.zip, unpacked), "
                         "found none")
            lines = (folder / f"{name}.hdr").read_text().splitlines()
            words = dict(line.lower().split()[:2] for line in lines if line.strip())
            try:
                columns, rows, size = (int(words["ncols"]), int(words["nrows"]),
                                       float(words["cellsize"]))
                left, lower, self.missing = (float(words[key])
                                             for key in ("xllcorner", "yllcorner", "nodata_value"))
            except KeyError as key:
                fail(f"{folder}/{name}.hdr: expected a line {key}, found {', '.join(words)}")
            found = (folder / f"{name}.flt").stat().st_size
            if found != 4 * rows * columns:
                fail(f"{folder}/{name}.flt: expected {4 * rows * columns} bytes for {rows} x "
                     f"{columns} floats, found {found}")
            kind = ">f4" if words.get("byteorder") == "msbfirst" else "<f4"
            self.fields.append(np.memmap(folder / f"{name}.flt", kind, "r", shape=(rows, columns)))
            x, y = (left + size * (np.arange(columns) + 0.5),
                    lower + size * (rows - np.arange(rows) - 0.5))
            if len(self.fields) == 2 and (len(x) != len(self.x) or len(y) != len(self.y)):
                fail(f"{folder}: expected bed and thickness on one grid, found {len(self.y)} x "
                     f"{len(self.x)}, {rows} x {columns}")
            self.x, self.y = x, y

    def rows(self, rows):
        return tuple(np.where(f[rows] == self.missing, np.nan, f[rows].astype(float))
                     for f in self.fields)


def grid(first_last, dx, name):
    first, last = first_last
    count = (last - first) / dx
    if abs(count - round(count)) > 1e-9:
        fail(f"--dx: expected a spacing that divides {(last - first) / 1e3:.0f} km, the length of "
             f"{name}, found {dx / 1e3:g} km")
    return first + dx * np.arange(round(count) + 1)


def coarsen(source, x, y, dx):
    """Thickness (0: no ice) and bed, means over the source points in each cell of the grid (x,
    y)."""
    column = np.floor((source.x - x[0]) / dx + 0.5).astype(int)
    inside = (column >= 0) & (column < len(x))
    row = np.floor((source.y - y[0]) / dx + 0.5).astype(int)
    bed, thk = np.full((len(y), len(x)), np.nan), np.zeros((len(y), len(x)))
    for j in range(len(y)):
        rows = np.flatnonzero(row == j)
        if len(rows) == 0:
            continue
        b, h = source.rows(slice(rows[0], rows[-1] + 1))
        def total(values):
            return np.bincount(column[inside], values[:, inside].sum(axis=0), len(x))
        icy, with_bed, points = total(h > 0), total(np.isfinite(b)), total(np.ones(h.shape))
        with np.errstate(invalid="ignore"):
            bed[j] = total(np.nan_to_num(b)) / with_bed
            thk[j] = np.where((points > 0) & (2 * icy >= points),
                              total(np.where(h > 0, h, 0)) / icy, 0)
    if not np.isfinite(bed).any():
        fail("the geometry has no bed on the grid: expected projected x and y in metres")
    print(f"  {np.isnan(bed).sum()} of {bed.size} cells have no bed in the source and take the "
          "nearest one")
    return np.nan_to_num(thk), nearest(bed, np.isfinite(bed))


def nearest(field, known):
    """The field with the nearest known value where it is not known."""
    index = scipy.ndimage.distance_transform_edt(~known, return_distances=False,
                                                 return_indices=True)
    return field[tuple(index)]


def columns_of(path, header, count, meaning):
    try:
        table = np.loadtxt(path, skiprows=header, ndmin=2)
    except (OSError, ValueError) as error:
        fail(f"{path}: expected {meaning} in columns after {header} lines of header: {error}")
    if table.shape[0] == 0 or table.shape[1] < count:
        fail(f"{path}: expected {count} columns ({meaning}), found {table.shape[0]} lines of "
             f"{table.shape[1]}")
    return table


def read_basins(path, x, y, dx, sheet):
    """The basin of each cell: polygons of latitude and longitude, one per number; the nearest basin
    where there is none."""
    lat, lon, number = columns_of(path, 7, 3, "latitude, longitude, basin").T[:3]
    if np.abs(lat).max() > 90:
        fail(f"{path}: expected latitudes in the first column, found {lat[np.abs(lat).argmax()]:g}")
    px, py = project(lat, lon, sheet)
    xx, yy = np.meshgrid(x, y)
    basins = np.zeros(xx.shape, int)
    for basin in np.unique(number).astype(int):
        points = np.column_stack((px, py))[number == basin]
        # along the border
        length = np.cumsum(np.hypot(*np.diff(points, axis=0, prepend=points[:1]).T))
        step = np.floor(length / (dx / 4))  # a point for every quarter of a cell
        points = points[np.diff(step, prepend=-1) > 0]
        near = (xx >= points[:, 0].min()) & (xx <= points[:, 0].max()) & (
            yy >= points[:, 1].min()) & (yy <= points[:, 1].max())
        if len(points) > 2 and near.any():
            inside = matplotlib.path.Path(points).contains_points(
                np.column_stack((xx[near], yy[near])))
            basins[near] = np.where(inside, basin, basins[near])
    if not basins.any():
        fail(f"{path}: no cell of the grid lies in a basin")
    return nearest(basins, basins > 0)


def merge(basins, groups):
    """Joins basins: "1+2+3,17+18" makes one of 1, 2, 3 and one of 17, 18. Numbers become 1, 2, 3,
    ... in their old order."""
    for group in filter(None, groups.split(",")):
        try:
            numbers = [int(word) for word in group.split("+")]
        except ValueError:
            fail(f"--merge: expected numbers joined by +, as in 1+2+3,17+18, found '{group}'")
        missing = [n for n in numbers if n not in basins]
        if missing:
            fail("--merge: expected basins of the file "
                 f"({', '.join(map(str, np.unique(basins)))}), found {missing[0]}")
        basins = np.where(np.isin(basins, numbers), numbers[0], basins)
    return np.unique(basins, return_inverse=True)[1].reshape(basins.shape) + 1


def shelf_water(path, basins, x, y, dx, sheet):
    """Potential temperature (degrees Celsius) and practical salinity (g/kg): per basin the means of
    the shelf water in it."""
    table = columns_of(path, 1, 7, "longitude, latitude, depth, temperature, its deviation, "
                       "salinity, its deviation")
    px, py = project(table[:, 1], table[:, 0], sheet)
    i, j = np.rint((px - x[0]) / dx).astype(int), np.rint((py - y[0]) / dx).astype(int)
    inside = (i >= 0) & (i < len(x)) & (j >= 0) & (j < len(y))
    basin = basins[j[inside], i[inside]]
    # points are equally spaced in longitude and latitude
    area = np.cos(np.radians(table[inside, 1]))
    numbers = np.arange(1, basins.max() + 1)
    weight = np.bincount(basin, area, len(numbers) + 1)[1:]
    if not weight.any():
        fail(f"{path}: no point of the shelf lies on the grid")
    fields = []
    for values in (table[inside, 3], table[inside, 5] * 35 / 35.16504):
        total = np.bincount(basin, area * values, len(numbers) + 1)[1:]
        mean = np.interp(numbers, numbers[weight > 0], total[weight > 0] / weight[weight > 0])
        fields.append(mean[basins - 1])
    print(f"  basins without shelf water: {', '.join(map(str, numbers[weight == 0])) or 'none'}")
    return fields


def write(path, sheet, x, y, fields, source):
    with netCDF4.Dataset(path, "w") as out:
        out.Conventions, out.source = "CF-1.8", source
        for name, values in (("y", y), ("x", x)):
            out.createDimension(name, len(values))
            v = out.createVariable(name, "f8", (name,))
            v.setncatts(
                dict(units="m", standard_name=f"projection_{name}_coordinate", axis=name.upper()))
            v[:] = values
        out.createVariable("mapping", "i4").setncatts(dict(
            grid_mapping_name="polar_stereographic", latitude_of_projection_origin=sheet["pole"],
            standard_parallel=sheet["parallel"],
            straight_vertical_longitude_from_pole=sheet["meridian"],
            false_easting=0.0, false_northing=0.0, semi_major_axis=A, inverse_flattening=1 / F))
        for name, (values, attributes) in fields.items():
            v = out.createVariable(name, "i4" if name == "basins" else "f4", ("y", "x"), zlib=True)
            v.setncatts(dict(attributes, grid_mapping="mapping"))
            v[:] = values


def metres(text):
    number = text[:-2] if text.endswith("km") else text[:-1] if text.endswith("m") else text
    value = float(number) * (1e3 if text.endswith("km") else 1)
    if not value > 0:
        raise ValueError(text)
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("geometry", type=pathlib.Path,
                        help="NetCDF file of BedMachine, or folder bedmap2_bin of Bedmap2")
    parser.add_argument("--greenland", action="store_true", help="the geometry is Greenland's")
    parser.add_argument("--dx", type=metres, default="32km",
                        help="spacing: 32km, 16km, 8km (default: 32km)")
    parser.add_argument("--basins", type=pathlib.Path, help="polygons of the drainage basins")
    parser.add_argument("--merge", default="", help="basins to join: 1+2+3,17+18")
    parser.add_argument("--shelf-water", type=pathlib.Path,
                        help="temperature and salinity on the continental shelf")
    parser.add_argument("-o", type=pathlib.Path, required=True, help="file to write")
    options = parser.parse_args()
    if options.greenland and (options.basins or options.shelf_water):
        fail("--greenland: expected no --basins and no --shelf-water, which are Antarctica's")
    for path in filter(None, (options.geometry, options.basins, options.shelf_water)):
        if not path.exists():
            fail(f"{path}: expected a file, found none (--help says where it comes from)")
    if not options.o.parent.is_dir() or options.o.is_dir():
        fail(f"-o {options.o}: expected a file in a folder that is there")
    sheet = SHEETS["greenland" if options.greenland else "antarctica"]
    x, y = (grid(sheet[axis], options.dx, axis) for axis in "xy")

    source = (Bedmap2(options.geometry) if options.geometry.is_dir()
              else BedMachine(options.geometry, not options.greenland))
    print(f"{options.geometry}: {len(source.y)} x {len(source.x)} points to {len(y)} x "
          f"{len(x)} cells")
    thk, topg = coarsen(source, x, y, options.dx)
    fields = {"thk": (thk, dict(units="m", standard_name="land_ice_thickness")),
              "topg": (topg, dict(units="m", standard_name="bedrock_altitude"))}
    basins = np.ones(thk.shape, int)
    if options.basins:
        basins = merge(read_basins(options.basins, x, y, options.dx, sheet), options.merge)
        fields["basins"] = basins, dict(long_name="drainage basins of PICO")
    if options.shelf_water:
        theta, salinity = shelf_water(options.shelf_water, basins, x, y, options.dx, sheet)
        fields["theta_ocean"] = theta, dict(units="degree_Celsius",
                                            long_name="potential temperature of the shelf water")
        fields["salinity_ocean"] = (salinity,
                                    dict(units="g/kg", long_name="salinity of the shelf water"))
    used = ", ".join(path.name
                     for path in (options.geometry, options.basins, options.shelf_water) if path)
    write(options.o, sheet, x, y, fields, f"inputs/antarctica.py from {used}")
    print(f"  {(thk > 0).sum()} cells with ice, {thk.sum() * options.dx**2 / 1e15:.2f} million "
          f"km3; wrote {options.o}")


if __name__ == "__main__":
    main()
