// Test N with the full stress balance: a marine ice sheet on a flat bed, with the thickness,
// velocity and balance of TestN (exact_sia.hpp); and the same sheet with a shelf in place of its
// front. Bueler (2014), J. Glaciol. 60(223), 1117-1125, sections 2 to 4; Bodvardsson (1955); van
// der Veen (1983) for the shelf.
//
//              ______-------______               x = 0: the divide, u = 0
//          ---      H(x), u(x)     ---           x = +-x_c: the front of MarineSheet, just afloat
//   ~~~____                           ____~~~ 0  b = -rho/rho_w H(x_c)
//      ----|                         |----
//   _______|_________________________|_______ b  beyond x_c: the shelf of MarineSheetAndShelf
//
// Drag balances the whole driving stress, beta u = -rho g H h_x with beta = k rho g H. So the
// membrane stress T = 2 B H |u_x|^(1/n) is uniform, equal to that of a shelf of thickness H(x_c),
// and so is u_x: this gives the hardness B(x).
#pragma once

#include "kernels/cases/exact_sia.hpp"

namespace nunatak::exact {

struct MarineSheet : TestN {
  double b() const { return -rho_ice / rho_water * H(front()); }
  double stretching() const { return 2.0 * H0 / (k() * L0 * L0); }
  /// Vertically integrated membrane stress, N m-1: rho g (1 - rho/rho_w) H^2/2 at the front.
  double T() const {
    return 0.5 * rho_ice * gravity * (1.0 - rho_ice / rho_water) * H(front()) * H(front());
  }
  /// B, Pa s^(1/3).
  double hardness(double x) const { return T() / (2.0 * H(x) * std::cbrt(stretching())); }
  /// The yield stress (Pa) whose linear drag is beta(x) u, for this arbitrary threshold speed.
  static constexpr double u_threshold = 100.0 / seconds_per_year;
  double tauc(double x) const { return u_threshold * drag(x); }
};

/// The sheet, and a shelf from its grounding line x_g = x_c on: u H and B are constant, H^-4 grows
/// linearly. H, u, u_x and T are continuous; drag, balance and the slope of H jump. x may be
/// negative.
struct MarineSheetAndShelf {
  MarineSheet sheet;

  double grounding_line() const { return sheet.front(); }
  bool floats(double x) const { return std::abs(x) > grounding_line(); }
  double H(double x) const {
    if (!floats(x)) return sheet.H(x);
    const double H_g = sheet.H(grounding_line());
    const double C = sheet.stretching() / (H_g * H_g * H_g);
    const double Q = sheet.u(grounding_line()) * H_g;
    return std::pow(4.0 * C * (std::abs(x) - grounding_line()) / Q + std::pow(H_g, -4.0), -0.25);
  }
  double u(double x) const {
    if (!floats(x)) return sheet.u(x);
    return std::copysign(sheet.u(grounding_line()) * sheet.H(grounding_line()) / H(x), x);
  }
  double hardness(double x) const { return sheet.hardness(floats(x) ? grounding_line() : x); }
  double tauc(double x) const { return floats(x) ? 0.0 : sheet.tauc(x); }
};

} // namespace nunatak::exact
