"""No loop of the host over a field comes into a step of a GPU: what such a loop needs is counted per file."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["kernels/step", "kernels/pico", "kernels/ssa"]
SIGNS = re.compile(r"\.data\(\)|create_mirror|deep_copy|on_host\(|to_loops\(|for \((?:const )?int j\b|for \((?:const )?int c (?:= (?:from|range)|:)")

# How many signs each file has. The host touches fields here, on a CPU only: PICO's geometry by segments; on a GPU that is by_loops.hpp
# (PicoOptions::by_loops).
SEGMENTS = {
    "kernels/pico/adjacent.hpp": 1,  # pointers that by_segments.hpp gives
    "kernels/pico/by_segments.hpp": 9,
    "kernels/pico/fields.hpp": 18,  # masks of a segment; what the last geometry wrote
}
# Files in which only loops of the execution space do: pointers for them, copies between fields that it makes.
LOOPS = {
    "kernels/pico/by_loops.hpp": 7,
    "kernels/pico/geometry.hpp": 17,
    "kernels/pico/last_input.hpp": 4,
    "kernels/pico/melt.hpp": 14,
    "kernels/pico/shelf_fields.hpp": 20,
    "kernels/pico/shelf_water.hpp": 5,
    "kernels/ssa/held.hpp": 3,
    "kernels/ssa/linear.hpp": 8,
    "kernels/ssa/multiply.hpp": 1,
    "kernels/ssa/newton.hpp": 11,
    "kernels/ssa/unknowns.hpp": 2,
    "kernels/step/stress_balance.hpp": 3,
}


def signs(text):
    return len(SIGNS.findall(re.sub(r"//.*", "", text)))


def test_every_host_loop_is_known():
    files = [f for folder in FOLDERS for f in sorted((SOURCE / folder).rglob("*.[hc]pp"))]
    found = {str(f.relative_to(SOURCE)): signs(f.read_text()) for f in files}
    expected = {**SEGMENTS, **LOOPS}
    different = {path: (expected.get(path, 0), n) for path, n in found.items() if n != expected.get(path, 0)}
    assert not different, f"(expected, found): {different}: is it a loop of the host? Then write it with for_each_of"
    assert not set(expected) - set(found), "a file that is no more"


def test_what_is_looked_for_is_seen():
    for bad in ("for (int j = 1; j <= p.ym; ++j) {", "double* T = a.data();", "for (int c = from; c < to; ++c)", "for (const int c : list)",
                "Kokkos::deep_copy(a, b);", "const auto h = Kokkos::create_mirror_view(a);",
                "const auto h = on_host(a);", "to_loops(a, h);"):
        assert signs(bad) == 1, bad
    for good in ("for (int c = 0; c < 4; ++c)", "for (int n = 0; n < ranks.local_size(); ++n)", "// for (int j = 0;"):
        assert signs(good) == 0, good
