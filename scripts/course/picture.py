"""The picture of lab 0: the path through a serpentine and the boundaries of its subdomains, written as PNG with the standard library."""

import pathlib
import struct
import zlib


def serpentine(M):
    """The cells (j, i) of the path, from its seed."""
    path = []
    for j in range(M):
        row = range(M) if j % 4 == 0 else range(M - 1, -1, -1) if j % 4 == 2 else [M - 1 if j % 4 == 1 else 0]
        path += [(j, i) for i in row]
    return path


def write_png(name, M, values, parts, scale=3):
    """Values of 0 to 1 of some cells, in colour; lines where patches meet. A PNG is three chunks."""
    rows = bytearray()
    for j in range(M * scale):
        rows.append(0)
        for i in range(M * scale):
            v = values.get((j // scale, i // scale))
            boundary = any((k // scale) * parts // M != ((k - 1) // scale) * parts // M for k in (j, i) if k > 0)
            rows += bytes((200, 40, 40) if boundary else (245, 245, 245) if v is None else (int(40 + 215 * v), int(40 + 160 * v), int(120 - 60 * v)))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", M * scale, M * scale, 8, 2, 0, 0, 0)
    pathlib.Path(name).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows))) + chunk(b"IEND", b""))
