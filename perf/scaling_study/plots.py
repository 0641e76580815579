"""The figures of the report. They can be read without colour: markers and line styles for curves,
hatches for bars; hollow markers are points that are not compared (cores are shared). A bar over a
point spans all repetitions.
"""
import itertools
import os
import re
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from . import law, page, parts  # noqa: E402

# Okabe and Ito (2008): distinct for all common kinds of colour vision
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = ("#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9")
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "0.25")
FORMATS = {"async": SKY, "direct": BLUE, "pnetcdf": GREEN, "netcdf4": VERMILION, "serial": PURPLE,
           "hybrid": ORANGE, "null": "0.25"}
LINES = [(c, m, dashes) for marks, dashes in (("os^Dv<P", "-"), ("*X>hp8d", "--"),
                                              ("os^Dv<P", "-.")) for c, m in zip(COLOURS, marks)]
# from below
BARS = {"output": (VERMILION, "////"), "init": ("0.6", ""), "compute": (BLUE, ""),
        "other": ("white", "")}
LARGEST = 6  # parts that have lines of their own
ABREAST = 5  # panels of one figure
STYLE = {"font.size": 10, "axes.grid": True, "grid.color": "0.9", "axes.axisbelow": True,
         "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
         "savefig.dpi": 160, "figure.constrained_layout.use": True,
         "hatch.linewidth": 0.6, "lines.linewidth": 1.6, "lines.markersize": 6}

ROW = "NUNATAK_ROW"  # variable: the row of docs/results.md whose command runs


def write(figure, path, footnote=""):
    """Below the picture its footnote, and the row that it comes from."""
    row = os.environ.get(ROW)
    footnote = "; ".join(filter(None, [footnote, row and f"row {row} of docs/results.md"]))
    # about 18 of these letters to an inch
    figure.supxlabel(textwrap.fill(footnote, int(figure.get_figwidth() * 18)), fontsize=7,
                     color="0.35", ha="left", x=0.01)
    figure.savefig(path)
    plt.close(figure)


def styles(curves):
    """A line for each curve. Curves that name a format have its colour, and the first of them the
    same marker in all pictures."""
    names = [next((name for name in FORMATS if name in re.split(r"[^a-z0-9]+", curve)), None)
             for curve in curves]
    found, left = {}, []
    for n in sorted(range(len(names)), key=lambda n: names[n] is None):
        left = left or list(LINES)
        colour = FORMATS.get(names[n])
        line = next((one for one in left if one[0] == colour), left[0])
        left.remove(line)
        found[n] = (colour or line[0], *line[1:])
    return [found[n] for n in range(len(names))]


class Figures:
    """Draws into `folder`; `footnote` says below each figure where it was measured."""

    def __init__(self, folder, points, unit, footnote):
        self.folder, self.points, self.unit, self.footnote = folder, points, unit, footnote
        self.modes = [m for m in ("strong", "weak") if (points["mode"] == m).any()]
        self.series = list(dict.fromkeys(zip(points.machine, points.curve)))
        self.styles = dict(zip(self.series, styles(curve for _, curve in self.series)))
        # one disturbed run does not change the others
        shared = points[(points.part == parts.COMPUTE) & ~points.comparable & ~points.disturbed]
        # the machines of these points
        self.in_processor_time = set(shared.machine) if points.processor.notna().any() else set()
        self.rungs = []  # steps of a ladder
        self.virtual, self.laws = {}, []  # points on virtual ranks, by mode
        self.alike = False  # do all curves compute alike?
        self.made = []
        plt.rcParams.update(STYLE)

    def draw(self):
        """[(name of the file, caption), ...]; rungs, which each have a point or two, have a figure
        of their own in place of these."""
        if self.rungs:
            return self.made
        if self.points.cores.nunique() > 1 or self.virtual:
            self.scaling()
        else:
            self.bars()
        self.of_each_mode(self.stack, lambda total: not total.shared_cores.all())  # wall times
        self.of_each_mode(self.each_part)
        self.lengths()
        return self.made

    def of_each_mode(self, draw, wanted=lambda total: True):
        """Some panels to a figure, the others in further ones. `wanted`: says of the points of a
        curve whether it is drawn."""
        for mode in self.modes:
            series = [s for s in self.series if len(total := self.select(mode, s, parts.TOTAL)) and
                      wanted(total)]
            for first in range(0, len(series), ABREAST):
                draw(mode, series[first:first + ABREAST],
                     f"_{first // ABREAST + 1}" if first else "")

    # -- what figures have in common

    def label(self, series):
        machine, curve = series
        several = len({m for m, _ in self.series}) > 1
        return ", ".join(
            t for t in (curve.replace("=", " "), machine if several or not curve else "") if t)

    def select(self, mode, series, part):
        p = self.points
        return p[(p["mode"] == mode) & (p.machine == series[0]) & (p.curve == series[1]) &
                 (p.part == part) & (p["median"] > 0)]

    def panels(self, columns, rows=1, width=4.6, height=3.6, **keywords):
        return plt.subplots(rows, columns, figsize=(max(width * columns, 5.6), height * rows + 0.7),
                            squeeze=False, **keywords)

    def cores_axis(self, axes, rows, more=()):
        """Doubling is a step; a number whose points all are without cores of their own carries a
        mark. `more`: numbers of virtual ranks."""
        axes.set_xscale("log", base=2)
        marks = {cores: f"{cores}" for cores in [*more, *rows.cores]}
        for cores, at in rows.groupby("cores"):
            found = {page.cores_text(row) for row in at.itertuples()}
            marks[cores] = found.pop() if len(found) == 1 else marks[cores]
        margin = max((max(marks) / min(marks)) ** 0.05, 2 ** 0.25)
        axes.set_xlim(min(marks) / margin, max(marks) * margin)
        axes.set_xticks(list(marks), list(marks.values()))
        axes.minorticks_off()
        axes.set_xlabel(self.cores_label(rows, marks))

    def cores_label(self, rows, marks=None):
        """What the marks of numbers mean; points that are not compared are hollow, which is said
        where their number has no mark."""
        words = []
        for mark, text, found in (("*", "more ranks than cores", rows.oversubscribed),
                                  ("†", "cores are shared", rows.shared_cores),
                                  ("‡", "disturbed", rows.disturbed)):
            has_mark = [marks is None or mark in marks[cores] for cores in rows.cores[found]]
            # in processor time points on shared cores are compared
            is_hollow = not all(has_mark) and not (mark == "†" and self.in_processor_time)
            words += [f"{mark} {text}"] if any(has_mark) else []
            words += [f"hollow: {text}"] if is_hollow else []
        return self.unit + "".join(f"   ({text})" for text in words)

    def times_axis(self, axes):
        """Logarithmic, with numbers that one reads: 2, 5, 10."""
        self.numbers_axis(axes, "y")

    def numbers_axis(self, axes, which):
        axes.set(**{f"{which}scale": "log"})
        axis = getattr(axes, f"{which}axis")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.set_minor_formatter(NullFormatter())

    def fair(self, rows):
        """Computing of a figure whose points do not all have cores of their own, in processor time,
        which does not depend on who else runs; none of it that is not known. The rest as it is."""
        of_compute = rows.kind.eq(parts.COMPUTE) | rows.part.eq(parts.COMPUTE)
        if not (set(rows.machine) & self.in_processor_time and of_compute.all()):
            return rows
        rows = rows.assign(
            **{"median": rows.processor, "min": rows.processor_min, "max": rows.processor_max,
               "comparable": ~rows.oversubscribed & ~rows.disturbed})
        return rows[rows["median"].notna()]

    def line(self, axes, rows, style, label):
        """Medians of a curve with their ranges."""
        colour, marker, dashes = style
        x, y = rows.cores.to_numpy(float), rows["median"].to_numpy(float)
        axes.plot(x, y, color=colour, ls=dashes, marker=marker, label=label)
        hollow = ~rows.comparable.to_numpy()
        axes.plot(x[hollow], y[hollow], color=colour, ls="", marker=marker, mfc="white")
        axes.errorbar(x, y, [y - rows["min"], rows["max"] - y], color=colour, ls="", capsize=3,
                      lw=1)

    def title(self, axes, series):
        """In lines that fit above a panel, which end after commas and slashes."""
        # about 11 of these letters to an inch
        wide = int(11 * axes.figure.get_figwidth() / axes.get_gridspec().ncols)
        text = textwrap.fill(self.label(series).replace("/", "/ "), wide).replace("/ ", "/")
        axes.set_title(text, fontsize=10)

    def save(self, figure, name, caption, handles=None):
        if handles:
            # inches of a column: a line, and the longest name
            wide = 0.6 + 0.075 * max(map(len, handles[1]))
            figure.legend(*handles, loc="outside upper center",
                          ncols=max(1, int(figure.get_figwidth() / wide)), fontsize=9)
        write(figure, self.folder / name, self.footnote)
        self.made.append((name, caption))

    # -- the figures

    def scaling(self):
        """Compute on the left, output on the right; strong scaling above, weak below. Where all
        curves compute alike, computing is drawn once for each machine, and virtual ranks continue
        it."""
        def drawn(mode, series, part):
            rows = self.select(mode, series, part)
            rows = self.fair(rows) if part == parts.COMPUTE else rows
            enough = len(rows) and rows.fraction.max() >= parts.SMALL
            return rows if enough and (part == parts.COMPUTE or parts.writes(series[1])) else ()

        def of_part(mode, part):
            found = [(series, drawn(mode, series, part)) for series in self.series]
            found = [(series, rows) for series, rows in found if len(rows)]
            nodes = {series[0]: rows.nodes.max() for series, rows in found}
            # of nodes that write together
            if part == "output" and self.alike and max(nodes.values(), default=1) > 1:
                found = [(series, rows) for series, rows in found if nodes[series[0]] > 1]
            if part == parts.COMPUTE and self.alike:
                machines = {series[0]: max((one for one in found if one[0][0] == series[0]),
                                           key=lambda one: (len(one[1]), one[1].comparable.sum()))
                            for series, _ in found}
                found = list(machines.values())
            return found

        sums = [s for s in (parts.COMPUTE, "output") if any(of_part(m, s) for m in self.modes)]
        if not sums:
            return
        figure, grid = self.panels(len(sums), len(self.modes), height=3.0)
        for row, mode in zip(grid, self.modes):
            for axes, part in zip(row, sums):
                lines = of_part(mode, part)
                for series, rows in lines:
                    name = self.label(series)
                    if part != "output" and self.alike:
                        name = ", ".join(filter(None, [
                            "computing", series[0] if self.points.machine.nunique() > 1 else "",
                            "processor time" if series[0] in self.in_processor_time
                            else "measured"]))
                    style = (self.styles[series] if part == "output" or not self.alike
                             else (("0.15", "s", "-") if series[0] in self.in_processor_time
                                   else (BLUE, "o", "-")))
                    self.line(axes, rows, style, name)
                    has_laws = part == "output" or series[0] not in self.in_processor_time
                    for one in self.laws if has_laws else ():
                        if (one["mode"], one["machine"], one["curve"],
                            one["part"]) == (mode, *series, part):
                            cores = np.geomspace(one["cores"][0], one["cores"][-1], 50)
                            axes.plot(cores, law.seconds(one, cores), color="black", ls=(0, (4, 2)),
                                      lw=0.7, zorder=3, label="law of strong scaling")
                of_model = (self.virtual.get(mode, ()) if part == parts.COMPUTE and
                            self.alike else ())
                if of_model:
                    ranks, counted, measured = zip(*of_model)
                    axes.plot(ranks, counted, color=ORANGE, ls="--", marker="D", mfc="white",
                              label="computing, modelled: virtual ranks")
                    axes.fill_between(ranks, counted, measured, color=ORANGE, alpha=0.25, lw=0,
                                      label="to work measured in one process")
                if lines:
                    least = min((rows for _, rows in lines),
                                key=lambda rows: (rows.cores.iloc[0], rows["median"].iloc[0]))
                    self.ideal(axes, least, [n for n, *_ in of_model])
                    self.cores_axis(axes, self.points[self.points["mode"] == mode],
                                    [n for n, *_ in of_model])
                self.times_axis(axes)
                axes.set_title(f"{'computing' if part == parts.COMPUTE else part}, {mode} scaling",
                               fontsize=10)
            row[0].set_ylabel("time (s)")
        for axes in grid[:-1].flat:
            axes.set_xlabel("")
        handles = {label: h for axes in grid.T.flat
                   for h, label in zip(*axes.get_legend_handles_labels())}
        caption = "Computing and output: means over ranks"
        if self.in_processor_time:
            caption += ("; computing in processor time outside MPI of the rank that has most, "
                        "where ranks share cores")
        if self.virtual:
            caption += ("; modelled: the same steps on virtual ranks, network by LogGP (1.5 us, 10 "
                        "GB/s), work counted, with the measured cost of each loop, up to work "
                        "measured in one process, whose caches all patches share")
        self.save(figure, "scaling.png", caption + ". Median, and all repetitions within the bars; "
                  "dotted what would be ideal from the first point: time falls as cores grow "
                  "(strong), or stays (weak).", (list(handles.values()), list(handles)))

    def bars(self):
        """Where all runs have as many cores: a bar of output for each curve, or of the run where
        nothing is written."""
        rows = self.points[(self.points.part == "output") & self.points.curve.map(parts.writes) &
                           (self.points.fraction >= parts.SMALL)]
        part = "output" if len(rows) else "the run"
        rows = (rows if len(rows) else self.points[self.points.part == parts.TOTAL]).iloc[::-1]
        names = [self.label(series) for series in zip(rows.machine, rows.curve)]
        figure, axes = plt.subplots(figsize=(7.6, 0.3 * len(rows) + 1.2))
        axes.barh(range(len(rows)), rows["median"], 0.7,
                  color=[self.styles[series][0] for series in zip(rows.machine, rows.curve)],
                  xerr=[rows["median"] - rows["min"], rows["max"] - rows["median"]], ecolor="0.2",
                  capsize=2)
        for place, row in enumerate(rows.itertuples()):
            axes.text(row.max, place, f"  {page.number(row.median)}", va="center", fontsize=8)
        axes.set_yticks(range(len(rows)), names, fontsize=8)
        axes.margins(x=0.12)
        axes.set_xlim(left=0)
        axes.set_xlabel(f"{part} (s), {page.cores_text(rows.iloc[0])} {self.cores_label(rows)}")
        axes.grid(axis="y", visible=False)
        self.save(figure, "scaling.png", f"{part[0].upper()}{part[1:]} of each curve: means over "
                  "ranks. Median, and all repetitions within the lines.")

    def ideal(self, axes, rows, more):
        """From the first point of a curve, as far as cores go."""
        if rows.cores.nunique() == 1 and not more:
            return
        first, last = rows.iloc[0], rows.iloc[-1]
        work = (last.cells / first.cells * first.cores / last.cores if first.cells == first.cells
                else first.cores / last.cores)
        weak = rows["mode"].iloc[0] == "weak"
        cores = np.array([first.cores, max([rows.cores.max(), *more])], float)
        axes.plot(cores, first["median"] * (np.array([1.0, work]) if weak else first.cores / cores),
                  color="0.3", ls=":", lw=1, label="ideal, from the first point")

    def lengths(self):
        """Of a study that varies the length of the run: what a rank that computes sees of
        snapshots, and the run."""
        length = re.compile(r"(?:^|, )run_years=([0-9.]+)")
        p = self.points[self.points.part.isin([parts.SNAPSHOTS, parts.TOTAL])]
        p = p[p.curve.map(lambda curve: bool(length.search(curve)))]
        p = p.assign(years=p.curve.map(lambda curve: float(length.search(curve)[1])),
                     rest=p.curve.map(lambda curve: length.sub("", curve)))
        if p.years.nunique() < 3 or not (p.part == parts.SNAPSHOTS).any():
            return
        figure, grid = self.panels(2)
        look = dict(zip(p.rest.unique(), styles(p.rest.unique())))
        dashes = dict(zip(sorted(p.cores.unique()), itertools.cycle(("-", "--", "-.", ":"))))
        for axes, part in zip(grid[0], (parts.SNAPSHOTS, parts.TOTAL)):
            for (rest, machine, cores), rows in p.groupby(["rest", "machine", "cores"], sort=True):
                rows = rows[rows.part == part].sort_values("years")
                colour, marker, _ = look[rest]
                bars = [rows["median"] - rows["min"], rows["max"] - rows["median"]]
                axes.errorbar(rows.years, rows["median"], bars, color=colour, ls=dashes[cores],
                              marker=marker, capsize=3,
                              label=f"{self.label((machine, rest))} on {cores}")
            self.times_axis(axes)
            axes.set_xlabel("length of the run (years)")
            axes.set_title("snapshots" if part == parts.SNAPSHOTS else "the run")
        grid[0][0].set_ylabel("time of the slowest rank (s)")
        self.save(figure, "lengths.png", "Runs of growing length: what a rank that computes sees "
                  "of its snapshots, and the whole run until all files are durable. Median, and "
                  "all repetitions within the bars.", grid[0][0].get_legend_handles_labels())

    def stack(self, mode, series, number):
        figure, grid = self.panels(len(series), 2, width=3.4, height=2.9, sharey="row")
        for column, one in enumerate(series):
            p = self.points
            rows = p[(p["mode"] == mode) & (p.machine == one[0]) & (p.curve == one[1])]
            total = self.select(mode, one, parts.TOTAL)
            x, ticks = np.arange(len(total)), [page.cores_text(row) for row in total.itertuples()]
            # of medians: nearly 1
            whole = rows[rows.kind.isin(list(BARS))].groupby("cores").fraction.sum().reindex(
                total.cores).to_numpy()
            bottom = np.zeros(len(total))
            for name, (colour, hatch) in BARS.items():
                fraction = rows[rows.kind == name].groupby("cores").fraction.sum().reindex(
                    total.cores).fillna(0).to_numpy() / whole
                for axes, scale in ((grid[0][column], total["median"].to_numpy()),
                                    (grid[1][column], 100.0)):
                    axes.bar(x, fraction * scale, 0.72, bottom * scale, color=colour, hatch=hatch,
                             edgecolor="0.15", lw=0.5, label=name)
                bottom += fraction
            for axes in grid[:, column]:
                axes.set_xticks(x, ticks)
                axes.set_xlim(-0.6, max(len(x), 3) - 0.4)
                axes.grid(axis="x", visible=False)
            budget = total.budget.max()
            if budget == budget:
                grid[1][column].axhline(budget, color="black", ls="--", lw=1.4,
                                        label=f"budget of output ({budget:g} %)")
            self.title(grid[0][column], one)
            grid[1][column].set_xlabel(self.cores_label(total))
        grid[0][0].set_ylabel("time (s)")
        grid[1][0].set_ylabel("fraction of the run (%)")
        grid[1][0].set_ylim(0, 100)
        self.save(figure, f"stack_{mode}{number}.png", f"Compute and output in one bar, {mode} "
                  "scaling: means over ranks; \"other\" is waiting for the slowest rank and what "
                  "no timer sees.", grid[1][0].get_legend_handles_labels())

    def each_part(self, mode, series, number):
        """Lines of the largest parts, and one of all others."""
        p = self.points[~self.points.kind.isin(["sum", "within"]) & (self.points["mode"] == mode)]
        sizes = p[p.kind != "other"].groupby("part").fraction.max().sort_values(ascending=False)
        shown = list(sizes[sizes >= parts.SMALL].index[:LARGEST])
        figure, grid = self.panels(len(series), width=3.9, height=4.0, sharey=True)
        for axes, one in zip(grid[0], series):
            for part, style in zip(shown, LINES):
                rows = self.fair(self.select(mode, one, part))
                if rows.fraction.max() >= parts.SMALL:
                    self.line(axes, rows, style, part)
            if one[0] not in self.in_processor_time:
                rest = p[(p.machine == one[0]) & (p.curve == one[1]) & ~p.part.isin(shown)].groupby(
                    "cores")["mean"].sum()
                axes.plot(rest.index, rest, color="0.5", ls=":", marker=".", label="rest")
            self.times_axis(axes)
            self.cores_axis(axes, p)
            self.title(axes, one)
        grid[0][0].set_ylabel("time of the slowest rank (s)" +
                              ("; of computing: processor time" if self.in_processor_time else ""))
        handles = {label: h for axes in grid[0]
                   for h, label in zip(*axes.get_legend_handles_labels())}
        self.save(figure, f"parts_{mode}{number}.png",
                  f"The largest parts of the run, {mode} scaling: time of the slowest rank" + (
                      " (of computing: processor time outside MPI)" if self.in_processor_time
                      else "") + ". Rest: all other parts, mean over ranks, where cores are "
                  "not shared.", (list(handles.values()), list(handles)))
