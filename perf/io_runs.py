"""What the scripts about output share: running nunatak-io, tables, colours. Used by tune_io.py, io_pathology.py, io_order.py and
io_ior.py."""
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

import launcher

# Okabe and Ito: can be told apart by colour-blind people
BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442", "#000000")


def fail(message):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def add_arguments(parser, workload, scale, repeat, ranks):
    parser.add_argument("--program", default="build/release/miniapp/nunatak-io", help="nunatak-io (default %(default)s)")
    parser.add_argument("--mpiexec", default=launcher.MPIEXEC, help="to it the number of ranks is added (default %(default)s)")
    parser.add_argument("--ranks", type=int, default=ranks, help="default %(default)s")
    parser.add_argument("--workload", default=workload, help="see nunatak-io -help (default %(default)s)")
    parser.add_argument("--scale", type=float, default=scale, help="default %(default)s")
    parser.add_argument("--repeat", type=int, default=repeat, help="turns that count (default %(default)s)")
    parser.add_argument("--folder", default=".", help="on the file system that is measured (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write all that was measured")
    parser.add_argument("--plot", metavar="FILE", help="write a plot (png, svg, pdf)")


def run(arguments, ways, *options, environment=None, ranks=None, scale=None, workload=None):
    """One run of nunatak-io, in which the ways take turns; its JSON. Stops if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = shlex.split(arguments.mpiexec) + [str(ranks or arguments.ranks), arguments.program, "-workload",
                                                    workload or arguments.workload, "-scale", str(scale or arguments.scale),
                                                    "-repeat", str(arguments.repeat), "-o", arguments.folder, "-ways",
                                                    ",".join(ways), "-report", str(out), *[str(word) for word in options]]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
        if done.returncode != 0:
            fail(f"{' '.join(command)}: {done.stderr.strip()}")
        told = json.loads(out.read_text())
    if told["host"]["oversubscribed"]:
        print("more ranks than cores: for correctness and counts, not for times", file=sys.stderr)
    return told


def ratio(one, other):
    """How many times as long one way takes: the median over turns of pairs of the same turn."""
    return statistics.median(a / b for a, b in zip(one["seconds"]["all"], other["seconds"]["all"]))


def table(rows):
    """Columns by the keys of the first row; floats with 4 digits."""
    texts = [[key for key in rows[0]]]
    texts += [[f"{v:.4g}" if isinstance(v, float) else "-" if v is None else str(v) for v in row.values()] for row in rows]
    widths = [max(len(text[c]) for text in texts) for c in range(len(texts[0]))]
    for text in texts:
        print("  ".join(t.ljust(w) if c == 0 else t.rjust(w) for c, (t, w) in enumerate(zip(text, widths))))


def save(arguments, data):
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(data, indent=2) + "\n")


def pyplot():
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False})
    return plt


def footnote(figure, told):
    """Where it was measured, under the picture."""
    host = told["host"]
    words = (f"{host['ranks']} ranks on {host['cores_per_node']} cores, {told['file_system']['type']}, median of {told['turns']} turns"
             + ("; more ranks than cores: not for times" if host["oversubscribed"] else ""))
    figure.text(0.01, 0.005, words, fontsize=7, color="0.35")
