// Loops of the tests over the cells of a patch or a grid, row by row:
//
//   for (const auto& [j, i] : cells_of(patch)) ...
#pragma once

#include "kernels/grid/patch.hpp"

#include <vector>

namespace nunatak {

struct CellIndex {
  int j, i;
};

/// All (j, i) from the first to the last index of either.
inline std::vector<CellIndex> rectangle(int first_j, int last_j, int first_i, int last_i) {
  std::vector<CellIndex> all;
  for (int j = first_j; j <= last_j; ++j) {
    for (int i = first_i; i <= last_i; ++i) all.push_back({j, i});
  }
  return all;
}
/// Owned cells, and owned cells with ghosts: view indices.
inline std::vector<CellIndex> cells_of(const Patch& p) { return rectangle(1, p.ym, 1, p.xm); }
inline std::vector<CellIndex> cells_and_ghosts_of(const Patch& p) {
  return rectangle(0, p.ym + 1, 0, p.xm + 1);
}
/// The rank that owns the point (gj, gi) of the grid.
inline int owner_of(const Decomposition& d, int gj, int gi) {
  int rank = 0;
  while (d.patch(rank).ys + d.patch(rank).ym <= gj) rank += d.px;
  while (d.patch(rank).xs + d.patch(rank).xm <= gi) rank += 1;
  return rank;
}
/// The points of a grid, from 0 on.
inline std::vector<CellIndex> points_of(int Mx, int My) { return rectangle(0, My - 1, 0, Mx - 1); }

} // namespace nunatak
