// The bytes that the parts of a step must move if each kernel reads every array that it needs once and writes every result once.
// For bench_step; perf/README.md has the same as a table.
//
// Maps count 8 bytes per cell of the grid (masks 4). Columns: levels in the ice where a kernel stops at the surface, all levels
// where it does not. Not counted: what a store reads first (the line that it writes to), ghosts, messages.
#pragma once

#include <cstring>

namespace nunatak::bench {

struct Sizes {
  double cells = 0.0, icy_cells = 0.0;
  double points_in_ice = 0.0; ///< levels below the surface, over all icy cells
  int Mz = 0;
};

struct PartBytes {
  const char* part;
  double map_bytes;     ///< per cell
  int columns_in_ice;   ///< arrays of columns, up to the surface
  int columns_in_whole; ///< arrays of columns, all levels of all cells

  double total(const Sizes& s) const {
    return map_bytes * s.cells + 8.0 * (columns_in_ice * s.points_in_ice + columns_in_whole * s.cells * s.Mz);
  }
};

/// nullptr for a part that is not counted: the SSA.
inline const PartBytes* bytes_of(const char* part) {
  static constexpr PartBytes table[] = {
      // PICO: H, b, theta, S and 2 masks; 8 masks and 7 maps written
      {"ocean", 4 * 8 + 2 * 4 + 8 * 4 + 7 * 8, 0, 0},
      // till: b, H, mask, basal T -> tauc; hardness: H, T_s, T -> B, A; B -> A, B of the SSA
      {"stress balance: till, hardness", (3 * 8 + 4 + 8) + (2 * 8 + 2 * 8) + (8 + 2 * 8), 1, 0},
      // h, H, mask, A -> q_x, q_y
      {"stress balance: SIA", 3 * 8 + 4 + 2 * 8, 0, 0},
      // horizontal: h, H, mask, A, u_b, v_b -> 4 maps, u, v, sigma; vertical: H, mask, melt, u, v -> w; 2 advection rates
      {"stress balance: 3-D velocity", (5 * 8 + 4 + 4 * 8) + (2 * 8 + 4) + 2 * (2 * 8 + 4), 2, 4},
      // flux: G, tauc, u_b, v_b, mask -> flux; columns: H, mask, T_s, flux -> melted, of u, v, w, sigma, T -> T
      {"energy", (4 * 8 + 4 + 8) + (3 * 8 + 4 + 8), 5, 1},
      // flux: h, H, mask, u, v, 2 q -> 2 q; outflow: H, 2 q -> f; balance: 1 -> 1; thickness: H, mask, 2 q, f, balance, melt ->
      // H;
      // geometry: b, H -> h, mask
      {"mass transport", (6 * 8 + 4 + 2 * 8) + 4 * 8 + 2 * 8 + (6 * 8 + 4 + 8) + (3 * 8 + 4), 0, 0},
      // H, mask, T; H; u_b, v_b
      {"checks", (8 + 4) + 8 + 2 * 8, 0, 1}};
  for (const PartBytes& p : table) {
    if (std::strcmp(p.part, part) == 0) return &p;
  }
  return nullptr;
}

} // namespace nunatak::bench
