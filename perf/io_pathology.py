#!/usr/bin/env python3
"""What it costs to define variables late: nunatak-io with -io_define interleaved ("V1": each variable just before its values)
against upfront ("V2": all first), on pnetcdf and serial, for growing records and growing numbers of variables.

    perf/io_pathology.py --ranks 2 --json pathology.json --plot pathology.png

A classic file has its header in front. Each new variable makes the header longer; where no room was kept (header=0) the library
first moves all values that are there. Moved bytes are counted (offsets of the variables before and after), times are ratios of
pairs of turns of one run.

    | header | a | b |            | header... | a | b | c |       moved to make room for c: a and b

With 64 KiB kept free in the header nothing moves on serial. PnetCDF still reads and writes all records whenever a record variable is
added, because the records become longer: what helps there is upfront.
"""
import argparse

import io_runs
from io_runs import BLUE, GREEN, ORANGE, VERMILION

FORMATS = ("pnetcdf", "serial")
KINDS = {"upfront": "", "interleaved": "/define=interleaved/header=0", "interleaved, 64 KiB kept free": "/define=interleaved/header=64KiB"}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    io_runs.add_arguments(parser, "pism:G5km", 0.1, 3, 2)
    parser.add_argument("--scales", default="0.05,0.1,0.2", help="records of growing size (default %(default)s)")
    parser.add_argument("--variables", default="2,4,8,16", help="of cam:FV-B at half size, more and more (default %(default)s)")
    return parser.parse_args()


def measure(arguments, *options, **keywords):
    told = io_runs.run(arguments, [f + kind for f in FORMATS for kind in KINDS.values()], "-verify", "first", *options, **keywords)
    rows = []
    for f, ways in zip(FORMATS, (told["ways"][:3], told["ways"][3:])):
        for kind, way in zip(KINDS, ways):
            rows.append({"format": f, "definitions": kind, "variables": told["workload"]["variables"],
                         "record, bytes": told["workload"]["bytes_per_record"], "moved, bytes": way["moved_bytes"],
                         "moved/payload": way["moved_bytes"] / way["payload_bytes"], "seconds": way["seconds"]["median"],
                         "time/upfront": io_runs.ratio(way, ways[0])})
    return told, rows


def plot(path, told, by_size, by_number):
    plt = io_runs.pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(8, 6), sharex="col", constrained_layout=True)
    lines = {("pnetcdf", "interleaved"): (VERMILION, "o-"), ("serial", "interleaved"): (ORANGE, "s-"),
             ("pnetcdf", "interleaved, 64 KiB kept free"): (BLUE, "o--"), ("serial", "interleaved, 64 KiB kept free"): (GREEN, "s--")}
    for column, (rows, key, scale, label) in enumerate(((by_size, "record, bytes", 1e-6, "size of a record (MB)"),
                                                        (by_number, "variables", 1, "variables in the file"))):
        for row, (value, text) in enumerate((("moved/payload", "bytes moved / payload"), ("time/upfront", "time / time of upfront"))):
            axis = axes[row][column]
            for n, ((f, kind), (colour, style)) in enumerate(lines.items()):
                of = [r for r in rows if r["format"] == f and r["definitions"] == kind]
                shift = 1 + 0.015 * (n - 1.5)  # equal values stay visible beside each other
                axis.plot([r[key] * scale * shift for r in of], [r[value] for r in of], style, color=colour, label=f"{f}, {kind}",
                          markersize=6, linewidth=1.2)
            axis.set_ylim(bottom=0)
            if row == 1:
                axis.set_xlabel(label)
                axis.axhline(1, color="0.5", linewidth=0.8)
            if column == 0:
                axis.set_ylabel(text)
    axes[0][0].legend(fontsize=7)
    figure.suptitle("Variables defined after values were written")
    figure.get_layout_engine().set(rect=(0, 0.03, 1, 0.97))
    io_runs.footnote(figure, told)
    figure.savefig(path, dpi=150)


def main():
    arguments = read_arguments()
    by_size, by_number, told = [], [], None
    for scale in arguments.scales.split(","):
        told, rows = measure(arguments, scale=scale)
        by_size += rows
    for number in arguments.variables.split(","):  # maps and arrays with levels in the same proportion
        told, rows = measure(arguments, "-variables", number, workload="cam:FV-B", scale=0.5)
        by_number += rows
    print(f"{arguments.workload}, growing records")
    io_runs.table(by_size)
    print("\ncam:FV-B at half size, growing numbers of variables")
    io_runs.table(by_number)
    io_runs.save(arguments, {"host": told["host"], "file_system": told["file_system"], "by_size": by_size, "by_number": by_number})
    if arguments.plot:
        plot(arguments.plot, told, by_size, by_number)


if __name__ == "__main__":
    main()
