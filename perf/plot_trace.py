#!/usr/bin/env python3
"""What a trace of file operations says: sizes, alignment, who touches what, what was written twice; and a picture of it.

    LD_PRELOAD=build/release/perf/trace/libnunatak_trace.so nunatak -init marine -o ex.nc
    perf/plot_trace.py t.csv --stripe 1MiB --json t.json --plot t.png

The CSV is that of libnunatak_trace.so (perf/trace/trace.cpp). Words of the JSON, for all files together or one (--file ex.nc.tmp):
  writes_aligned   share of the writes, by number and by bytes, that begin (end, do both) on a multiple of the stripe
  stripes          number of stripes of all files that 1, 2, 3 or more ranks have written to
  rewritten_bytes  bytes written to a place that had been written before (a truncation forgets what it cuts off)
  moved_over_payload  bytes written over bytes of distinct places written
  seconds          per operation and rank, inside the calls
"""
import argparse
import bisect
import collections
import csv
import json
import os
import sys

OPERATIONS = ("open", "read", "write", "seek", "sync", "truncate", "close")
# Okabe & Ito (2008): colours that differ for all common kinds of colour vision
COLOURS = dict(zip(OPERATIONS, ("#E69F00", "#0072B2", "#D55E00", "#999999", "#009E73", "#CC79A7", "#000000")))
HEADER = ["rank", "operation", "file", "offset", "bytes", "start", "end"]
UNITS = {"": 1, "B": 1, "K": 2**10, "KIB": 2**10, "KB": 10**3, "M": 2**20, "MIB": 2**20, "MB": 10**6, "G": 2**30, "GIB": 2**30, "GB": 10**9}
Event = collections.namedtuple("Event", HEADER)


def size_of(text):
    digits = text.rstrip("BKMGIbkmgi ")
    unit = text[len(digits):].strip().upper()
    if not digits.isdigit() or int(digits) == 0 or unit not in UNITS:
        raise argparse.ArgumentTypeError(f"expected a size such as 1MiB or 4096, found '{text}'")
    return int(digits) * UNITS[unit]


def read_trace(path):
    """All events, in the order of their beginning."""
    events = []
    try:
        file = open(path, newline="")
    except OSError as error:
        sys.exit(f"plot_trace.py: {path}: expected a trace, found: {error.strerror}")
    with file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        header = next(rows, [])
        if header != HEADER:
            sys.exit(f"plot_trace.py: {path}: expected the header '{','.join(HEADER)}', found '{','.join(header)}'")
        for row in rows:
            try:
                rank, operation, name, offset, size, start, end = row
                events.append(Event(int(rank), operation, name, int(offset), int(size), float(start), float(end)))
            except ValueError:
                sys.exit(f"plot_trace.py: {path}: expected 7 fields ({','.join(HEADER)}), found '{','.join(row)}'")
            if operation not in OPERATIONS:
                sys.exit(f"plot_trace.py: {path}: expected an operation ({', '.join(OPERATIONS)}), found '{operation}'")
    return sorted(events, key=lambda e: e.start)


class Written:
    """The places of a file that have been written: disjoint intervals, in order."""

    def __init__(self):
        self.first, self.last = [], []  # [first, last) of each

    def meeting(self, first, last):
        """The intervals that overlap or touch [first, last), as a range of indices."""
        return bisect.bisect_left(self.last, first), bisect.bisect_right(self.first, last)

    def overlap(self, first, last):
        a, b = self.meeting(first, last)
        return sum(min(last, y) - max(first, x) for x, y in zip(self.first[a:b], self.last[a:b]))

    def add(self, first, last):
        a, b = self.meeting(first, last)
        if a < b:
            first, last = min(first, self.first[a]), max(last, self.last[b - 1])
        self.first[a:b], self.last[a:b] = [first], [last]

    def cut(self, length):
        n = bisect.bisect_left(self.first, length)
        del self.first[n:], self.last[n:]
        if self.last:
            self.last[-1] = min(self.last[-1], length)


def share(part, whole):
    return part / whole if whole else 0.0


def aligned(writes, stripe):
    result = {}
    total = sum(e.bytes for e in writes)
    for name, test in (("begin", lambda e: e.offset % stripe == 0), ("end", lambda e: (e.offset + e.bytes) % stripe == 0),
                       ("both", lambda e: e.offset % stripe == 0 and e.bytes % stripe == 0)):
        fine = [e.bytes for e in writes if test(e)]
        result[name] = {"of_number": share(len(fine), len(writes)), "of_bytes": share(sum(fine), total)}
    return result


def writers_of_stripes(writes, stripe):
    ranks = collections.defaultdict(set)
    for e in writes:
        for n in range(e.offset // stripe, (e.offset + e.bytes - 1) // stripe + 1):
            ranks[e.file, n].add(e.rank)
    count = collections.Counter(min(len(r), 3) for r in ranks.values())
    return {"1": count[1], "2": count[2], "3+": count[3]}


def sizes(events):
    """Number of calls of 2^n to 2^(n+1) - 1 bytes, by 2^n."""
    count = collections.Counter(2 ** (e.bytes.bit_length() - 1) for e in events if e.bytes > 0)
    return {str(size): count[size] for size in sorted(count)}


def analyse(events, stripe):
    fine = [e for e in events if e.bytes >= 0]
    writes = [e for e in fine if e.operation == "write" and e.bytes > 0]
    reads = [e for e in fine if e.operation == "read"]
    places = collections.defaultdict(Written)
    rewritten = 0
    for e in fine:
        if e.operation == "write" and e.bytes > 0:
            rewritten += places[e.file].overlap(e.offset, e.offset + e.bytes)
            places[e.file].add(e.offset, e.offset + e.bytes)
        elif e.operation == "truncate":
            places[e.file].cut(e.offset)
    written = sum(e.bytes for e in writes)
    ranks = sorted({e.rank for e in events})
    seconds = {operation: dict.fromkeys(map(str, ranks), 0.0) for operation in OPERATIONS}
    for e in events:
        seconds[e.operation][str(e.rank)] += e.end - e.start
    return {
        "files": sorted({e.file for e in events}),
        "ranks": len(ranks),
        "span_seconds": max((e.end for e in events), default=0.0) - min((e.start for e in events), default=0.0),
        "operations": {operation: sum(e.operation == operation for e in fine) for operation in OPERATIONS},
        "failed": len(events) - len(fine),
        "read_bytes": sum(e.bytes for e in reads),
        "written_bytes": written,
        "write_sizes": sizes(writes),
        "read_sizes": sizes(reads),
        "stripe_bytes": stripe,
        "writes_aligned": aligned(writes, stripe),
        "stripes": writers_of_stripes(writes, stripe),
        "rewritten_bytes": rewritten,
        "moved_over_payload": share(written, written - rewritten),
        "seconds": seconds,
    }


def report(result):
    print(f"{len(result['files'])} file(s), {result['ranks']} rank(s), {result['span_seconds']:.3f} s from the first call to the last, {result['failed']} failed")
    print(f"{'operation':>10} {'calls':>9} {'bytes':>15} {'seconds: min':>13} {'mean':>9} {'max':>9}  (over ranks)")
    for operation in OPERATIONS:
        of_ranks = list(result["seconds"][operation].values()) or [0.0]
        moved = {"read": result["read_bytes"], "write": result["written_bytes"]}.get(operation, "")
        print(f"{operation:>10} {result['operations'][operation]:9d} {moved:>15} {min(of_ranks):13.4f} {sum(of_ranks) / len(of_ranks):9.4f} {max(of_ranks):9.4f}")
    print(f"writes on multiples of {result['stripe_bytes']} bytes:")
    for where, found in result["writes_aligned"].items():
        print(f"{where:>10} {100 * found['of_number']:8.1f} % of the writes {100 * found['of_bytes']:6.1f} % of their bytes")
    print(f"stripes written by 1, 2, 3 or more ranks: {', '.join(map(str, result['stripes'].values()))}")
    print(f"bytes written more than once: {result['rewritten_bytes']}; moved / payload: {result['moved_over_payload']:.3f}")


def plot(events, result, path, title):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    import numpy as np
    from matplotlib.collections import LineCollection
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    figure, ((time, place), (histogram, stripes)) = plt.subplots(2, 2, figsize=(12, 8.5), constrained_layout=True)
    figure.suptitle(title)
    for number, operation in enumerate(OPERATIONS):
        chosen = [e for e in events if e.operation == operation]
        if not chosen:
            continue
        # a lane for each operation within the rank; at least a tick where the call began
        lane = [e.rank + 0.36 - 0.12 * number for e in chosen]
        colour = COLOURS[operation]
        time.add_collection(LineCollection([((e.start, y), (e.end, y)) for e, y in zip(chosen, lane)], colors=colour, linewidths=4))
        time.plot([e.start for e in chosen], lane, "|", color=colour, ms=5)
        time.plot([], [], "s", color=colour, ms=6, label=f"{operation} ({len(chosen)})")
    time.set_title("Calls of each rank")
    time.set_xlabel("time since the ranks began to record (s)")
    time.set_ylabel("rank")
    time.set_ylim(-0.55, max((e.rank for e in events), default=0) + 0.55)
    time.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    time.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=len(OPERATIONS), handletextpad=0.1, columnspacing=0.8)

    moved = collections.Counter()
    for e in events:
        moved[e.file] += max(e.bytes, 0) if e.operation in ("read", "write") else 0
    largest = max(moved, key=moved.get, default="")
    of_file = [e for e in events if e.file == largest and e.bytes > 0]
    top = max((e.offset + e.bytes for e in of_file), default=1)
    unit, name = next((u, n) for u, n in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "bytes")) if top >= u or u == 1)
    for operation in ("read", "write"):
        chosen = [e for e in of_file if e.operation == operation]
        lines = [((e.start, e.offset / unit), (e.end, (e.offset + e.bytes) / unit)) for e in chosen]
        place.add_collection(LineCollection(lines, colors=COLOURS[operation], linewidths=1.5))
        place.plot([e.start for e in chosen], [e.offset / unit for e in chosen], ".", ms=3, color=COLOURS[operation], label=operation)
    place.set_title(f"Offsets of calls: {os.path.basename(largest)}")
    place.set_xlabel("time since the ranks began to record (s)")
    place.set_ylabel(f"offset in the file ({name})")
    place.legend(frameon=False, fontsize=8)

    bins = sorted({int(size) for key in ("read_sizes", "write_sizes") for size in result[key]})
    exponents = np.arange(min(bins).bit_length() - 1, max(bins).bit_length()) if bins else np.arange(1)
    for operation, marker in (("read", "s"), ("write", "o")):  # points: on a logarithmic axis a bar has no foot
        counts = [result[f"{operation}_sizes"].get(str(2 ** int(n)), 0) or np.nan for n in exponents]
        histogram.plot(exponents, counts, marker, color=COLOURS[operation], label=operation, fillstyle="none" if marker == "s" else "full")
    histogram.set_xticks(exponents, [label_of(int(n)) for n in exponents], rotation=60 if len(exponents) > 8 else 0, fontsize=8)
    histogram.set_yscale("log")
    histogram.yaxis.set_major_formatter(ScalarFormatter())
    histogram.set_ylim(bottom=0.7)
    histogram.set_title("Sizes of calls")
    histogram.set_xlabel("bytes of a call (lower end of each class)")
    histogram.set_ylabel("number of calls")
    histogram.legend(frameon=False, fontsize=8)

    stripes.bar(list(result["stripes"]), list(result["stripes"].values()), 0.6, color=("#009E73", "#E69F00", "#D55E00"))
    stripes.set_title(f"Stripes of {result['stripe_bytes']} bytes; {100 * result['writes_aligned']['both']['of_bytes']:.0f} % of bytes in aligned writes")
    stripes.set_xlabel("number of ranks that write to a stripe")
    stripes.set_ylabel("number of stripes")
    stripes.yaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (time, place, histogram, stripes):
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


def label_of(exponent):
    return f"{2 ** (exponent % 10)}{('', ' Ki', ' Mi', ' Gi')[min(exponent // 10, 3)]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="CSV of libnunatak_trace.so")
    parser.add_argument("--stripe", type=size_of, default="1MiB", help="bytes of a stripe of the file system (default %(default)s)")
    parser.add_argument("--file", help="only this file of the trace (default: all)")
    parser.add_argument("--json", metavar="FILE", help="the figures as JSON")
    parser.add_argument("--plot", metavar="FILE", help="the picture")
    parser.add_argument("--title", help="of the picture (default: the name of the CSV)")
    arguments = parser.parse_args()
    events = read_trace(arguments.trace)
    names = sorted({e.file for e in events})
    if arguments.file is not None:
        events = [e for e in events if e.file == arguments.file]
        if not events:
            sys.exit(f"plot_trace.py: {arguments.trace}: expected one of the files {', '.join(names)}, found --file '{arguments.file}'")
    result = analyse(events, arguments.stripe)
    report(result)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(result, file, indent=1)
    if arguments.plot:
        plot(events, result, arguments.plot, arguments.title or os.path.basename(arguments.trace))


if __name__ == "__main__":
    main()
