// Temperature of the ice, column by column, and the hardness. Exact solution: robin.hpp.
//
//   T_t + u T_x + v T_y + w T_z = (k/(rho c)) T_zz + Sigma/(rho c),   w: velocity across the levels
//
//  T_s ~~~~~~~~~~~ z = H    Points: the n levels in the ice, and the surface, where T = T_s (at
//       o  T_{n-1}          most 273.15 K). Horizontal terms: explicit, upwind, at the same height
//       o                   above the base; nothing enters from an ice-free neighbour. Vertical
//       o  T_1              terms: implicit, one tridiagonal system per column. Control volume of a
//  ==== o  T_0 ==== z = 0   level: half way to its neighbours; that of level 0 ends at the base.
//         ^ G               Base: heat flux G enters (grounded); T = T_pm (floating).
//
// Vertical advection blends centred and upwind differences, T_z = lambda centred + (1 - lambda)
// upwind, lambda = min(1, 2k/(|w| rho c dz)), dz the longer of the two intervals: no off-diagonal
// entry is positive, so no new extremes appear. Ice above its melting point T_pm = 273.15 - 7.9e-8
// p is set back to it; the excess heat melts ice, which is counted (metres of ice) and which the
// caller may give to the mass balance.
//
// The loops over levels process a few columns together to hide the latency of divisions by pivots.
// On a CPU they are compiled for several widths (packs.cpp, kernels/grid/widths.hpp) with the same
// bits. On a GPU a thread has one column.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/grid/elementary.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/grid/widths.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ice/levels.hpp"
#include "kernels/ice/robin.hpp"

namespace nunatak {

/// Pressure-melting point (K) at a depth d (m) below the surface of the ice.
KOKKOS_INLINE_FUNCTION double pressure_melting(double d) {
  return T_melting - clausius_clapeyron * rho_ice * gravity * d;
}

constexpr int columns_at_once = loops_on_host ? 8 : 1;

/// A pack of columns, [level][column], with boundary values. Ice-free columns: n = 0, H = 0.
struct ColumnPack {
  static constexpr int P = columns_at_once;
  double T[max_levels][P]; ///< temperature, K
  double w[max_levels][P]; ///< velocity across the levels, m s-1
  double c[max_levels][P]; ///< Thomas algorithm: upper diagonal divided by the pivots
  double H[P] = {};        ///< thickness, m
  double T_s[P] = {};      ///< temperature of the surface, K
  double G[P] = {};        ///< heat flux into the base of grounded ice, W m-2
  int n[P] = {};           ///< levels in the ice
  bool floating[P] = {};
};

/// Input of the explicit part of a step in one column: temperature (K), also of the left, right,
/// lower and upper neighbours, velocity (m s-1), strain heating over (H - z)^4 (W m-7).
struct ColumnFields {
  LevelsOf<const double> T, l, r, b, t, u, v, w;
  double heating;
};

namespace detail {

KOKKOS_FORCEINLINE_FUNCTION void add_explicit_terms(const ColumnFields& f, const double* z,
                                                    double dt_x, double dt_y, double dt_heat, int p,
                                                    ColumnPack& pack) {
  const ColumnFields a = f;
  const double H = pack.H[p];
  const int n = pack.n[p];
  NUNATAK_INDEPENDENT
  for (int k = 0; k < n; ++k) {
    const double here = a.T[k];
    const double from_l = here - a.l[k];
    const double from_r = a.r[k] - here;
    const double from_b = here - a.b[k];
    const double from_t = a.t[k] - here;
    const double T_x = a.u[k] > 0.0 ? from_l : from_r, T_y = a.v[k] > 0.0 ? from_b : from_t;
    const double d = H - z[k], heat = a.heating * (d * d * d * d) * dt_heat;
    pack.T[k][p] = here + (heat - (a.u[k] * T_x * dt_x + a.v[k] * T_y * dt_y));
    pack.w[k][p] = a.w[k];
  }
}

KOKKOS_FORCEINLINE_FUNCTION bool all_finite(const double* x, int n) {
  constexpr std::int64_t largest = 0x7fefffffffffffff;
  std::int64_t seen = 0; // negative if one is infinite or NaN
  for (int k = 0; k < n; ++k) seen |= largest - Kokkos::bit_cast<std::int64_t>(Kokkos::abs(x[k]));
  return seen >= 0;
}

KOKKOS_FORCEINLINE_FUNCTION void solve_columns(int Mz, const double* z, double dt,
                                               ColumnPack& pack) {
  constexpr double kappa = ice_k / (rho_ice * ice_c);
  constexpr int P = ColumnPack::P;
  int levels = 0;
  for (int p = 0; p < P; ++p) levels = pack.n[p] > levels ? pack.n[p] : levels;
  // the interval up to the surface, and its sum with the interval below
  double dz_top[P], per_top[P], per_top_span[P], above[P];
  for (int p = 0; p < P; ++p) {
    const int n = pack.n[p];
    for (int k = n; k < levels; ++k) {
      pack.T[k][p] = pack.T_s[p];
      pack.w[k][p] = 0.0;
    }
    above[p] = pack.T_s[p];
    dz_top[p] = n > 0 ? pack.H[p] - z[n - 1] : 1.0;
    per_top[p] = 1.0 / dz_top[p];
    per_top_span[p] = 1.0 / ((n > 1 ? z[n - 1] - z[n - 2] : 0.0) + dz_top[p]);
    double upper = 0.0; // rows sum to 1: all terms except T_t are derivatives
    if (pack.floating[p]) {
      pack.T[0][p] = pressure_melting(pack.H[p]);
    } else if (n > 0) {
      const double per_above = n > 1 ? 1.0 / (z[1] - z[0]) : per_top[p];
      upper = -2.0 * kappa * dt * (per_above * per_above); // no ice crosses the base
      pack.T[0][p] += 2.0 * dt * pack.G[p] / (rho_ice * ice_c) * per_above;
    }
    const double per_pivot = 1.0 / (1.0 - upper);
    pack.T[0][p] *= per_pivot;
    pack.c[0][p] = upper * per_pivot;
  }
  for (int k = 1; k < levels; ++k) {
    const double z_here = z[k], z_next = k + 1 < Mz ? z[k + 1] : elementary::detail::infinity;
    const double dz_below = z_here - z[k - 1], dz_next = z_next - z_here;
    const double per_below = 1.0 / dz_below;
    const double per_next = 1.0 / dz_next;
    const double per_next_span = 1.0 / (dz_below + dz_next);
    const double *w = pack.w[k], *T_below = pack.T[k - 1], *c_below = pack.c[k - 1];
    double *T = pack.T[k], *c = pack.c[k];
    NUNATAK_INDEPENDENT
    for (int p = 0; p < P; ++p) {
      const bool in_ice = z_here < pack.H[p], next_too = z_next < pack.H[p];
      const double per_above = next_too ? per_next : per_top[p];
      const double per_span = next_too ? per_next_span : per_top_span[p];
      const double dz_above = next_too ? dz_next : dz_top[p];
      const double dz = dz_below > dz_above ? dz_below : dz_above;
      const double speed = Kokkos::abs(w[p]) * dz;
      const double lambda = 2.0 * kappa / (speed > 2.0 * kappa ? speed : 2.0 * kappa);
      const double diffusion = 2.0 * kappa * dt * per_span;
      const double advection = dt * w[p];
      const double centred = lambda * per_span;
      const double upwind_below = (1.0 - lambda) * per_below;
      const double upwind_above = (1.0 - lambda) * per_above;
      const double to_below =
          -diffusion * per_below - advection * (centred + (w[p] > 0.0 ? upwind_below : 0.0));
      const double to_above =
          -diffusion * per_above + advection * (centred + (w[p] < 0.0 ? upwind_above : 0.0));
      const double lower = in_ice ? to_below : 0.0;
      const double upper = in_ice ? to_above : 0.0; // above the ice T = T_s
      const double per_pivot = 1.0 / (1.0 - lower - upper - lower * c_below[p]);
      T[p] = (T[p] - lower * T_below[p]) * per_pivot;
      c[p] = upper * per_pivot;
    }
  }
  for (int k = levels - 1; k >= 0; --k) {
    for (int p = 0; p < P; ++p) above[p] = pack.T[k][p] -= pack.c[k][p] * above[p];
  }
}

} // namespace detail

/// T* (K) of ice of temperature T at a depth d (m).
KOKKOS_INLINE_FUNCTION double relative_to_melting(double T, double d) {
  return T + clausius_clapeyron * rho_ice * gravity * d;
}

/// Hardness B = A^(-1/n) (Pa s^(1/3)) from the temperature T* relative to the melting point (K): A
/// = A0 exp(-Q/(R T*)), A0 = 3.61e-13, Q = 6.0e4 below 263.15 K and 1.73e3, 13.9e4 above (Paterson
/// and Budd 1982); B = A0^(-1/3) exp(Q/(3 R T*)). Requires T* > 8 K.
KOKKOS_FORCEINLINE_FUNCTION double paterson_budd_hardness(double T_star) {
  constexpr double R = 8.314; // J mol-1 K-1
  const bool cold = T_star < 263.15;
  const double exponent = (cold ? 6.0e4 / (3.0 * R) : 13.9e4 / (3.0 * R)) / T_star;
  return (cold ? 14044.21920379971 : 0.083301207912519423) * elementary::moderate_exp(exponent);
}

/// Temperature columns (K) with boundary values; n: levels in the ice, 0 if ice-free.
struct HardnessPack {
  LevelsOf<const double> T[columns_at_once];
  double H[columns_at_once], T_s[columns_at_once]; ///< m, K
  int n[columns_at_once], columns;
};

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION void mean_hardness(const HardnessPack& pack, const double* z,
                                               double* mean) {
  // columns one after another: T*, then B, at the levels and the surface
  double x[columns_at_once * (max_levels + 1)];
  int size = 0;
  for (int p = 0; p < pack.columns; ++p) {
    const auto T = pack.T[p];
    const double H = pack.H[p];
    const int n = pack.n[p];
    NUNATAK_INDEPENDENT
    for (int k = 0; k < n; ++k) x[size + k] = relative_to_melting(T[k], H - z[k]);
    size += n;
    x[size++] = pack.T_s[p];
  }
  NUNATAK_INDEPENDENT
  for (int k = 0; k < size; ++k) x[k] = paterson_budd_hardness(x[k]);
  double* b = x;
  for (int p = 0; p < pack.columns; ++p) {
    const int n = pack.n[p], top = n - 1;
    NUNATAK_INDEPENDENT
    for (int k = 0; k < top; ++k) b[k] = 0.5 * (b[k] + b[k + 1]) * (z[k + 1] - z[k]);
    double sum = 0.0; // a separate loop: the addition chains of two columns overlap
    for (int k = 0; k < top; ++k) sum += b[k];
    mean[p] = n == 0 ? b[0] : (sum + 0.5 * (b[top] + b[n]) * (pack.H[p] - z[top])) / pack.H[p];
    b += n + 1;
  }
}
} // namespace detail

// add_explicit_terms: pack.T and pack.w of column p, the temperature after strain heating and
// horizontal advection over a step; dt_x = dt/dx, dt_heat = dt/(rho c).
// solve_columns: one implicit step of vertical diffusion and advection over dt (s), on levels
// z[0..Mz-1]. pack.T: on entry with all explicit terms in the ice, on exit the solution there, and
// T_s above it up to the highest level of the pack.
// all_finite: all n values are.
// mean_hardness: B of each column by the trapezoidal rule over its levels in the ice and the
// surface; the value at the surface where n = 0.
NUNATAK_WIDE(void, add_explicit_terms,
             (const ColumnFields& f, const double* z, double dt_x, double dt_y, double dt_heat,
              int p, ColumnPack& pack),
             (f, z, dt_x, dt_y, dt_heat, p, pack))
NUNATAK_WIDE(void, solve_columns, (int Mz, const double* z, double dt, ColumnPack& pack),
             (Mz, z, dt, pack))
NUNATAK_WIDE(bool, all_finite, (const double* x, int n), (x, n))
NUNATAK_WIDE(void, mean_hardness, (const HardnessPack& pack, const double* z, double* mean),
             (pack, z, mean))

/// Height of the control volume of level k of n.
KOKKOS_INLINE_FUNCTION double control_volume(const Column& z, int n, double H, int k) {
  const double above = k + 1 < n ? z(k + 1) : H, below = k > 0 ? z(k - 1) : z(k);
  return 0.5 * (above - below);
}

/// Ice set back to the melting point: sums over the cells of a patch.
struct MeltedInside {
  FixedSum ice;            ///< metres of ice melted by the heat removed
  std::int64_t points = 0; ///< levels set back
  KOKKOS_INLINE_FUNCTION MeltedInside& operator+=(const MeltedInside& o) {
    return add_each(*this, o, &MeltedInside::ice, &MeltedInside::points);
  }
};

/// The packs of columns of the owned cells, (j, n): the first column is i = 1 + columns_at_once *
/// n.
inline Cells packs_of(const Patch& p) {
  return {1, p.ym + 1, 0, (p.xm + columns_at_once - 1) / columns_at_once};
}

/// Prefetches the pack of columns from (j, i) on for the next iteration of a loop over packs:
/// hardware does not predict columns of which only the levels in the ice are read.
template <class View>
KOKKOS_INLINE_FUNCTION void prefetch_pack(const View& a, int j, int i, int end) {
  if constexpr (!levels_apart) {
    const int columns = end - i < columns_at_once ? end - i : columns_at_once;
    const int size = columns * static_cast<int>(a.extent(2));
    prefetch(&a(j, i, 0), size);
  }
}

/// T_new: temperature (K) after a step dt (s), in owned cells; melted: metres of ice melted inside
/// each column. Needs ghosts of T and mask. Of the owned cells: H (m), surface temperature T_s (K),
/// heat flux into the base G (W m-2: geothermal, plus friction if the caller adds it), u, v, w (m
/// s-1), heating (W m-7, see velocity3d.hpp). Ice-free columns, and levels above the ice, get T_s.
/// held: 0, or the temperature that ice-free columns already have in T and in T_new, which the
/// caller swaps: they are rewritten only if it changes. Stable for dt <= min 1/(|u|/dx + |v|/dy); u
/// is largest at the surface or at the base (advection_rate of both).
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
        const int i0 = 1 + columns_at_once * n_pack;
        const int columns = end - i0 < columns_at_once ? end - i0 : columns_at_once;
        bool ice = false;
        int guess = 1;
        for (int p = 0; p < columns; ++p) {
          const int i = i0 + p, type = mask(j, i);
          pack.T_s[p] = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
          if (!icy(type)) continue;
          ice = true;
          pack.H[p] = H(j, i);
          pack.G[p] = G(j, i);
          pack.floating[p] = type == floating_ice;
          pack.n[p] = guess = levels_in_ice(z, H(j, i), guess);
          // an ice-free neighbour is replaced by the column itself: no advection from there
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
          prefetch_pack(T, j + 1, next, end);
          prefetch_pack(u, j, next, end);
          prefetch_pack(v, j, next, end);
          prefetch_pack(w, j, next, end);
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
            T(j, i, k) = pack.T_s[p]; // no other column reads it
        }
      });
}

/// Converts kg m-2 s-1 to metres of ice per second, in owned cells.
inline void in_metres_of_ice(const Patch& patch, const Array2<double>& mass_balance,
                             const Array2<double>& balance) {
  for_each_cell(
      "surface balance in metres of ice", patch,
      KOKKOS_LAMBDA(int j, int i) { balance(j, i) = mass_balance(j, i) / rho_ice; });
}

/// Initial temperature at height z in ice of thickness H, never above the melting point.
/// Accumulation a (m s-1).
///   grounded  Robin's steady column; the straight line of conduction if a <= 0
///   floating  steady column that sinks with the speed a, from T_s to the basal melting point:
///             T = T_s + (T_pm - T_s) (e^(-P z/H) - e^-P)/(1 - e^-P),  P = a H/kappa;
///             a straight line if a <= 0
KOKKOS_INLINE_FUNCTION double initial_temperature(double z, double H, bool floating, double a,
                                                  double T_s, double G) {
  const double top = T_s < T_melting ? T_s : T_melting;
  const double P = a * H * (rho_ice * ice_c / ice_k), end = elementary::exp(-P);
  const double weight =
      P > 1e-4 ? (elementary::exp(-P * (z / H)) - end) / (1.0 - end) : (H - z) / H;
  const double T =
      floating ? top + (pressure_melting(H) - top) * weight : exact::robin(z, H, a, top, G);
  const double T_pm = pressure_melting(H - z);
  return T < T_pm ? T : T_pm;
}

/// The same for all columns, in owned cells; T_s above the ice and where there is none.
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

/// Depth-averaged hardness B (Pa s^(1/3); trapezoidal rule, surface included) in owned cells.
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
          pack.H[p] = H(j, i);
          pack.T_s[p] = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
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
