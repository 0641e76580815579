// Edges between cells: does the surface of the ice continue from one to the other, and how much
// does it rise? Asked once for each geometry; the flux by shearing (kernels/ice/sia.hpp) and the
// slopes at cells (kernels/ice/velocity3d.hpp) read the answers, of which a cell needs up to ten.
//
//         +----y(j, i)----+            x(j, i): from cell (j, i) to (j, i + 1), rows 0..ym + 1, i =
//         0..xm |               |            y(j, i): from cell (j, i) to (j + 1, i), j = 0..ym,
//         columns 0..xm + 1
//   x(j,i-1)   (j, i)   x(j, i)        The value is h there minus h here, m; surface_ends where the
//   surface does not continue.
//         +---y(j-1, i)---+            Differences across a calving front or a cliff say nothing
//         about the ice.
#pragma once

#include "kernels/ice/geometry.hpp"

namespace nunatak {

struct Edges {
  explicit Edges(const Patch& p)
      : x(make_array<double>("edges_x", p)), y(make_array<double>("edges_y", p)) {}
  Array2<double> x, y;
};
constexpr double surface_ends = 1e30; // m, more than any rise

/// Does the surface of the ice continue from one cell to its neighbour?
///   no   ice-free ocean next to anything but ice-free ocean   a calving front: the ice ends at a
///   cliff above the sea no   floating ice next to ice-free land                   no shelf flows
///   up a beach no   grounded ice next to ice-free land above it          a wall of rock yes
///   everything else
/// Without branches: the compiler takes several edges at once.
KOKKOS_INLINE_FUNCTION bool surface_continues(int type_a, double h_a, int type_b, double h_b) {
  const bool front = (type_a == ice_free_ocean) != (type_b == ice_free_ocean);
  const bool a_blocks = (type_a == ice_free_land) &
                        ((type_b == floating_ice) | ((type_b == grounded_ice) & (h_b < h_a)));
  const bool b_blocks = (type_b == ice_free_land) &
                        ((type_a == floating_ice) | ((type_a == grounded_ice) & (h_a < h_b)));
  return !(front | a_blocks | b_blocks);
}

/// What is kept of an edge.
KOKKOS_INLINE_FUNCTION double edge(int type_a, double h_a, int type_b, double h_b) {
  return h_b - h_a +
         (surface_continues(type_a, h_a, type_b, h_b) ? 0.0 : surface_ends); // a sum: no branch
}

/// All edges between owned cells and ghosts, of the surface h (m) and the mask there.
inline void update_edges(const Patch& patch, const Array2<double>& h, const Array2<int>& mask,
                         const Edges& edges) {
  const int last_j = patch.ym + 1, last_i = patch.xm + 1;
  for_each_cell_and_ghost(
      "edges", patch, KOKKOS_LAMBDA(int j, int i) {
        const int up = j < last_j ? j + 1 : j; // of the last row nobody reads y
        edges.y(j, i) = edge(mask(j, i), h(j, i), mask(up, i), h(up, i));
        if (i < last_i) edges.x(j, i) = edge(mask(j, i), h(j, i), mask(j, i + 1), h(j, i + 1));
      });
}

/// x, or 0 where not `wanted`: by bits, so that the compiler makes no branch of it.
KOKKOS_INLINE_FUNCTION double only_if(bool wanted, double x) {
  return Kokkos::bit_cast<double>(Kokkos::bit_cast<std::int64_t>(x) &
                                  -static_cast<std::int64_t>(wanted));
}

/// The mean of rises, without those where the surface ends; 0 if there is no other.
struct MeanRise {
  double sum = 0.0, count = 0.0;
  /// From one neighbour of a cell to the cell and on to the other. A pair is summed by itself:
  /// mirrored, the same bits.
  KOKKOS_INLINE_FUNCTION void add_both(double to_cell, double from_cell) {
    const bool first = to_cell < surface_ends, second = from_cell < surface_ends;
    sum += only_if(first, to_cell) + only_if(second, from_cell);
    count += only_if(first, 1.0) + only_if(second, 1.0);
  }
  KOKKOS_INLINE_FUNCTION double value() const { return sum / (count > 0.0 ? count : 1.0); }
};

} // namespace nunatak
