// Material laws of the shallow shelf approximation (SSA): Glen's viscosity, the pseudo-plastic
// till, the pressure at a front. Functions of scalars, SI units.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/grid/elementary.hpp"

#include <Kokkos_Core.hpp>

namespace nunatak {

/// Glen's flow law, depth-averaged: 2 nu = B (e^2 + eps^2)^p, p = (1 - n)/(2 n), with the effective
/// strain rate e^2 = u_x^2 + v_y^2 + u_x v_y + 1/4 (u_y + v_x)^2 (MacAyeal 1989, eq. 10).
struct GlenLaw {
  double n = 3.0;    ///< exponent; n = 1: linear, 2 nu = B
  double eps2 = 0.0; ///< eps^2, s-2 (Schoof 2006)

  KOKKOS_INLINE_FUNCTION double exponent() const { return (1.0 - n) / (2.0 * n); }

  /// 2 nu / B
  KOKKOS_INLINE_FUNCTION double viscosity(double e2) const {
    if (n == 3.0) return elementary::inverse_cbrt(e2 + eps2);
    return n == 1.0 ? 1.0 : elementary::pow(e2 + eps2, exponent());
  }
  /// d(2 nu)/d(e^2) divided by 2 nu
  KOKKOS_INLINE_FUNCTION double log_slope(double e2) const {
    return n == 1.0 ? 0.0 : exponent() / (e2 + eps2);
  }
};

/// Pseudo-plastic till: drag = -beta u, beta = tau_c (|u|^2 + delta^2)^((q-1)/2) / u_th^q (Schoof
/// 2006; Bueler and van Pelt 2015, eq. 9). q = 0: plastic; q = 1: linear, beta = tau_c/u_th.
struct TillLaw {
  double q;
  double delta2; ///< delta^2, m2 s-2
  double scale;  ///< u_th^-q
  int eighths;   ///< drag ~ |u|^(-2 eighths/8) if q is a multiple of 1/4, else -1

  /// u_th: threshold speed, m s-1
  TillLaw(double exponent, double delta_squared, double u_th)
      : q(exponent), delta2(delta_squared), scale(elementary::pow(u_th, -q)),
        eighths(4.0 * q == static_cast<int>(4.0 * q) ? 4 - static_cast<int>(4.0 * q) : -1) {}

  /// beta / tau_c, s m-1
  KOKKOS_INLINE_FUNCTION double drag(double speed2) const {
    const double x = speed2 + delta2;
    return scale * (eighths >= 0 ? elementary::inverse_eighths(x, eighths)
                                 : elementary::pow(x, 0.5 * (q - 1.0)));
  }
  /// d beta / d(|u|^2/2) divided by beta
  KOKKOS_INLINE_FUNCTION double log_slope(double speed2) const {
    return (q - 1.0) / (speed2 + delta2);
  }
};

/// The weight of Newton's derivative in a step: 1 where little changed in the step before, tending
/// to 0 (Picard) where the change is as large as the value. `now2`: square of the regularised
/// strain rate (or speed); `change2`: square of its change in the last step.
///
/// Stress grows like the cube root of the strain rate. From a strain rate that is too small,
/// Newton's tangent overshoots far; near zero strain it cycles forever, and damping the whole step
/// for a few elements slows down all others. Picard's operator bounds the energy from above and
/// does not overshoot, but gains a factor 2/3 per step at best. Weights per element combine the
/// advantages: they tend to 1 as the iteration converges.
KOKKOS_INLINE_FUNCTION double newton_weight(double change2, double now2, double caution) {
  return now2 > 0.0 ? 1.0 / (1.0 + caution * change2 / now2) : 0.0;
}
/// Chosen for the fewest steps on Antarctica, Greenland and synthetic continents.
constexpr double strain_caution = 0.3, drag_caution = 0.02;

/// The sliding direction for Newton's method: w, |w| <= 1, follows U/|U| from step to step.
///
/// The drag of a nearly plastic till has almost constant magnitude and rotates with the velocity.
/// Its tangent does not resist a change of speed along U: right for sliding ice, far too soft for
/// ice about to stop or change course. Chan, Golub and Mulet (1999) treat the same |U| in total
/// variation: with w as a separate unknown, |U| w = U is linearised in both, the change of U is
/// solved for, w follows, and is cut to length 1. w is small at first (Picard) and tends to U/|U|
/// on convergence. `U`: now, m s-1; `change`: since w was valid; delta2: regularises |U|^2.
KOKKOS_INLINE_FUNCTION void follow_direction(const double (&U)[2], const double (&change)[2],
                                             double delta2, double (&w)[2]) {
  const double before[2] = {U[0] - change[0], U[1] - change[1]};
  const double speed2 = before[0] * before[0] + before[1] * before[1] + delta2;
  const double speed = Kokkos::sqrt(speed2);
  const double longer =
      (before[0] * change[0] + before[1] * change[1]) / speed2; // relative change of the speed
  for (int m = 0; m < 2; ++m) w[m] = U[m] / speed - longer * w[m];
  const double length = Kokkos::sqrt(w[0] * w[0] + w[1] * w[1]);
  for (int m = 0; m < 2 && length > 1.0; ++m) w[m] /= length;
}

/// Pressure of ice on a vertical face, integrated over its height, minus that of the sea water
/// outside (N m-1; sea level 0): rho g H^2/2 - rho_w g d^2/2, with the depth d of the ice base: the
/// bed if grounded, the draft rho/rho_w H if floating.
KOKKOS_INLINE_FUNCTION double front_pressure(double H, double b, bool floats) {
  const double draft = rho_ice / rho_water * H;
  const double d = floats || -b > draft ? draft : (b < 0.0 ? -b : 0.0);
  return 0.5 * gravity * (rho_ice * H * H - rho_water * d * d);
}

/// The same for a face against ice-free land of elevation `b_land`: rock takes the pressure below
/// b_land, so that only the free height h - b_land pushes. Zero next to a nunatak.
///
///       h ____          h: surface of the ice
///             |  <- free
///   ice       |_____  b_land
///   b ________|/////
KOKKOS_INLINE_FUNCTION double cliff_pressure(double H, double h, double b_land) {
  const double free = h - b_land < 0.0 ? 0.0 : (h - b_land > H ? H : h - b_land);
  return 0.5 * rho_ice * gravity * free * free;
}

} // namespace nunatak
