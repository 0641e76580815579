// The loops over the levels of a few columns side by side: what kernels/ice/columns.hpp does with
// the points of a column. Where one column waits for its division by a pivot, the others go on. On
// a CPU they are compiled by themselves (packs.cpp), for AVX2 and AVX-512, too, and the processor
// chooses: the bits do not depend on the width. On a GPU a thread has one column.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/grid/elementary.hpp"
#include "kernels/grid/widths.hpp"
#include "kernels/ice/levels.hpp"

namespace nunatak {

/// Pressure-melting point (K) at a depth d (m) below the surface of the ice.
KOKKOS_INLINE_FUNCTION double pressure_melting(double d) {
  return T_melting - clausius_clapeyron * rho_ice * gravity * d;
}

constexpr int columns_at_once = loops_on_host ? 8 : 1;

/// Columns, [level][column], and what is around them. A column without ice has n = 0 and H = 0.
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

/// What the explicit part of a step reads, of one column: its temperature (K) and that of its
/// neighbours (left, right, below, above in the map), velocity (m s-1) and strain heating over (H -
/// z)^4 (W m-7).
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
    const double here = a.T[k], from_l = here - a.l[k], from_r = a.r[k] - here,
                 from_b = here - a.b[k], from_t = a.t[k] - here;
    const double T_x = a.u[k] > 0.0 ? from_l : from_r, T_y = a.v[k] > 0.0 ? from_b : from_t;
    const double d = H - z[k], heat = a.heating * (d * d * d * d) * dt_heat;
    pack.T[k][p] = here + (heat - (a.u[k] * T_x * dt_x + a.v[k] * T_y * dt_y));
    pack.w[k][p] = a.w[k];
  }
}

KOKKOS_FORCEINLINE_FUNCTION bool are_numbers(const double* x, int n) {
  constexpr std::int64_t largest = 0x7fefffffffffffff;
  std::int64_t seen = 0; // its sign: one is infinite or no number
  for (int k = 0; k < n; ++k) seen |= largest - Kokkos::bit_cast<std::int64_t>(Kokkos::abs(x[k]));
  return seen >= 0;
}

KOKKOS_FORCEINLINE_FUNCTION void solve_columns(int Mz, const double* z, double dt,
                                               ColumnPack& pack) {
  constexpr double kappa = ice_k / (rho_ice * ice_c);
  constexpr int P = ColumnPack::P;
  int levels = 0;
  for (int p = 0; p < P; ++p) levels = pack.n[p] > levels ? pack.n[p] : levels;
  double dz_top[P], per_top[P], per_top_span[P],
      above[P]; // of the interval up to the surface, and with the one below
  for (int p = 0; p < P; ++p) {
    const int n = pack.n[p];
    for (int k = n; k < levels; ++k) pack.T[k][p] = pack.T_s[p], pack.w[k][p] = 0.0;
    above[p] = pack.T_s[p];
    dz_top[p] = n > 0 ? pack.H[p] - z[n - 1] : 1.0;
    per_top[p] = 1.0 / dz_top[p],
    per_top_span[p] = 1.0 / ((n > 1 ? z[n - 1] - z[n - 2] : 0.0) + dz_top[p]);
    double upper = 0.0; // the rows sum to 1: all terms but T_t are derivatives
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
    const double per_below = 1.0 / dz_below, per_next = 1.0 / dz_next,
                 per_next_span = 1.0 / (dz_below + dz_next);
    const double *w = pack.w[k], *T_below = pack.T[k - 1], *c_below = pack.c[k - 1];
    double *T = pack.T[k], *c = pack.c[k];
    NUNATAK_INDEPENDENT
    for (int p = 0; p < P; ++p) {
      const bool in_ice = z_here < pack.H[p], next_too = z_next < pack.H[p];
      const double per_above = next_too ? per_next : per_top[p],
                   per_span = next_too ? per_next_span : per_top_span[p];
      const double dz_above = next_too ? dz_next : dz_top[p],
                   dz = dz_below > dz_above ? dz_below : dz_above;
      const double speed = Kokkos::abs(w[p]) * dz,
                   lambda = 2.0 * kappa / (speed > 2.0 * kappa ? speed : 2.0 * kappa);
      const double diffusion = 2.0 * kappa * dt * per_span, advection = dt * w[p],
                   centred = lambda * per_span;
      const double upwind_below = (1.0 - lambda) * per_below,
                   upwind_above = (1.0 - lambda) * per_above;
      const double to_below = -diffusion * per_below -
                              advection * (centred + (w[p] > 0.0 ? upwind_below : 0.0)),
                   to_above = -diffusion * per_above +
                              advection * (centred + (w[p] < 0.0 ? upwind_above : 0.0));
      const double lower = in_ice ? to_below : 0.0,
                   upper = in_ice ? to_above : 0.0; // above the ice T = T_s
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
/// and Budd 1982); B = A0^(-1/3) exp(Q/(3 R T*)). T* above 8 K.
KOKKOS_FORCEINLINE_FUNCTION double paterson_budd_hardness(double T_star) {
  constexpr double R = 8.314; // J mol-1 K-1
  const bool cold = T_star < 263.15;
  const double exponent = (cold ? 6.0e4 / (3.0 * R) : 13.9e4 / (3.0 * R)) / T_star;
  return (cold ? 14044.21920379971 : 0.083301207912519423) * elementary::moderate_exp(exponent);
}

/// Temperature columns (K), and what is around them; n: levels in the ice, none without ice.
struct HardnessPack {
  LevelsOf<const double> T[columns_at_once];
  double H[columns_at_once], T_s[columns_at_once]; ///< m, K
  int n[columns_at_once], columns;
};

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION void mean_hardness(const HardnessPack& pack, const double* z,
                                               double* mean) {
  double x[columns_at_once * (max_levels + 1)]; // of the columns, one after another: T*, then B, of
                                                // levels and surface
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
    double sum = 0.0; // by itself: the chains of additions of two columns overlap
    for (int k = 0; k < top; ++k) sum += b[k];
    mean[p] = n == 0 ? b[0] : (sum + 0.5 * (b[top] + b[n]) * (pack.H[p] - z[top])) / pack.H[p];
    b += n + 1;
  }
}
} // namespace detail

// add_explicit_terms: pack.T and pack.w of column p, the temperature with strain heating and what
// comes from the neighbours in a step: dt_x = dt/dx, dt_heat = dt/(rho c). solve_columns: one
// implicit step of vertical diffusion and advection over dt (s), on levels z[0..Mz-1]. pack.T: on
// entry with all explicit terms in the ice, on exit the solution there, and T_s above it up to the
// highest level of the pack. are_numbers: none of n is infinite or NaN. mean_hardness: B of each
// column of the pack by the trapezoidal rule over its levels in the ice and the surface; that of
// the surface where n = 0.
NUNATAK_WIDE(void, add_explicit_terms,
             (const ColumnFields& f, const double* z, double dt_x, double dt_y, double dt_heat,
              int p, ColumnPack& pack),
             (f, z, dt_x, dt_y, dt_heat, p, pack))
NUNATAK_WIDE(void, solve_columns, (int Mz, const double* z, double dt, ColumnPack& pack),
             (Mz, z, dt, pack))
NUNATAK_WIDE(bool, are_numbers, (const double* x, int n), (x, n))
NUNATAK_WIDE(void, mean_hardness, (const HardnessPack& pack, const double* z, double* mean),
             (pack, z, mean))

} // namespace nunatak
