// PicoOptions::batch = false: what PICO labels, solves and sums together is labelled, solved and
// summed one after another, in as many collectives as PISM 2.3 makes in an update.
//
//   five labellings        10  gathers: lengths and contents of each
//   geometry               12  adjacent basins; two masks by area (2 each); cells per shelf and
//                              basin, fronts, parts to divide; largest distances; 3 times shelves
//   ocean                   8  shelves; T, S, cells of basins; 3 of shelves and basins; cold cells
//   boxes          4 + 6(n-1)  area, warnings and overturning (2) of box 1; of each of the others
//                              two means (2 each), area, fallback cells: 28 of n = 5 boxes
//
// These are 58, and each distance field adds its rounds; one rank makes no gathers. The numbers are
// cut into pieces of about equal length, so that results have the same bits.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/pico/options.hpp"

#include <algorithm>

namespace nunatak::pico {

constexpr int geometry_sums = 12, ocean_sums = 8;
inline int box_sums(int boxes) { return 4 + 6 * (boxes - 1); }

/// Replaces `values[local]` by sums over all ranks, in one collective, or in `pieces` if not
/// options.batch.
inline void sum(Ranks& ranks, const PicoOptions& options, int pieces,
                std::vector<std::vector<std::int64_t>>& values) {
  if (options.batch) return ranks.sum(values);
  const auto size = static_cast<std::ptrdiff_t>(values[0].size());
  for (std::ptrdiff_t n = 0; n < pieces; ++n) {
    const std::ptrdiff_t first = size * n / pieces, last = size * (n + 1) / pieces;
    std::vector<std::vector<std::int64_t>> piece;
    for (const auto& all : values) piece.emplace_back(all.begin() + first, all.begin() + last);
    ranks.sum(piece);
    for (std::size_t r = 0; r < values.size(); ++r)
      std::copy(piece[r].begin(), piece[r].end(), values[r].begin() + first);
  }
}

} // namespace nunatak::pico
