"""The emulated cluster with extent locks (perf/cluster, `cluster up --locks`): what each rule
costs, counted in messages."""
import json

from clusters import cluster, needs_file_system  # noqa: F401 (cluster is a fixture)

pytestmark = needs_file_system
PAGE, MB = 4096, 1 << 20
CALLS = """
import mmap, os, sys
f = os.open("/mnt/pfs/x", os.O_RDWR | os.O_CREAT)
for word in sys.argv[1:]:
    what, begin, size = word.split(":")
    if what == "w":
        os.pwritev(f, [mmap.mmap(-1, int(size))], int(begin))
    elif what == "r":
        os.pread(f, int(size), int(begin))
    else:
        os.fsync(f)
"""


class Nodes:
    """Nodes that write and read parts of one file, and what they have counted."""

    def __init__(self, cluster, nodes=2, servers=1, most_dirty=32 * MB):
        self.cluster = cluster
        cluster("up", "-n", nodes, "-s", servers, "-r", "400mbit", "--locks", most_dirty)

    def call(self, node, *words):
        """Each word `w:begin:size`, `r:begin:size` or `s::`."""
        self.cluster("run", f"node{node}", "python3", "-c", CALLS, *words)

    def counts(self, name):
        return [counts[name] for counts in json.loads(self.cluster("locks").stdout).values()]


def test_one_writer_asks_once_for_each_object(cluster):
    nodes = Nodes(cluster, servers=2)
    nodes.call(1, *(f"w:{k * MB}:{MB}" for k in range(8)))
    assert nodes.counts("asked") == [2, 0] and nodes.counts("called_back") == [0, 0]
    assert nodes.counts("sent") == [8 * MB, 0]  # whole MiB are sent at once


def test_two_that_alternate_in_a_stripe_call_back_each_other_at_every_write(cluster):
    nodes = Nodes(cluster)
    for k in range(6):
        nodes.call(1 + k % 2, f"w:{k * PAGE}:{PAGE}")
    assert nodes.counts("asked") == [3, 3]
    assert nodes.counts("called_back") == [3, 2]  # the last one is still held
    # what is dirty is sent before the lock is given up
    assert nodes.counts("sent_at_call_back") == [3 * PAGE, 2 * PAGE]


def test_writers_of_whole_stripes_on_servers_of_their_own_never_meet(cluster):
    nodes = Nodes(cluster, servers=2)
    for k in range(6):
        nodes.call(1 + k % 2, f"w:{k * MB}:{MB}")
    assert nodes.counts("asked") == [1, 1] and nodes.counts("called_back") == [0, 0]


def test_a_part_of_a_page_is_read_before_it_is_written_and_a_whole_page_is_not(cluster):
    nodes = Nodes(cluster)
    nodes.call(1, f"w:0:{4 * PAGE}")  # a new file: nothing to read
    assert nodes.counts("partial_pages_read") == [0, 0]
    nodes.call(2, f"w:{PAGE}:{PAGE}")
    assert nodes.counts("partial_pages_read") == [0, 0]
    # parts of two pages; then they are in the cache
    nodes.call(2, f"w:{2 * PAGE + 10}:{PAGE}", f"w:{2 * PAGE + 20}:5")
    assert nodes.counts("partial_pages_read") == [0, 2] and nodes.counts("reads") == [0, 2]


def test_a_reader_takes_from_its_cache_until_another_node_writes(cluster):
    nodes = Nodes(cluster)
    nodes.call(1, f"w:0:{2 * MB}", "s::")
    nodes.call(2, f"r:0:{PAGE}", f"r:{PAGE}:{PAGE}", f"r:{2 * PAGE}:{PAGE}", f"r:{3 * PAGE}:{PAGE}")
    assert nodes.counts("reads") == [0, 1]  # the rest of the MiB comes with the first page
    assert nodes.counts("called_back") == [1, 0] and nodes.counts("sent_at_call_back") == [0, 0]
    nodes.call(1, f"w:0:{PAGE}", "s::")
    nodes.call(2, f"r:0:{PAGE}")
    assert nodes.counts("reads") == [0, 2] and nodes.counts("called_back") == [2, 1]
    assert cluster("run", "node2", "stat", "-c", "%s", "/mnt/pfs/x").stdout == f"{2 * MB}\n"


def test_fsync_sends_what_is_dirty_of_its_own_file(cluster):
    nodes = Nodes(cluster)
    script = ("import os; a, b = (os.open('/mnt/pfs/' + name, os.O_RDWR | os.O_CREAT) for name in "
              f"'ab'); os.write(a, bytes(3 * {PAGE})); os.write(b, bytes(2 * {PAGE})); os.fsync(b)")
    cluster("run", "node1", "python3", "-c", script)
    assert nodes.counts("sent") == [2 * PAGE, 0]
    cluster("run", "node1", "python3", "-c",
            "import os; os.fsync(os.open('/mnt/pfs/a', os.O_RDWR))")
    assert nodes.counts("sent") == [5 * PAGE, 0]


def test_what_was_removed_or_cut_off_is_not_sent(cluster):
    nodes = Nodes(cluster, most_dirty=8 * PAGE)
    write = ("import os, sys; f = os.open('/mnt/pfs/' + sys.argv[1], os.O_RDWR | os.O_CREAT); "
             f"os.write(f, bytes(6 * {PAGE})); ")
    cluster("run", "node1", "python3", "-c", write + "os.close(f); os.unlink('/mnt/pfs/removed')",
            "removed")
    cluster("run", "node1", "python3", "-c",
            write + "os.open('/mnt/pfs/emptied', os.O_WRONLY | os.O_TRUNC)", "emptied")
    cluster("run", "node1", "python3", "-c", write, "old")
    cluster("run", "node1", "python3", "-c", "import os; open('/mnt/pfs/new', 'w').close(); "
            "os.rename('/mnt/pfs/new', '/mnt/pfs/old')")
    cluster("run", "node1", "python3", "-c", write + f"os.ftruncate(f, {PAGE})", "cut")
    cluster("run", "node1", "python3", "-c", write, "kept")
    assert nodes.counts("sent") == [0, 0]  # 7 pages are dirty
    cluster("run", "node1", "python3", "-c", write, "another")
    assert nodes.counts("sent") == [13 * PAGE, 0]


def test_counts_need_locks(cluster):
    cluster("up", "-n", 1, "-s", 1)
    refused = cluster("locks", check=False)
    assert refused.returncode == 1 and "expected a cluster with locks" in refused.stderr
