"""What a node is made of, from hwloc's XML (lstopo --of xml), in a few words for machine.json."""
import collections
import re
import xml.etree.ElementTree as xml

COMMAND = "lstopo-no-graphics --of xml --no-io 2>/dev/null || true"  # on a node
KINDS = {"Package": "packages", "NUMANode": "numa_nodes", "Core": "cores", "PU": "hardware_threads"}


def binary(size):
    return f"{size / 2**20:g} MiB" if size >= 2**20 else f"{size / 2**10:g} KiB"


def describe(path):
    """Counts of the parts, memory, caches with how many there are; a sentence if there is no such file."""
    try:
        objects = list(xml.parse(path).getroot().iter("object"))
    except (OSError, xml.ParseError):
        return "not known: no lstopo (hwloc) on the nodes"
    found = collections.Counter(one.get("type") for one in objects)
    caches = collections.Counter((one.get("type"), int(one.get("cache_size"))) for one in objects
                                 if re.fullmatch("L[1-9]Cache", one.get("type")))
    memory = sum(int(one.get("local_memory", 0)) for one in objects)
    version = next((info.get("value") for info in objects[0].iter("info") if info.get("name") == "hwlocVersion"), "") if objects else ""
    return {**{name: found[kind] for kind, name in KINDS.items()}, "memory_GiB": round(memory / 2**30, 1),
            "caches": ", ".join(f"{n} x {kind[:2]} of {binary(size)}" for (kind, size), n in sorted(caches.items(), reverse=True)),
            "hwloc": version}
