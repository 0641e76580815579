// The temperature step of kernels/ice/columns.hpp: implicit in a column, whole on a patch.
#pragma once

#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/ice/columns.hpp"

#include <utility>

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

/// The fields of a temperature step on one patch: grounded ice; the rest is 0.
struct Columns {
  VirtualRanks ranks;
  Patch patch = ranks.patch(0);
  Levels levels;
  double dx;
  Array2<double> H, T_s, G, melted, heating, held;
  Array2<int> mask;
  Array3<double> u, v, w, T, T_new;

  Columns(Decomposition d, Levels l, double spacing)
      : ranks(std::move(d)), levels(std::move(l)), dx(spacing) {
    for (auto* a : {&H, &T_s, &G, &melted, &heating, &held}) *a = make_array<double>("a", patch);
    for (auto* a : {&u, &v, &w, &T, &T_new}) *a = make_columns<double>("a", patch, levels.size());
    mask = make_array<int>("mask", patch);
    Kokkos::deep_copy(mask, static_cast<int>(grounded_ice));
  }
  MeltedInside step(double dt) {
    ranks.update_ghosts({{T, mask}});
    return temperature_step(patch, dx, dx, dt, levels, H, mask, T_s, G, u, v, w, heating, T, T_new,
                            melted, held);
  }
  int n(int j, int i) const { return levels_in_ice(levels.z, H(j, i)); }
  double volume(int j, int i, int k) const { return control_volume(levels.z, n(j, i), H(j, i), k); }
};

} // namespace nunatak
