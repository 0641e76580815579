// Temperature of the ice, column by column, and the hardness that follows from it. Levels:
// kernels/ice/levels.hpp; velocities and strain heating: kernels/ice/velocity3d.hpp; exact
// solution: kernels/ice/robin.hpp.
//
//   T_t + u T_x + v T_y + w T_z = (k/(rho c)) T_zz + Sigma/(rho c),   w: velocity across the levels
//
//   T_s ~~~~~~~~~~~ z = H      Points: the n levels in the ice, and the surface, where T = T_s (at
//   most 273.15 K).
//        o  T_{n-1}            Horizontal terms: explicit, upwind, at the same height above the
//        base; nothing enters from an o                     ice-free neighbour. Vertical terms:
//        implicit, one tridiagonal system per column. o  T_1                Control volume of a
//        level: half way to its neighbours; that of level 0 ends at the base.
//   ==== o  T_0 ==== z = 0     Base: heat flux G enters (grounded); T = T_pm (floating).
//          ^ G
//
// Vertical advection blends centred and upwind differences, T_z = lambda centred + (1 - lambda)
// upwind, lambda = min(1, 2k/(|w| rho c dz)), dz the longer of the two intervals: no off-diagonal
// entry is ever positive, so no new extremes appear. Ice above its melting point T_pm = 273.15
// - 7.9e-8 p is set back to it; the heat goes into melting ice, which is counted (as metres of ice)
// and may be given to the mass balance by the caller.
#pragma once

#include "kernels/grid/sums.hpp"
#include "kernels/ice/column_pack.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ice/levels.hpp"
#include "kernels/ice/robin.hpp"

namespace nunatak {

/// Heights half way between the points around level k of n: its control volume.
KOKKOS_INLINE_FUNCTION double control_volume(const Column& z, int n, double H, int k) {
  const double above = k + 1 < n ? z(k + 1) : H, below = k > 0 ? z(k - 1) : z(k);
  return 0.5 * (above - below);
}

/// What was set back to the melting point: sums over the cells of a patch.
struct MeltedInside {
  FixedSum ice;            ///< metres of ice melted by the heat removed
  std::int64_t points = 0; ///< levels set back
  KOKKOS_INLINE_FUNCTION MeltedInside& operator+=(const MeltedInside& other) {
    ice += other.ice;
    points += other.points;
    return *this;
  }
};

/// The packs of columns that cover the owned cells, (j, number in the row): the first of them has i
/// = 1 + columns_at_once * number.
inline Cells packs_of(const Patch& p) {
  return {1, p.ym + 1, 0, (p.xm + columns_at_once - 1) / columns_at_once};
}

/// Asks the memory for a pack of columns from (j, i) on, in time for the next turn of a loop over
/// packs: hardware does not foresee a row of columns of which only the levels in the ice are read.
template <class View>
KOKKOS_INLINE_FUNCTION void prefetch_pack(const View& a, int j, int i, int end) {
  if constexpr (!levels_apart) {
    const int columns = end - i < columns_at_once ? end - i : columns_at_once,
              size = columns * static_cast<int>(a.extent(2));
    prefetch(&a(j, i, 0), size);
  }
}

/// T_new: temperature (K) after a step dt (s), in owned cells; melted: metres of ice melted inside
/// each column in this step. Needs ghosts of T and mask. Of the owned cells: H (m), surface
/// temperature T_s (K), heat flux into the base G (W m-2: geothermal, plus friction if the caller
/// adds it), u, v, w (m s-1), heating (W m-7, see velocity3d.hpp). Columns without ice, and levels
/// above the ice, get the surface temperature. held: 0, or the temperature that a column without
/// ice has in T and in T_new, which the caller swaps: while that does not change, nobody need write
/// them. Stable for dt <= min 1/(|u|/dx + |v|/dy); u is largest at the surface or at the base
/// (advection_rate of both).
inline MeltedInside
temperature_step(const Patch& patch, double dx, double dy, double dt, const Levels& levels,
                 const Array2<double>& H, const Array2<int>& mask, const Array2<double>& T_s,
                 const Array2<double>& G, const Array3<double>& u, const Array3<double>& v,
                 const Array3<double>& w, const Array2<double>& heating, const Array3<double>& T,
                 const Array3<double>& T_new, const Array2<double>& melted,
                 const Array2<double>& held, const Later<MeltedInside>& later = {}) {
  const Column z = levels.z;
  const int Mz = levels.size(), end = patch.xm + 1;
  const double dt_x = dt / dx, dt_y = dt / dy, dt_heat = dt / (rho_ice * ice_c);
  return reduce_over<MeltedInside>(
      "temperature", packs_of(patch), later, KOKKOS_LAMBDA(int j, int n_pack, MeltedInside& local) {
        ColumnPack pack;
        const int i0 = 1 + columns_at_once * n_pack,
                  columns = end - i0 < columns_at_once ? end - i0 : columns_at_once;
        bool ice = false;
        int guess = 1;
        for (int p = 0; p < columns; ++p) {
          const int i = i0 + p, type = mask(j, i);
          pack.T_s[p] = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
          if (!icy(type)) continue;
          ice = true;
          pack.H[p] = H(j, i), pack.G[p] = G(j, i), pack.floating[p] = type == floating_ice;
          pack.n[p] = guess = levels_in_ice(z, H(j, i), guess);
          // a neighbour without ice is replaced by the column itself: nothing comes from there
          const auto neighbour = [&](int J, int I) {
            const bool ice_there = icy(mask(j + J, i + I));
            return levels_of_cell(T, ice_there ? j + J : j, ice_there ? i + I : i);
          };
          const ColumnFields fields{
              levels_of_cell(T, j, i), neighbour(0, -1),        neighbour(0, 1),
              neighbour(-1, 0),        neighbour(1, 0),         levels_of_cell(u, j, i),
              levels_of_cell(v, j, i), levels_of_cell(w, j, i), heating(j, i)};
          add_explicit_terms(fields, z.data(), dt_x, dt_y, dt_heat, p, pack);
        }
        if (const int next = i0 + columns_at_once; ice && next < end) {
          prefetch_pack(T, j + 1, next, end), prefetch_pack(u, j, next, end);
          prefetch_pack(v, j, next, end), prefetch_pack(w, j, next, end);
        }
        if (ice) solve_columns(Mz, z.data(), dt, pack);
        for (int p = 0; p < columns; ++p) {
          const int i = i0 + p, n = pack.n[p];
          if (n == 0 && held(j, i) == pack.T_s[p]) continue;
          held(j, i) = n == 0 ? pack.T_s[p] : 0.0;
          double melt = 0.0;
          for (int k = 0; k < n; ++k) {
            const double excess = pack.T[k][p] - pressure_melting(pack.H[p] - z(k));
            T_new(j, i, k) = excess > 0.0 ? pack.T[k][p] - excess : pack.T[k][p];
            if (excess <= 0.0) continue;
            melt += ice_c / latent_heat * excess * control_volume(z, n, pack.H[p], k);
            local.points += 1;
          }
          melted(j, i) = melt;
          local.ice.add(melt);
          for (int k = n; k < Mz; ++k) T_new(j, i, k) = pack.T_s[p];
          for (int k = 0; n == 0 && k < Mz; ++k)
            T(j, i, k) = pack.T_s[p]; // which no other column reads
        }
      });
}

/// In metres of ice per second, from kg m-2 s-1. Owned cells.
inline void in_metres_of_ice(const Patch& patch, const Array2<double>& mass_balance,
                             const Array2<double>& balance) {
  for_each_cell(
      "surface balance in metres of ice", patch,
      KOKKOS_LAMBDA(int j, int i) { balance(j, i) = mass_balance(j, i) / rho_ice; });
}

/// A temperature to start from, at height z of ice of thickness H, never above the melting point.
/// Accumulation a (m s-1).
///   grounded  Robin's steady column; the straight line of conduction if a <= 0
///   floating  steady column that sinks with the speed a at every height, from T_s to the melting
///   point of the base:
///             T = T_s + (T_pm - T_s) (e^(-P z/H) - e^-P)/(1 - e^-P), P = a H/kappa; a straight
///             line if a <= 0
KOKKOS_INLINE_FUNCTION double initial_temperature(double z, double H, bool floating, double a,
                                                  double T_s, double G) {
  const double top = T_s < T_melting ? T_s : T_melting;
  const double P = a * H * (rho_ice * ice_c / ice_k), end = elementary::exp(-P);
  const double share = P > 1e-4 ? (elementary::exp(-P * (z / H)) - end) / (1.0 - end) : (H - z) / H;
  const double T =
      floating ? top + (pressure_melting(H) - top) * share : exact::robin(z, H, a, top, G);
  const double T_pm = pressure_melting(H - z);
  return T < T_pm ? T : T_pm;
}

/// The same for all columns, in owned cells (no ghosts needed); T_s where there is no ice and above
/// it.
inline void initial_temperature(const Patch& patch, const Levels& levels, const Array2<double>& H,
                                const Array2<int>& mask, const Array2<double>& T_s,
                                const Array2<double>& a, const Array2<double>& G,
                                const Array3<double>& T) {
  const Column z = levels.z;
  const int Mz = levels.size();
  for_each_cell(
      "initial temperature", patch, KOKKOS_LAMBDA(int j, int i) {
        const int n = icy(mask(j, i)) ? levels_in_ice(z, H(j, i)) : 0;
        for (int k = 0; k < n; ++k) {
          T(j, i, k) = initial_temperature(z(k), H(j, i), mask(j, i) == floating_ice, a(j, i),
                                           T_s(j, i), G(j, i));
        }
        for (int k = n; k < Mz; ++k) T(j, i, k) = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
      });
}

/// Depth-averaged hardness B (Pa s^(1/3); trapezoidal rule over the levels in the ice and the
/// surface) in owned cells. No ghosts needed.
inline void update_hardness(const Patch& patch, const Levels& levels, const Array2<double>& H,
                            const Array2<double>& T_s, const Array3<double>& T,
                            const Array2<double>& B) {
  const Column z = levels.z;
  const int end = patch.xm + 1;
  for_each_of(
      "hardness", packs_of(patch), KOKKOS_LAMBDA(int j, int n_pack) {
        const int i0 = 1 + columns_at_once * n_pack;
        HardnessPack pack;
        pack.columns = end - i0 < columns_at_once ? end - i0 : columns_at_once;
        int guess = 1;
        bool ice = false;
        for (int p = 0; p < pack.columns; ++p) {
          const int i = i0 + p;
          pack.T[p] = levels_of_cell(T, j, i);
          pack.H[p] = H(j, i), pack.T_s[p] = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
          pack.n[p] = 0;
          if (!(pack.H[p] > 0.0)) continue;
          ice = true;
          pack.n[p] = guess = levels_in_ice(z, pack.H[p], guess);
        }
        if (ice && i0 + columns_at_once < end) prefetch_pack(T, j, i0 + columns_at_once, end);
        mean_hardness(pack, z.data(), &B(j, i0));
      });
}

} // namespace nunatak
