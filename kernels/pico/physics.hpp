// The box model of PICO, pointwise. Units: T in K, S in g kg-1, p in dbar, melt in m s-1 of ice.
//
// Reese et al. (2018), The Cryosphere 12, 1969; equations in brackets. Box n is at the front:
//
//      continent  \___box 1__|__box 2__|__ ... __|  front
//                  \_  <- melt water rises towards the front
//   T0, S0 ------->  q (overturning) enters at depth, box 1 first
//
// melt.hpp evaluates these on all shelves; shelves.hpp assigns cells to boxes.
#pragma once

#include "kernels/grid/constants.hpp"

#include <Kokkos_Core.hpp>

#include <cmath>

namespace nunatak::pico {

constexpr double freezing_a = -0.0572;            ///< K kg g-1 (4), potential freezing temperature
constexpr double freezing_b = 0.0788 + T_melting; ///< K
constexpr double freezing_c = 7.77e-4;            ///< K dbar-1
constexpr double in_situ_a = -0.0573, in_situ_b = 0.0832 + T_melting, in_situ_c = 7.53e-4;
constexpr double c_p = 3974.0;                 ///< specific heat of sea water, J kg-1 K-1
constexpr double nu = rho_ice / rho_water;     ///< 910 / 1028
constexpr double lambda = latent_heat / c_p;   ///< K
constexpr double nu_lambda = nu * lambda;      ///< K
constexpr double rho_star = 1033.0;            ///< kg m-3, equation of state (2)
constexpr double alpha = 7.5e-5;               ///< K-1, thermal expansion
constexpr double beta = 7.7e-4;                ///< kg g-1, haline contraction
constexpr double default_T0 = T_melting - 1.5; ///< K, for a basin without continental shelf
constexpr double default_S0 = 34.7;            ///< g kg-1
constexpr double clip_margin = 0.001;          ///< K; water below freezing is set this far above it

/// Pressure at the base of a shelf, dbar.
KOKKOS_INLINE_FUNCTION double base_pressure(double H) { return rho_ice * gravity * H * 1e-4; }

/// Pressure-melting point, potential and in-situ.
KOKKOS_INLINE_FUNCTION double T_pm(double S, double p) {
  return freezing_a * S + freezing_b - freezing_c * p;
}
KOKKOS_INLINE_FUNCTION double T_in_situ(double S, double p) {
  return in_situ_a * S + in_situ_b - in_situ_c * p;
}

/// Base of ice above a freshwater lake: the pressure-melting point of ice, K.
KOKKOS_INLINE_FUNCTION double lake_temperature(double H) {
  return T_melting - clausius_clapeyron * rho_ice * gravity * H;
}

/// Inflow is at least `clip_margin` above freezing.
KOKKOS_INLINE_FUNCTION double clip_T0(double T0, double S0, double p) {
  const double T_min = T_pm(S0, p);
  return T0 < T_min ? T_min + clip_margin : T0;
}

/// Melt rate for box water of T, S (13).
KOKKOS_INLINE_FUNCTION double melt_rate(double gamma, double T, double S, double p) {
  return gamma / nu_lambda * (T - T_pm(S, p));
}

/// Melt rate of Beckmann & Goosse (2003), Ocean Modelling 5(2), where there is no box water.
KOKKOS_INLINE_FUNCTION double fallback_melt_rate(double gamma, double T0, double S0, double p) {
  return 0.005 * rho_water * c_p * gamma * (T0 - T_pm(S0, p)) / (latent_heat * rho_ice);
}

/// Box 1 (A6 to A9): x = T0 - T1 solves x^2 + P x + P T* = 0, P = A_1 gamma/(C rho* (beta s -
/// alpha)).
struct BoxOne {
  double x;    ///< cooling T0 - T1, K
  bool warned; ///< negative discriminant, set to 0
};
KOKKOS_INLINE_FUNCTION BoxOne box_one(double g1, double C, double T0, double S0, double p) {
  const double T_star = T_pm(S0, p) - T0, s = S0 / nu_lambda;
  const double P = g1 / (C * rho_star * (beta * s - alpha));
  const double discriminant = 0.25 * P * P - P * T_star;
  return {-0.5 * P + std::sqrt(discriminant < 0.0 ? 0.0 : discriminant), discriminant < 0.0};
}
KOKKOS_INLINE_FUNCTION double box_one_S(double S0, double x) { return S0 * (1.0 - x / nu_lambda); }
/// Overturning (3), m3 s-1, of water cooled by x: C rho* (beta (S0 - S1) - alpha (T0 - T1)).
KOKKOS_INLINE_FUNCTION double overturning(double C, double S0, double x) {
  return C * rho_star * (beta * S0 * x / nu_lambda - alpha * x);
}

/// Box k >= 2 (A12, A13), from the means T, S of box k - 1 and q of box 1; affine in p.
struct NextBox {
  double T, S, gain;
  KOKKOS_INLINE_FUNCTION double T_k(double p) const { return T + gain * (T_pm(S, p) - T); }
  KOKKOS_INLINE_FUNCTION double S_k(double T_k) const { return S - S * (T - T_k) / nu_lambda; }
};
KOKKOS_INLINE_FUNCTION NextBox next_box(double g1, double q, double T, double S) {
  return {T, S, g1 / (q + g1 - g1 / nu_lambda * freezing_a * S)};
}

} // namespace nunatak::pico
