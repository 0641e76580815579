// The implicit step of kernels/ice/columns.hpp in one column.
#pragma once

#include "kernels/ice/columns.hpp"

namespace nunatak {

/// The last of a pack whose other columns have no ice. T: n levels, on entry with all explicit
/// terms, on exit the solution.
inline void solve_column(const Levels& levels, int n, double H, double dt, double T_s,
                         bool floating, double G, const double* w, double* T) {
  ColumnPack pack;
  const int p = columns_at_once - 1;
  pack.H[p] = H, pack.T_s[p] = T_s, pack.G[p] = G, pack.n[p] = n, pack.floating[p] = floating;
  for (int k = 0; k < n; ++k) pack.T[k][p] = T[k], pack.w[k][p] = w[k];
  solve_columns(levels.size(), levels.z_host.data(), dt, pack);
  for (int k = 0; k < n; ++k) T[k] = pack.T[k][p];
}

} // namespace nunatak
