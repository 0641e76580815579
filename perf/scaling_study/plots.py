"""The figures of the report. They can be told apart without colour: markers and line styles for curves, hatches for bars; hollow
markers are points that are not compared (cores are shared). A bar over a point spans all repetitions.
"""
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

from . import fits, page, parts  # noqa: E402

# Okabe and Ito (2008): told apart with all common kinds of colour vision; yellow is for areas only
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "0.25")
LINES = [(c, m, dashes) for marks, dashes in (("os^Dv<P", "-"), ("*X>hp8d", "--"), ("os^Dv<P", "-.")) for c, m in zip(COLOURS, marks)]
BARS = {"init": [("0.45", ""), ("0.7", "")], "compute": [(BLUE, ""), (SKY, ""), (GREEN, "--"), ("#b9dcc9", "")],
        "output": [(VERMILION, "////"), (ORANGE, "\\\\\\\\"), (YELLOW, "...."), ("#f3d9c6", "xx")], "other": [("white", "")]}
ABREAST = 4  # panels of one figure
SHOWN = 0.01  # parts of less than this share of every run have no line and no bar of their own
STYLE = {"font.size": 10, "axes.grid": True, "grid.color": "0.9", "axes.axisbelow": True, "axes.spines.top": False,
         "axes.spines.right": False, "legend.frameon": False, "savefig.dpi": 160, "figure.constrained_layout.use": True,
         "hatch.linewidth": 0.6, "lines.linewidth": 1.6, "lines.markersize": 6}


class Figures:
    """Draws into `folder`; `footnote` says below each figure where it was measured."""

    def __init__(self, folder, points, runs, law, unit, footnote):
        self.folder, self.points, self.runs, self.law, self.unit, self.footnote = folder, points, runs, law, unit, footnote
        self.modes = [m for m in ("strong", "weak") if (points["mode"] == m).any()]
        self.series = list(dict.fromkeys(zip(points.machine, points.curve)))
        self.made = []
        plt.rcParams.update(STYLE)

    def draw(self):
        """[(name of the file, caption), ...]"""
        self.time()
        self.efficiency()
        self.of_each_mode(self.stack)
        self.share()
        self.of_each_mode(self.each_part)
        self.throughput()
        return self.made

    def of_each_mode(self, draw):
        """Some panels to a figure, the others in further ones."""
        for mode in self.modes:
            series = [s for s in self.series if len(self.select(mode, s, parts.TOTAL))]
            for first in range(0, len(series), ABREAST):
                draw(mode, series[first:first + ABREAST], f"_{first // ABREAST + 1}" if first else "")

    # -- what figures share

    def label(self, series):
        machine, curve = series
        several = len({m for m, _ in self.series}) > 1
        return ", ".join(t for t in (curve.replace("=", " "), machine if several or not curve else "") if t)

    def select(self, mode, series, part):
        p = self.points
        return p[(p["mode"] == mode) & (p.machine == series[0]) & (p.curve == series[1]) & (p.part == part)]

    def panels(self, columns, rows=1, width=4.6, height=3.6, **keywords):
        return plt.subplots(rows, columns, figsize=(max(width * columns, 5.6), height * rows + 0.7), squeeze=False, **keywords)

    def cores_axis(self, axes, rows):
        """Doubling is a step; points without enough cores carry a mark."""
        axes.set_xscale("log", base=2)
        marks = {row.cores: page.cores_text(row) for row in rows.itertuples()}
        axes.set_xticks(list(marks), list(marks.values()))
        axes.minorticks_off()
        axes.set_xlabel(self.cores_label(rows))

    def cores_label(self, rows):
        return (self.unit + ("   (* more ranks than cores)" if rows.oversubscribed.any() else "") +
                ("   († cores are shared)" if rows.shared_cores.any() else ""))

    def times_axis(self, axes):
        """Logarithmic, with numbers that one reads: 2, 5, 10."""
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())

    def line(self, axes, rows, style, label, value="median"):
        """A curve; with a spread if it is of times. The first ones are thicker, so that one sees them beneath others."""
        colour, marker, dashes = style
        above = 3 - min(LINES.index(style), 3) if label in map(self.label, self.series) else 0
        thin = {"lw": 1.6 + 0.5 * above, "ms": 6 + 1.2 * above}
        x, y = rows.cores.to_numpy(float), rows[value].to_numpy(float)
        axes.plot(x, y, color=colour, ls=dashes, marker=marker, label=label, **thin)
        hollow = ~rows.comparable.to_numpy()
        axes.plot(x[hollow], y[hollow], color=colour, ls="", marker=marker, mfc="white", ms=thin["ms"])
        if value == "median":
            axes.errorbar(x, y, [y - rows["min"], rows["max"] - y], color=colour, ls="", capsize=3, lw=1)
        return y

    def save(self, figure, name, caption, handles=None):
        if handles:
            figure.legend(*handles, loc="outside upper center", ncols=min(len(handles[0]), 3), fontsize=9)
        footnote = textwrap.fill(self.footnote, int(figure.get_figwidth() * 18))  # about 18 of these letters to an inch
        figure.supxlabel(footnote, fontsize=7, color="0.35", ha="left", x=0.01)
        figure.savefig(self.folder / name)
        plt.close(figure)
        self.made.append((name, caption))

    # -- the figures

    def time(self):
        figure, grid = self.panels(len(self.modes), sharey=True)
        for axes, mode in zip(grid[0], self.modes):
            for series, style in zip(self.series, LINES):
                rows = self.select(mode, series, parts.TOTAL)
                if rows.empty:
                    continue
                y = self.line(axes, rows, style, self.label(series))
                first = rows.iloc[0]
                ideal = y[0] * (rows.cells.fillna(1) / (first.cells if first.cells == first.cells else 1)) * first.cores / rows.cores
                axes.plot(rows.cores, ideal, color=style[0], ls=":", lw=1)
            axes.plot([], [], color="0.3", ls=":", lw=1, label="ideal, from the first point")
            self.cores_axis(axes, self.points[self.points["mode"] == mode])
            self.times_axis(axes)
            axes.set_title(f"{mode} scaling")
        grid[0][0].set_ylabel("time of the whole run (s)")
        self.save(figure, "time.png", "Time of the whole run. Median, and all repetitions within the bars; dotted what would be ideal: "
                  "time falls as cores grow (strong), or stays (weak).", grid[0][0].get_legend_handles_labels())

    def efficiency(self):
        sums = [s for s in (parts.TOTAL, "compute", "output") if (self.points.part == s).any()]
        figure, grid = self.panels(len(sums), len(self.modes), width=3.6, height=3.0, sharey=True)
        top = 1.1
        for row, mode in zip(grid, self.modes):
            for axes, part in zip(row, sums):
                for series, style in zip(self.series, LINES):
                    rows = self.select(mode, series, part)
                    if len(rows):
                        top = max(top, 1.05 * np.nanmax(self.line(axes, rows, style, self.label(series), "efficiency")))
                axes.axhline(1, color="0.3", ls=":", lw=1)
                self.cores_axis(axes, self.points[self.points["mode"] == mode])
                axes.set_title(f"{mode}: {'whole run' if part == parts.TOTAL else part}")
            row[0].set_ylabel("parallel efficiency")
        grid[0][0].set_ylim(0, min(top, 2.0))
        self.save(figure, "efficiency.png", "Efficiency: cells per second and core, against the point with the fewest cores. Hollow points "
                  "share cores and say nothing of a machine that has them.", grid[0][0].get_legend_handles_labels())

    def pieces(self):
        """What has a bar of its own, bottom to top: output first, so that its share reads from the axis against the budget."""
        p = self.points[self.points.kind.isin(list(BARS))]
        pieces = []
        for kind in ("output", "init", "compute", "other"):
            styles = BARS[kind]
            sizes = p[p.kind == kind].groupby("part").share.max().sort_values(ascending=False)
            own = list(sizes[sizes >= SHOWN].index[: len(styles) - (1 if len(sizes) > len(styles) else 0)])
            rest = [part for part in sizes.index if part not in own]
            pieces += [(part, [part], style) for part, style in zip(own, styles)]
            if rest:
                pieces.append((f"{kind}: the rest" if kind != "other" else "other", rest, styles[min(len(own), len(styles) - 1)]))
        return pieces

    def stack(self, mode, series, number):
        figure, grid = self.panels(len(series), 2, width=3.4, height=2.9, sharey="row")
        pieces = self.pieces()
        for column, one in enumerate(series):
            p = self.points
            rows = p[(p["mode"] == mode) & (p.machine == one[0]) & (p.curve == one[1])]
            total = self.select(mode, one, parts.TOTAL)
            x, ticks = np.arange(len(total)), [page.cores_text(row) for row in total.itertuples()]
            whole = rows[rows.kind.isin(list(BARS))].groupby("cores").share.sum().reindex(total.cores).to_numpy()  # of medians: nearly 1
            bottom = np.zeros(len(total))
            for name, members, (colour, hatch) in pieces:
                share = rows[rows.part.isin(members)].groupby("cores").share.sum().reindex(total.cores).fillna(0).to_numpy() / whole
                for axes, scale in ((grid[0][column], total["median"].to_numpy()), (grid[1][column], 100.0)):
                    axes.bar(x, share * scale, 0.72, bottom * scale, color=colour, hatch=hatch, edgecolor="0.15", lw=0.5, label=name)
                bottom += share
            for axes in grid[:, column]:
                axes.set_xticks(x, ticks)
                axes.set_xlim(-0.6, max(len(x), 3) - 0.4)
                axes.grid(axis="x", visible=False)
            budget = total.budget.max()
            if budget == budget:
                grid[1][column].axhline(budget, color="black", ls="--", lw=1.4, label=f"budget of output ({budget:g} %)")
            grid[0][column].set_title(self.label(one), fontsize=10)
            grid[1][column].set_xlabel(self.cores_label(total))
        grid[0][0].set_ylabel("time (s)")
        grid[1][0].set_ylabel("share of the run (%)")
        grid[1][0].set_ylim(0, 100)
        self.save(figure, f"stack_{mode}{number}.png", f"Compute and output in one bar, {mode} scaling: means over ranks; output is at the "
                  "bottom, in slanted, dotted and crossed hatches; \"other\" is waiting for the slowest rank and what no timer sees.",
                  grid[1][0].get_legend_handles_labels())

    def share(self):
        if self.points.budget.isna().all():
            return
        figure, grid = self.panels(len(self.modes), sharey=True)
        for axes, mode in zip(grid[0], self.modes):
            for series, style in zip(self.series, LINES):
                rows = self.select(mode, series, "output")
                if rows.empty:
                    continue
                whole = self.select(mode, series, parts.TOTAL)  # a share is of the whole run
                fair = rows.cores.map(dict(zip(whole.cores, whole.comparable)))
                rows = rows.assign(percent=100 * rows.share, comparable=fair.astype(bool))
                self.line(axes, rows, style, self.label(series), "percent")
                passes = fits.passes(rows)
                if passes and passes["between"]:
                    axes.plot(passes["between"], rows.budget.max(), marker="x", ms=11, mew=2.2, color=style[0], ls="", zorder=5)
            axes.axhline(self.points.budget.max(), color="black", ls="--", lw=1.2, label="budget")
            self.cores_axis(axes, self.points[self.points["mode"] == mode])
            axes.set_title(f"{mode} scaling")
        grid[0][0].set_ylim(bottom=0)
        grid[0][0].set_ylabel("output, share of the run (%)")
        self.save(figure, "share.png", "The share of output in the run, and the budget (-io_budget); a cross is where it is passed, "
                  "between the points on a logarithmic axis.", grid[0][0].get_legend_handles_labels())

    def each_part(self, mode, series, number):
        p = self.points[~self.points.kind.isin(["sum", "within", "other"])]
        sizes = p.groupby("part").share.max().sort_values(ascending=False)
        shown = list(sizes[sizes >= SHOWN].index[: len(LINES)])
        figure, grid = self.panels(len(series), width=3.9, height=4.0, sharey=True)
        for axes, one in zip(grid[0], series):
            for part, style in zip(shown, LINES):
                rows = self.select(mode, one, part)
                if rows.share.max() > SHOWN / 10:  # a phase that this method of output hardly has
                    self.line(axes, rows, style, part)
            self.times_axis(axes)
            self.cores_axis(axes, p[p["mode"] == mode])
            axes.set_title(self.label(one), fontsize=10)
        grid[0][0].set_ylabel("time of the slowest rank (s)")
        handles = {label: h for axes in grid[0] for h, label in zip(*axes.get_legend_handles_labels())}
        self.save(figure, f"parts_{mode}{number}.png", f"Each part of the run, {mode} scaling: time of the slowest rank.",
                  (list(handles.values()), list(handles)))

    def throughput(self):
        """Cells per second and the law through them, for the run as a whole, or its output where only that is compared."""
        lawful = [f for f in self.law if "sigma" in f]
        part = next((p for p in (parts.TOTAL, "output") if any(f["part"] == p for f in lawful)), None)
        if part is None:
            return
        figure, grid = self.panels(len(self.modes))
        for axes, mode in zip(grid[0], self.modes):
            for series, (colour, marker, dashes) in zip(self.series, LINES):
                fit = next((f for f in lawful if (f["machine"], f["curve"], f["mode"], f["part"]) == (*series, mode, part)), None)
                r = self.runs
                rows = r[(r["mode"] == mode) & (r.machine == series[0]) & (r.curve == series[1]) & (r.part == part) & r.comparable]
                if fit is None or rows.empty:
                    continue
                axes.plot(rows.cores, rows.cells.fillna(1) / rows.slowest, color=colour, marker=marker, ls="", ms=5, alpha=0.6)
                n = np.geomspace(rows.cores.min(), 2 * rows.cores.max(), 100)
                measured = n <= rows.cores.max()
                axes.plot(n[measured], fits.usl_rate(n[measured], fit), color=colour, ls=dashes, marker=marker, markevery=[-1], ms=5,
                          label=f"{self.label(series)}: σ = {fit['sigma']:.2g}, κ = {fit['kappa']:.2g}")
                axes.plot(n[~measured], fits.usl_rate(n[~measured], fit), color=colour, ls=":", lw=1)
            self.cores_axis(axes, self.points[self.points["mode"] == mode])
            self.times_axis(axes)
            axes.set_title(f"{mode} scaling: {'whole run' if part == parts.TOTAL else part}")
            axes.margins(y=0.15)
            axes.legend(fontsize=8)
        grid[0][0].set_ylabel("cells per second")
        self.save(figure, "usl.png", "Throughput of every run and the Universal Scalability Law fitted to it; dotted beyond what was "
                  "measured.")
