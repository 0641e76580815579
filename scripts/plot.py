#!/usr/bin/env python3
"""Plot a result of nunatak: surface speed, thickness, shelf boxes and melt of one record, and where
the time of the run went.

    scripts/plot.py result.nc [-r report.json] [-o result.png] [-t RECORD]

Maps are colour-blind safe (viridis, cividis, PuOr); black lines are grounding lines, grey lines ice
fronts.
"""
import argparse
import json
import sys

from course.project_python import require

require("xarray", "scripts/setup.sh makes a Python that has it")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.colors as colors  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import xarray as xr  # noqa: E402

GROUNDED, FLOATING = 2, 3


def field(data, name, record):
    """The 2-D field of a record, or None if the file does not have it."""
    if name not in data:
        return None
    values = data[name]
    return values.isel(time=record) if "time" in values.dims else values


def outlines(axes, x, y, mask):
    """Grounding line (black) and ice front (grey), drawn between cells."""
    icy = (mask == GROUNDED) | (mask == FLOATING)
    if icy.any() and not icy.all():
        axes.contour(x, y, icy, levels=[0.5], colors="0.45", linewidths=0.4)
    land = mask <= GROUNDED
    if (mask == FLOATING).any():
        axes.contour(x, y, np.where(icy, land, np.nan), levels=[0.5], colors="k", linewidths=0.6)


def window_of(x, y, icy):
    """The ranges of x and y that have ice, with a margin; without ice the whole grid."""
    margin = 0.03 * max(np.ptp(x), np.ptp(y))
    used = [c[icy.any(axis=n)] if icy.any() else c for n, c in enumerate((x, y))]
    return [(max(c.min(), u.min() - margin), min(c.max(), u.max() + margin))
            for c, u in zip((x, y), used)]


def panel(axes, x, y, values, mask, title, label, **style):
    extend = style.pop("extend", "neither")
    ticks = style.pop("ticks", None)
    image = axes.pcolormesh(x, y, values, shading="nearest", rasterized=True, **style)
    outlines(axes, x, y, mask)
    axes.set_aspect("equal")
    axes.set_title(title, fontsize=11)
    axes.set_xlabel("x (km)")
    axes.set_ylabel("y (km)")
    bar = axes.figure.colorbar(image, ax=axes, pad=0.01, shrink=0.95, extend=extend, ticks=ticks)
    bar.set_label(label)
    return bar


# of parts; all others are the computation
COLOURS = {"init": "0.6", "output": "#e69f00", "other": "0.85"}
COMPUTE = "#0072b2"


def parts_of(path):
    """(name, seconds as the mean of the ranks) of the parts of a run, the longest first; "other" is
    the rest, and parts below 0.1 %."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        parts = {name: t["mean"] for name, t in report["timers"].items() if t.get("depth", 0) == 0}
        parts = {name: seconds
                 for name, seconds in parts.items() if seconds > 1e-3 * report["wall_seconds"]}
        parts["other"] = max(0.0, report["wall_seconds"] - sum(parts.values()))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        sys.exit(f"plot.py: {path}: expected the JSON report of a run ({type(error).__name__})")
    return sorted(parts.items(), key=lambda part: -part[1])


def draw_parts(axes, parts):
    names, seconds = zip(*parts)
    total = sum(seconds)
    bars = axes.barh(range(len(parts)), seconds,
                     color=[COLOURS.get(name.split(":")[0], COMPUTE) for name in names])
    axes.bar_label(bars, [f" {s:.2f} s, {100 * s / total:.1f} %" for s in seconds], fontsize=9)
    axes.set_yticks(range(len(parts)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.45 * max(seconds))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("seconds, mean over ranks\nblue: computation, orange: output")
    axes.set_title(f"Where the time went: {total:.1f} s", fontsize=11)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="result, snapshot or spatial file of nunatak")
    parser.add_argument("-o", "--output", default=None,
                        help="picture to write (default: the file's name with .png)")
    parser.add_argument("-r", "--report", default=None,
                        help="JSON report of the run: its times are drawn next to the maps")
    parser.add_argument("-t", "--record", type=int, default=-1,
                        help="record along time (default: the last)")
    args = parser.parse_args()
    output = args.output or args.file.rsplit(".", 1)[0] + ".png"

    try:
        data = xr.open_dataset(args.file, decode_times=False)
    except (OSError, ValueError) as error:
        sys.exit(f"plot.py: cannot open {args.file}: {error}")
    with data:
        for name in ("mask", "x", "y"):
            if name not in data:
                sys.exit(f"plot.py: {args.file} has no variable '{name}'")
        records = data.sizes.get("time", 1)
        if not -records <= args.record < records:
            sys.exit(f"plot.py: --record: expected one of the {records} records of {args.file} (0 "
                     f"is the first, -1 the last), found {args.record}")
        mask = field(data, "mask", args.record)
        mask = mask.values
        x, y = data["x"].values / 1e3, data["y"].values / 1e3
        icy = (mask == GROUNDED) | (mask == FLOATING)
        years = float(data["time"][args.record]) / 365.0 if "time" in data else 0.0

        panels = []
        speed = field(data, "velsurf_mag", args.record)
        if speed is not None:
            values = np.where(icy, np.maximum(speed.values, 1e-2), np.nan)
            panels.append(("Surface speed", "m year$^{-1}$", values,
                           dict(norm=colors.LogNorm(1, 3000), cmap="viridis", extend="both")))
        thickness = field(data, "thk", args.record)
        if thickness is not None:
            values = np.where(icy, thickness.values, np.nan)
            panels.append(("Ice thickness", "m", values, dict(cmap="cividis", vmin=0)))
        boxes = field(data, "pico_box_mask", args.record)
        if boxes is not None:
            values = np.where(boxes.values > 0, boxes.values, np.nan)
            n = int(max(5, boxes.values.max()))
            panels.append(("PICO boxes (1: at the grounding line)", "box", values, dict(
                cmap=plt.get_cmap("viridis", n), vmin=0.5, vmax=n + 0.5, ticks=range(1, n + 1))))
        melt = field(data, "pico_basal_melt_rate", args.record)
        if melt is not None:
            values = np.where(mask == FLOATING, melt.values, np.nan)
            panels.append(("Basal melt (negative: freezing)", "m year$^{-1}$", values,
                           dict(norm=colors.SymLogNorm(0.1, vmin=-30, vmax=30), cmap="PuOr_r",
                                extend="both", ticks=[-30, -10, -1, -0.1, 0, 0.1, 1, 10, 30])))
        if not panels:
            sys.exit(f"plot.py: {args.file} has none of velsurf_mag, thk, pico_box_mask, "
                     "pico_basal_melt_rate")

        columns = min(2, len(panels))
        rows = (len(panels) + 1) // 2
        times = 1 if args.report else 0  # one more column, for the times
        window = window_of(x, y, icy)
        (west, east), (south, north) = window
        # of a map of that shape, without an empty margin
        height = 4.5 * min(2.0, (north - south) / (east - west)) + 0.8
        figure = plt.figure(figsize=(6.4 * (columns + 0.9 * times), height * rows + 0.4),
                            layout="constrained")
        grid = figure.add_gridspec(rows, columns + times,
                                   width_ratios=[1] * columns + [0.8] * times)
        if times:
            draw_parts(figure.add_subplot(grid[:, columns]), parts_of(args.report))
        axes = [figure.add_subplot(grid[n // columns, n % columns]) for n in range(len(panels))]
        for a, (title, label, values, style) in zip(axes, panels):
            a.set_xlim(window[0])
            a.set_ylim(window[1])
            ticks = style.get("ticks")
            bar = panel(a, x, y, values, mask, title, label, **style)
            if isinstance(ticks, list):
                bar.ax.set_yticklabels([f"{t:g}" for t in ticks])
        spacing = abs(x[1] - x[0])
        figure.suptitle(f"{data.attrs.get('title', args.file)}: {len(x)} x {len(y)} points, "
                        f"{spacing:g} km, year {years:g}")
        try:
            figure.savefig(output, dpi=110)
        except OSError as error:
            sys.exit(f"plot.py: cannot write {output}: {error.strerror}")
    print(output)


if __name__ == "__main__":
    main()
