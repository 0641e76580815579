"""The picture of lab 0: the path through a serpentine and the boundaries of its patches, written as
SVG with the standard library."""

import pathlib

SCALE, LEFT, TOP = 3, 60, 40  # pixels: of a cell; margins


def serpentine(M):
    """The cells (j, i) of the path, from its seed."""
    path = []
    for j in range(M):
        row = (range(M) if j % 4 == 0 else range(M - 1, -1, -1) if j % 4 == 2
               else [M - 1 if j % 4 == 1 else 0])
        path += [(j, i) for i in row]
    return path


def colour(v):
    return f"rgb({int(40 + 215 * v)},{int(40 + 160 * v)},{int(120 - 60 * v)})"


def write_svg(name, M, parts):
    """Row 0 is at the bottom. A row of the path has one colour, that of its middle."""
    path, side = serpentine(M), M * SCALE
    rows = {}
    for n, (j, i) in enumerate(path):
        rows.setdefault(j, []).append((i, n))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{side + 210}" height="{side + 80}" '
           'font-family="sans-serif" font-size="13">'
           '<rect width="100%" height="100%" fill="white"/>']
    def text(x, y, words, anchor="middle"):
        out.append(f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{words}</text>')
    def box(x, y, width, height, fill):
        out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                   f'fill="{fill}"/>')
    for j, cells in rows.items():
        first = min(i for i, _ in cells)
        box(LEFT + first * SCALE, TOP + (M - 1 - j) * SCALE, len(cells) * SCALE, SCALE,
            colour(cells[len(cells) // 2][1] / len(path)))
    for k in range(parts + 1):
        # where a patch begins; the first ones are one longer
        cell = k * (M // parts) + min(k, M % parts)
        x, y = LEFT + cell * SCALE, TOP + side - cell * SCALE
        out.append(f'<path d="M{x} {TOP}V{TOP + side}M{LEFT} {y}H{LEFT + side}" stroke="crimson" '
                   'stroke-width="1.5"/>')
        text(x, TOP + side + 18, cell)
        text(LEFT - 8, y + 4, cell, "end")
    text(LEFT + side / 2, TOP + side + 40,
         f"cells along x; red: boundaries of {parts} x {parts} patches")
    bar = LEFT + side + 30
    for k in range(100):
        box(bar, TOP + side * (0.99 - k / 100), 18, side / 100 + 0.5, colour(k / 100))
    for v in (0, 0.25, 0.5, 0.75, 1):
        text(bar + 24, TOP + side * (1 - v) + 4, 1 + round(v * (len(path) - 1)), "start")
    text(bar, TOP - 20, "distance, steps", "start")
    pathlib.Path(name).write_text("\n".join([*out, "</svg>"]) + "\n")
