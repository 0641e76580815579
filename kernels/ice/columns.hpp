// Temperature of the ice, column by column, and the hardness that follows from it. Levels: kernels/ice/levels.hpp; velocities and
// strain heating: kernels/ice/velocity3d.hpp; exact solution: kernels/ice/robin.hpp.
//
//   T_t + u T_x + v T_y + w T_z = (k/(rho c)) T_zz + Sigma/(rho c),   w: velocity across the levels
//
//   T_s ~~~~~~~~~~~ z = H      Points: the n levels in the ice, and the surface, where T = T_s (at most 273.15 K).
//        o  T_{n-1}            Horizontal terms: explicit, upwind, at the same height above the base; nothing enters from an
//        o                     ice-free neighbour. Vertical terms: implicit, one tridiagonal system per column.
//        o  T_1                Control volume of a level: half way to its neighbours; that of level 0 ends at the base.
//   ==== o  T_0 ==== z = 0     Base: heat flux G enters (grounded); T = T_pm (floating).
//          ^ G
//
// Vertical advection blends centred and upwind differences, T_z = lambda centred + (1 - lambda) upwind,
// lambda = min(1, 2k/(|w| rho c dz)), dz the longer of the two intervals: no off-diagonal entry is ever positive, so no new
// extremes appear. Ice above its melting point T_pm = 273.15 - 7.9e-8 p is set back to it; the heat goes into melting ice, which
// is counted (as metres of ice) and may be given to the mass balance by the caller.
#pragma once

#include "kernels/grid/elementary.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ice/levels.hpp"
#include "kernels/ice/robin.hpp"

namespace nunatak {

/// Pressure-melting point (K) at a depth d (m) below the surface of the ice.
KOKKOS_INLINE_FUNCTION double pressure_melting(double d) { return T_melting - clausius_clapeyron * rho_ice * gravity * d; }

/// One implicit step of vertical diffusion and advection in a column of n levels. T: on entry the temperature (K) with all
/// explicit terms added, on exit the solution. w (m s-1), dt (s), G (W m-2, into the base of grounded ice).
KOKKOS_INLINE_FUNCTION void solve_column(const Column& z, int n, double H, double dt, double T_s, bool floating, double G,
                                         const double* w, double* T) {
  constexpr double kappa = ice_k / (rho_ice * ice_c);
  double c[max_levels]; // Thomas algorithm: upper diagonal divided by the pivots
  double dz_below = 0.0, per_below = 0.0;
  for (int k = 0; k < n; ++k) {
    const double dz_above = (k + 1 < n ? z(k + 1) : H) - z(k), per_above = 1.0 / dz_above;
    double lower = 0.0, upper = 0.0; // the rows sum to 1: all terms but T_t are derivatives
    if (k == 0 && floating) {
      T[0] = pressure_melting(H);
    } else if (k == 0) {
      upper = -2.0 * kappa * dt * (per_above * per_above); // no ice crosses the base
      T[0] += 2.0 * dt * G / (rho_ice * ice_c) * per_above;
    } else {
      const double per_span = 1.0 / (dz_below + dz_above), dz = dz_below > dz_above ? dz_below : dz_above;
      const double speed = Kokkos::abs(w[k]) * dz, lambda = speed > 2.0 * kappa ? 2.0 * kappa / speed : 1.0;
      const double diffusion = 2.0 * kappa * dt * per_span, advection = dt * w[k], centred = lambda * per_span;
      lower = -diffusion * per_below - advection * (centred + (w[k] > 0.0 ? (1.0 - lambda) * per_below : 0.0));
      upper = -diffusion * per_above + advection * (centred + (w[k] < 0.0 ? (1.0 - lambda) * per_above : 0.0));
    }
    const double per_pivot = 1.0 / (1.0 - lower - upper - (k > 0 ? lower * c[k - 1] : 0.0));
    T[k] = (T[k] - (k > 0 ? lower * T[k - 1] : 0.0)) * per_pivot;
    c[k] = upper * per_pivot;
    dz_below = dz_above, per_below = per_above;
  }
  double above = T_s;
  for (int k = n - 1; k >= 0; --k) above = T[k] -= c[k] * above;
}

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

/// T_new: temperature (K) after a step dt (s), in owned cells; melted: metres of ice melted inside each column in this step.
/// Needs ghosts of T and mask. Of the owned cells: H (m), surface temperature T_s (K), heat flux into the base G (W m-2:
/// geothermal, plus friction if the caller adds it), u, v, w (m s-1), sigma (W m-3).
/// Columns without ice, and levels above the ice, get the surface temperature.
/// Stable for dt <= min 1/(|u|/dx + |v|/dy); u is largest at the surface or at the base (advection_rate of both).
inline MeltedInside temperature_step(const Patch& patch, double dx, double dy, double dt, const Levels& levels,
                                     const Array2<double>& H, const Array2<int>& mask, const Array2<double>& T_s,
                                     const Array2<double>& G, const Array3<double>& u, const Array3<double>& v,
                                     const Array3<double>& w, const Array3<double>& sigma, const Array3<double>& T,
                                     const Array3<double>& T_new, const Array2<double>& melted) {
  const Column z = levels.z;
  const int Mz = levels.size();
  const double dt_x = dt / dx, dt_y = dt / dy, dt_heat = dt / (rho_ice * ice_c);
  return reduce_over<MeltedInside>(
      "temperature", owned_cells(patch), KOKKOS_LAMBDA(int j, int i, MeltedInside& local) {
        const double top = T_s(j, i) < T_melting ? T_s(j, i) : T_melting, thickness = H(j, i);
        const int n = icy(mask(j, i)) ? levels_in_ice(z, thickness) : 0;
        const bool from_l = icy(mask(j, i - 1)), from_r = icy(mask(j, i + 1)), from_b = icy(mask(j - 1, i)),
                   from_t = icy(mask(j + 1, i));
        for (int k = 0; k < n; ++k) {
          const double here = T(j, i, k);
          const double T_x = u(j, i, k) > 0.0 ? (from_l ? here - T(j, i - 1, k) : 0.0) : (from_r ? T(j, i + 1, k) - here : 0.0);
          const double T_y = v(j, i, k) > 0.0 ? (from_b ? here - T(j - 1, i, k) : 0.0) : (from_t ? T(j + 1, i, k) - here : 0.0);
          T_new(j, i, k) = here + (sigma(j, i, k) * dt_heat - (u(j, i, k) * T_x * dt_x + v(j, i, k) * T_y * dt_y));
        }
        if (n > 0) solve_column(z, n, thickness, dt, top, mask(j, i) == floating_ice, G(j, i), &w(j, i, 0), &T_new(j, i, 0));
        double melt = 0.0;
        for (int k = 0; k < n; ++k) {
          const double excess = T_new(j, i, k) - pressure_melting(thickness - z(k));
          if (excess <= 0.0) continue;
          melt += ice_c / latent_heat * excess * control_volume(z, n, thickness, k);
          T_new(j, i, k) -= excess;
          local.points += 1;
        }
        melted(j, i) = melt;
        local.ice.add(melt);
        for (int k = n; k < Mz; ++k) T_new(j, i, k) = top;
      });
}

/// A temperature to start from, at height z of ice of thickness H, never above the melting point. Accumulation a (m s-1).
///   grounded  Robin's steady column; the straight line of conduction if a <= 0
///   floating  steady column that sinks with the speed a at every height, from T_s to the melting point of the base:
///             T = T_s + (T_pm - T_s) (e^(-P z/H) - e^-P)/(1 - e^-P), P = a H/kappa; a straight line if a <= 0
KOKKOS_INLINE_FUNCTION double initial_temperature(double z, double H, bool floating, double a, double T_s, double G) {
  const double top = T_s < T_melting ? T_s : T_melting;
  const double P = a * H * (rho_ice * ice_c / ice_k), end = elementary::exp(-P);
  const double share = P > 1e-4 ? (elementary::exp(-P * (z / H)) - end) / (1.0 - end) : (H - z) / H;
  const double T = floating ? top + (pressure_melting(H) - top) * share : exact::robin(z, H, a, top, G);
  const double T_pm = pressure_melting(H - z);
  return T < T_pm ? T : T_pm;
}

/// The same for all columns, in owned cells (no ghosts needed); T_s where there is no ice and above it.
inline void initial_temperature(const Patch& patch, const Levels& levels, const Array2<double>& H, const Array2<int>& mask,
                                const Array2<double>& T_s, const Array2<double>& a, const Array2<double>& G,
                                const Array3<double>& T) {
  const Column z = levels.z;
  const int Mz = levels.size();
  for_each_cell(
      "initial temperature", patch, KOKKOS_LAMBDA(int j, int i) {
        const int n = icy(mask(j, i)) ? levels_in_ice(z, H(j, i)) : 0;
        for (int k = 0; k < n; ++k) {
          T(j, i, k) = initial_temperature(z(k), H(j, i), mask(j, i) == floating_ice, a(j, i), T_s(j, i), G(j, i));
        }
        for (int k = n; k < Mz; ++k) T(j, i, k) = T_s(j, i) < T_melting ? T_s(j, i) : T_melting;
      });
}

/// Hardness B = A^(-1/n) (Pa s^(1/3)) from the temperature T* relative to the melting point (K): A = A0 exp(-Q/(R T*)),
/// A0 = 3.61e-13, Q = 6.0e4 below 263.15 K and 1.73e3, 13.9e4 above (Paterson and Budd 1982).
struct PatersonBudd {
  double B0, exponent; ///< B = B0 e^exponent, B0 = A0^(-1/3), exponent = Q/(3 R T*)

  KOKKOS_INLINE_FUNCTION explicit PatersonBudd(double T_star) {
    constexpr double R = 8.314; // J mol-1 K-1
    const bool cold = T_star < 263.15;
    B0 = cold ? 14044.21920379971 : 0.083301207912519423;
    exponent = (cold ? 6.0e4 / (3.0 * R) : 13.9e4 / (3.0 * R)) / T_star;
  }
};
KOKKOS_INLINE_FUNCTION double paterson_budd_hardness(double T_star) {
  const PatersonBudd law(T_star);
  return law.B0 * elementary::exp(law.exponent);
}

/// T* (K) of ice of temperature T at a depth d (m).
KOKKOS_INLINE_FUNCTION double relative_to_melting(double T, double d) { return T + clausius_clapeyron * rho_ice * gravity * d; }

/// Mean hardness of a column (trapezoidal rule over its n levels and the surface, whose temperature is T_s); T is one column.
KOKKOS_INLINE_FUNCTION double mean_hardness(const Column& z, double H, double T_s, const double* T) {
  const int n = H > 0.0 ? levels_in_ice(z, H) : 0;
  double B[max_levels + 1], exponent[max_levels + 1]; // of the levels and of the surface
  const auto set = [&](int k, double T_star) {
    const PatersonBudd law(T_star);
    B[k] = law.B0, exponent[k] = law.exponent;
  };
  for (int k = 0; k < n; ++k) set(k, relative_to_melting(T[k], H - z(k)));
  set(n, T_s < T_melting ? T_s : T_melting);
  elementary::exp(n + 1, exponent);
  for (int k = 0; k <= n; ++k) B[k] *= exponent[k];
  if (n == 0) return B[0];
  double sum = 0.0;
  for (int k = 0; k + 1 < n; ++k) sum += 0.5 * (B[k] + B[k + 1]) * (z(k + 1) - z(k));
  return (sum + 0.5 * (B[n - 1] + B[n]) * (H - z(n - 1))) / H;
}

/// Depth-averaged hardness B (Pa s^(1/3)) and rate factor A = B^-3 (Pa-3 s-1), in owned cells. No ghosts needed.
inline void update_hardness(const Patch& patch, const Levels& levels, const Array2<double>& H, const Array2<double>& T_s,
                            const Array3<double>& T, const Array2<double>& B, const Array2<double>& A) {
  const Column z = levels.z;
  for_each_cell(
      "hardness", patch, KOKKOS_LAMBDA(int j, int i) {
        const double mean = mean_hardness(z, H(j, i), T_s(j, i), &T(j, i, 0));
        B(j, i) = mean;
        A(j, i) = 1.0 / (mean * mean * mean);
      });
}

} // namespace nunatak
