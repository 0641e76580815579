#!/usr/bin/env python3
"""How to write and read a large state: the MOM experiment as one command.

    perf/tune_io.py --ranks 4 --json tune.json --plot tune.png        # small, under two minutes on a quiet machine
    perf/tune_io.py --ranks 16 --full --folder /scratch/me ...        # everything

Swept: aggregators per (virtual) node x stripe, as the buffer of collective writes (cb_buffer_size) and as the segment of the layout
morton x chunk shape of NetCDF-4 x the two MPI-IO of Open MPI (OMPIO, ROMIO; each is one run, in which all ways take turns), and
each file is read by every rank, by rank 0 and by all together. Each method is reported as a ratio to `serial` of the same turn: above
1 it is faster than one rank that gathers and writes.
"""
import argparse

import io_runs
from io_runs import BLUE, GREEN, ORANGE, VERMILION

MPI_IO = {"OMPIO": "ompio", "ROMIO": "^ompio"}  # OMPI_MCA_io
READS = ("each", "serial", "parallel")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    io_runs.add_arguments(parser, "mom:0.25", 0.05, 2, 4)
    parser.add_argument("--ranks-per-node", type=int, default=2, help="of a virtual node (default %(default)s)")
    parser.add_argument("--full", action="store_true", help="more of everything; 7 turns, unless --repeat says otherwise")
    parser.add_argument("--mpi-io", default="ROMIO,OMPIO", help="default %(default)s")
    return parser.parse_args()


def ways_to_try(full):
    aggregators = (1, 2, 4) if full else (1, 2)
    stripes = ("256KiB", "1MiB", "4MiB", "16MiB") if full else ("1MiB", "4MiB")
    chunks = ("auto", "record", "st_ocean=1", "yt_ocean=64,xt_ocean=64") if full else ("auto", "st_ocean=1")
    ways = ["serial", "pnetcdf", "pnetcdf/zslab", "netcdf4"]
    for a in aggregators:
        ways += [f"pnetcdf/aggregators={a}/hints=cb_buffer_size={size_in_bytes(s)}" for s in stripes]
        ways += [f"pnetcdf/morton:{a}/stripe={s}" for s in stripes]
        ways += [f"pnetcdf/box:{a}"]
        ways += [f"netcdf4/aggregators={a}/chunk={c}" for c in (chunks if full or a == 1 else ())]
    return ways


def size_in_bytes(text):
    return int(text[:-3]) * {"KiB": 2**10, "MiB": 2**20}[text[-3:]]


def rows_of(name, told):
    serial = told["ways"][0]
    for way in told["ways"]:
        row = {"way": way["way"], "MPI-IO": name, "seconds": way["seconds"]["median"], "of probe": way["share_of_probe"],
               "serial/way": io_runs.ratio(serial, way), "calls": way["written_operations"], "messages": way["messages"],
               "message bytes": way["message_bytes"], "off node": way["off_node_bytes"]}
        for by in READS:
            row["read " + by] = way["reads"][by]["seconds"]["median"] if by in way.get("reads", {}) else None
        yield row


def plot(path, told, rows):
    plt = io_runs.pyplot()
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    names = list(dict.fromkeys(row["way"] for row in rows))[::-1]
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 1.5 + 0.3 * len(names)), sharey=True, constrained_layout=True)
    for (name, marker, colour) in (("ROMIO", "o", BLUE), ("OMPIO", "D", ORANGE)):
        of = [row for row in rows if row["MPI-IO"] == name]
        left.plot([row["serial/way"] for row in of], [names.index(row["way"]) for row in of], marker, color=colour, label=name,
                  fillstyle="full" if name == "ROMIO" else "none")
    left.axvline(1, color="0.5", linewidth=0.8)
    left.set_xscale("log")
    left.set_yticks(range(len(names)), names, fontsize=9)
    left.set_xlabel("writing: time of serial / time (right is faster)")
    first = rows[0]["MPI-IO"]
    for by, marker, colour in zip(READS, ("o", "s", "^"), (GREEN, VERMILION, BLUE)):
        of = [row for row in rows if row["MPI-IO"] == first and row["read " + by]]
        right.plot([row["read " + by] for row in of], [names.index(row["way"]) for row in of], marker, color=colour, label=by)
    right.set_xscale("log")
    right.set_xlabel(f"reading the file that came out, seconds ({first})")
    for axis, columns, title in ((left, 2, "MPI-IO"), (right, 3, "read by")):  # above: below it there are points
        axis.legend(fontsize=8, title=title, title_fontsize=8, ncols=columns, loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
    for axis in (left, right):
        axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
    figure.suptitle(f"{told['workload']['name']}, {told['workload']['text']}: {told['probe']['bytes'] / 1e6:.3g} MB", fontsize=10)
    figure.get_layout_engine().set(rect=(0, 0.025, 1, 0.975))
    io_runs.footnote(figure, told)
    figure.savefig(path, dpi=150)


def main():
    arguments = read_arguments()
    if arguments.full and arguments.repeat == 2:
        arguments.repeat = 7
    told, rows = {}, []
    for name in arguments.mpi_io.split(","):
        if name not in MPI_IO:
            io_runs.fail(f"--mpi-io: expected {' or '.join(MPI_IO)}, found '{name}'")
        told[name] = io_runs.run(arguments, ways_to_try(arguments.full), "-read", ",".join(READS), "-io_ranks_per_node",
                                 arguments.ranks_per_node, "-io_ompio", "yes", environment={"OMPI_MCA_io": MPI_IO[name]})
        rows += rows_of(name, told[name])
    io_runs.table(rows)
    io_runs.save(arguments, {"rows": rows, "runs": told})
    if arguments.plot:
        plot(arguments.plot, told[rows[0]["MPI-IO"]], rows)


if __name__ == "__main__":
    main()
