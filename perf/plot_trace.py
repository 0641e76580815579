#!/usr/bin/env python3
"""What a trace of file operations says: sizes, alignment, who touches what, what was written twice;
and a picture of it.

    LD_PRELOAD=build/release/perf/trace/libnunatak_trace.so nunatak -init marine -o ex.nc
    perf/plot_trace.py t.csv --stripe 1MiB --json t.json --plot t.png

The CSV is that of libnunatak_trace.so (perf/trace/trace.cpp). Words of the JSON, for all files
together or one (--file ex.nc.tmp):
  writes_aligned      fraction of the writes, by number and by bytes, that begin (end, do both) on a
                      multiple of the stripe
  stripes             number of stripes of all files that 1, 2, 3 or more ranks have written to
  rewritten_bytes     bytes written to a place that had been written before (a truncation forgets
                      what it cuts off)
  moved_over_payload  bytes written over bytes of distinct places written
  seconds             per operation and rank, inside the calls
"""
import argparse
import bisect
import collections
import io
import json
import os
import pathlib
import sys

import numpy as np
import pandas

OPERATIONS = ("open", "read", "write", "seek", "sync", "truncate", "close")
# Okabe & Ito (2008): colours that differ for all common kinds of colour vision
COLOURS = dict(
    zip(OPERATIONS, ("#E69F00", "#0072B2", "#D55E00", "#999999", "#009E73", "#CC79A7", "#000000")))
KINDS = {"rank": int, "operation": str, "file": str, "offset": int, "bytes": int, "start": float,
         "end": float}
UNITS = {"": 1, "B": 1, "K": 2**10, "KIB": 2**10, "KB": 10**3, "M": 2**20, "MIB": 2**20,
         "MB": 10**6, "G": 2**30, "GIB": 2**30, "GB": 10**9}


def size_of(text):
    digits = text.rstrip("BKMGIbkmgi ")
    unit = text[len(digits):].strip().upper()
    if not digits.isdigit() or int(digits) == 0 or unit not in UNITS:
        raise argparse.ArgumentTypeError(f"expected a size such as 1MiB or 4096, found '{text}'")
    return int(digits) * UNITS[unit]


def fail(path, expected, found):
    sys.exit(f"plot_trace.py: {path}: expected {expected}, found {found}")


def read_trace(path):
    """A table of all calls, in the order of their beginning."""
    header = ",".join(KINDS)
    try:
        first, *lines = [line for line in pathlib.Path(path).read_text().splitlines(True)
                         if not line.startswith("#")] or [""]
        calls = pandas.read_csv(io.StringIO("".join(lines)), names=list(KINDS), dtype=KINDS,
                                na_filter=False, index_col=False)
    except OSError as error:
        fail(path, "a trace", error.strerror)
    except ValueError as error:
        fail(path, f"7 fields ({header})", error)
    if first.strip() != header:
        fail(path, f"the header '{header}'", f"'{first.strip()}'")
    unknown = set(calls.operation) - set(OPERATIONS)
    if unknown:
        fail(path, f"an operation ({', '.join(OPERATIONS)})", f"'{unknown.pop()}'")
    return calls.sort_values("start", kind="stable")


class Written:
    """The places of a file that have been written: disjoint intervals [first, last), in order."""

    def __init__(self):
        self.first, self.last = [], []

    def add(self, first, last):
        """Returns how many bytes there had been written before."""
        a, b = bisect.bisect_left(self.last, first), bisect.bisect_right(self.first, last)
        again = sum(min(last, y) - max(first, x) for x, y in zip(self.first[a:b], self.last[a:b]))
        if a < b:
            first, last = min(first, self.first[a]), max(last, self.last[b - 1])
        self.first[a:b], self.last[a:b] = [first], [last]
        return again

    def cut(self, length):
        n = bisect.bisect_left(self.first, length)
        del self.first[n:], self.last[n:]
        if self.last:
            self.last[-1] = min(self.last[-1], length)


def rewritten_bytes(calls):
    places, total = collections.defaultdict(Written), 0
    for operation, file, offset, size in zip(calls.operation, calls.file, calls.offset,
                                             calls.bytes):
        if operation == "write" and size > 0:
            total += places[file].add(offset, offset + size)
        elif operation == "truncate":
            places[file].cut(offset)
    return total


def fraction(part, whole):
    return float(part / whole) if whole else 0.0


def aligned(writes, stripe):
    begins, ends = writes.offset % stripe == 0, (writes.offset + writes.bytes) % stripe == 0
    return {name: {"of_number": fraction(fine.sum(), len(writes)),
                   "of_bytes": fraction(writes.bytes[fine].sum(), writes.bytes.sum())}
            for name, fine in (("begin", begins), ("end", ends), ("both", begins & ends))}


def writers_of_stripes(writes, stripe):
    first, last = writes.offset // stripe, (writes.offset + writes.bytes - 1) // stripe
    touched = {(file, n, rank) for file, rank, a, b in zip(writes.file, writes["rank"], first, last)
               for n in range(a, b + 1)}
    count = collections.Counter(
        min(n, 3) for n in collections.Counter(place[:2] for place in touched).values())
    return {"1": count[1], "2": count[2], "3+": count[3]}


def sizes(calls):
    """Number of calls of 2^n to 2^(n+1) - 1 bytes, by 2^n."""
    count = collections.Counter(2 ** (n.bit_length() - 1) for n in calls.bytes.tolist() if n > 0)
    return {str(size): count[size] for size in sorted(count)}


def analyse(calls, stripe):
    fine = calls[calls.bytes >= 0]
    writes, reads = (fine[(fine.operation == "write") & (fine.bytes > 0)],
                     fine[fine.operation == "read"])
    written, rewritten = int(writes.bytes.sum()), rewritten_bytes(fine)
    ranks = sorted(set(calls["rank"]))
    seconds = (calls.end - calls.start).groupby([calls.operation, calls["rank"]]).sum().to_dict()
    return {"files": sorted(set(calls.file)),
            "ranks": len(ranks),
            "span_seconds": float(calls.end.max() - calls.start.min()) if len(calls) else 0.0,
            "operations": {operation: int((fine.operation == operation).sum())
                           for operation in OPERATIONS},
            "failed": len(calls) - len(fine),
            "read_bytes": int(reads.bytes.sum()),
            "written_bytes": written,
            "write_sizes": sizes(writes),
            "read_sizes": sizes(reads),
            "stripe_bytes": stripe,
            "writes_aligned": aligned(writes, stripe),
            "stripes": writers_of_stripes(writes, stripe),
            "rewritten_bytes": rewritten,
            "moved_over_payload": fraction(written, written - rewritten),
            "seconds": {operation: {str(rank): seconds.get((operation, rank), 0.0)
                                    for rank in ranks} for operation in OPERATIONS},
    }


def report(result):
    print(
        f"{len(result['files'])} file(s), {result['ranks']} rank(s), {result['span_seconds']:.3f} "
        f"s from the first call to the last, {result['failed']} failed")
    print(f"{'operation':>10} {'calls':>9} {'bytes':>15} {'seconds: min':>13} {'mean':>9} "
          f"{'max':>9}  (over ranks)")
    for operation in OPERATIONS:
        of_ranks = list(result["seconds"][operation].values()) or [0.0]
        moved = {"read": result["read_bytes"], "write": result["written_bytes"]}.get(operation, "")
        print(f"{operation:>10} {result['operations'][operation]:9d} {moved:>15} "
              f"{min(of_ranks):13.4f} {np.mean(of_ranks):9.4f} {max(of_ranks):9.4f}")
    print(f"writes on multiples of {result['stripe_bytes']} bytes:")
    for where, found in result["writes_aligned"].items():
        print(f"{where:>10} {100 * found['of_number']:8.1f} % of the writes "
              f"{100 * found['of_bytes']:6.1f} % of their bytes")
    print("stripes written by 1, 2, 3 or more ranks: "
          f"{', '.join(map(str, result['stripes'].values()))}")
    print(f"bytes written more than once: {result['rewritten_bytes']}; moved / payload: "
          f"{result['moved_over_payload']:.3f}")


def plot(calls, result, path, title):
    from matplotlib.collections import LineCollection
    from matplotlib.ticker import MaxNLocator, ScalarFormatter
    from scaling_study.plots import STYLE, plt

    plt.rcParams.update(STYLE)
    figure, ((time, place), (histogram, stripes)) = plt.subplots(2, 2, figsize=(12, 8.5),
                                                                 layout="constrained")
    figure.suptitle(title)
    for number, operation in enumerate(OPERATIONS):
        chosen = calls[calls.operation == operation]
        # a lane for each operation within the rank; at least a tick where the call began
        if len(chosen):
            lane, colour = chosen["rank"] + 0.36 - 0.12 * number, COLOURS[operation]
            time.hlines(lane, chosen.start, chosen.end, colors=colour, linewidths=4)
            time.plot(chosen.start, lane, "|", color=colour, ms=5)
            time.plot([], [], "s", color=colour, ms=6, label=f"{operation} ({len(chosen)})")
    time.set(title="Calls of each rank", ylabel="rank",
             ylim=(-0.55, max(calls["rank"], default=0) + 0.55))
    time.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    figure.legend(*time.get_legend_handles_labels(), fontsize=9, loc="outside lower center",
                  ncol=len(OPERATIONS))

    moved = calls[calls.operation.isin(["read", "write"]) & (calls.bytes > 0)]
    bytes_of_files = moved.groupby("file").bytes.sum()
    largest = bytes_of_files.idxmax() if len(bytes_of_files) else ""
    of_file = moved[moved.file == largest]
    top = max(of_file.offset + of_file.bytes, default=1)
    unit, name = next((u, n) for u, n in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"),
                                          (1, "bytes")) if top >= u or u == 1)
    bins = sorted({int(size) for key in ("read_sizes", "write_sizes") for size in result[key]})
    exponents = np.arange(bins[0].bit_length() - 1, bins[-1].bit_length()) if bins else np.arange(1)
    for operation, marker, fill in (("read", "s", "none"), ("write", "o", "full")):
        colour, chosen = COLOURS[operation], of_file[of_file.operation == operation]
        first, last = chosen.offset / unit, (chosen.offset + chosen.bytes) / unit
        place.add_collection(LineCollection(np.array(
            [[chosen.start, first], [chosen.end, last]]).transpose(2, 0, 1), colors=colour))
        place.plot(chosen.start, first, ".", ms=3, color=colour, label=operation)
        counts = [result[f"{operation}_sizes"].get(str(2 ** int(n)), np.nan) for n in exponents]
        # on a logarithmic axis a bar has no foot
        histogram.plot(exponents, counts, marker, color=colour, label=operation, fillstyle=fill)
    place.set(title=f"Offsets of calls: {os.path.basename(largest)}",
              ylabel=f"offset in the file ({name})")
    for axes in (time, place):
        axes.set_xlabel("time since the ranks began to record (s)")
    histogram.set_xticks(exponents, [label_of(int(n)) for n in exponents],
                         rotation=60 if len(exponents) > 8 else 0, fontsize=8)
    histogram.set(title="Sizes of calls", xlabel="bytes of a call (lower end of each class)",
                  ylabel="number of calls", yscale="log")
    histogram.yaxis.set_major_formatter(ScalarFormatter())
    histogram.set_ylim(bottom=0.7)
    for axes in (place, histogram):
        axes.legend(fontsize=8)

    stripes.bar(list(result["stripes"]), list(result["stripes"].values()), 0.6,
                color=("#009E73", "#E69F00", "#D55E00"))
    stripes.set(
        title=f"Stripes of {result['stripe_bytes']} bytes; "
        f"{100 * result['writes_aligned']['both']['of_bytes']:.0f} % of bytes in aligned writes",
        xlabel="number of ranks that write to a stripe", ylabel="number of stripes")
    stripes.yaxis.set_major_locator(MaxNLocator(integer=True))
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


def label_of(exponent):
    return f"{2 ** (exponent % 10)}{('', ' Ki', ' Mi', ' Gi')[min(exponent // 10, 3)]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="CSV of libnunatak_trace.so")
    parser.add_argument("--stripe", type=size_of, default="1MiB",
                        help="bytes of a stripe of the file system (default %(default)s)")
    parser.add_argument("--file", help="only this file of the trace (default: all)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="the figures as JSON")
    parser.add_argument("--plot", metavar="FILE", help="the picture")
    arguments = parser.parse_args()
    calls = read_trace(arguments.trace)
    if arguments.file is not None:
        names, calls = sorted(set(calls.file)), calls[calls.file == arguments.file]
        if calls.empty:
            fail(arguments.trace, f"one of the files {', '.join(names)}",
                 f"--file '{arguments.file}'")
    result = analyse(calls, arguments.stripe)
    report(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=1))
    if arguments.plot:
        plot(calls, result, arguments.plot, os.path.basename(arguments.trace))


if __name__ == "__main__":
    main()
