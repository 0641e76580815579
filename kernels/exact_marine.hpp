// Test N with all that the stress balance needs: a marine ice sheet on a flat bed, whose thickness, velocity and balance are
// TestN of kernels/exact_sia.hpp. Bueler (2014), J. Glaciol. 60(223), 1117-1125, sections 2 and 3; Bodvardsson (1955).
//
//            ______-------______                 x = 0: the divide, u = 0
//        ---      H(x), u(x)     ---             x = +-x_c: the front; the ice is just afloat there
//   ~~~~|                           |~~~~ 0      b = -rho/rho_w H(x_c)
//   ____|___________________________|____ b
//
// Drag takes the whole driving stress, beta u = -rho g H h_x with beta = k rho g H. So the membrane stress T = 2 B H |u_x|^(1/n)
// is the same everywhere, equal to the pressure at the front, and u_x is, too: this gives the hardness B(x).
#pragma once

#include "kernels/exact_sia.hpp"

namespace nunatak::exact {

struct MarineSheet : TestN {
  double b() const { return -rho_ice / rho_water * H(front()); }
  /// Vertically integrated membrane stress, N m-1: rho g (1 - rho/rho_w) H^2/2 at the front.
  double T() const { return 0.5 * rho_ice * gravity * (1.0 - rho_ice / rho_water) * H(front()) * H(front()); }
  /// B, Pa s^(1/3).
  double hardness(double x) const { return T() / (2.0 * H(x) * std::cbrt(u(1.0))); } // u is linear: u(1 m) is u_x
  /// Speed at which till of yield stress u_th beta(x) takes beta(x) u, linearly: any will do.
  static constexpr double u_threshold = 100.0 / seconds_per_year;
  double tauc(double x) const { return u_threshold * drag(x); }
};

} // namespace nunatak::exact
