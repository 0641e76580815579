// Initial states without a file, as functions of position, at any resolution.
//
//   dome      Halfar's dome at t0 (exact_sia.hpp, test B) on flat land
//   shelf     the unconfined ice shelf of van der Veen (1983), flowing along x to a calving front
//   stream    Schoof's (2006) ice stream: a slab on a slope, weak till in the middle
//   marine    a continent with marine basins, many ice shelves, ice rises, holes and lakes
//             (continent.hpp)
//
// These functions run on the host.
#pragma once

#include "kernels/cases/exact_sia.hpp"

namespace nunatak::synthetic {

/// State and forcing at a point.
struct Site {
  double b = 0.0;               ///< bed elevation (topg), m
  double H = 0.0;               ///< ice thickness (thk), m
  double M = 0.0;               ///< climatic mass balance, m s-1 of ice
  double T_s = 263.15;          ///< ice surface temperature, K
  double G = 0.05;              ///< geothermal heat flux, W m-2
  int basin = 1;                ///< number of the drainage basin, from 1
  double theta_ocean = 271.45;  ///< potential temperature of the ocean at the sea floor, K
  double salinity_ocean = 34.5; ///< g/kg
};

/// Half the width of the square domain of a state, m: the grid extends from -half to half.
constexpr double dome_half_width = 1200e3;
constexpr double stream_half_width = 60e3; ///< along y; along x the stream is uniform
constexpr double marine_half_width = 3040e3;
constexpr double shelf_length = 500e3; ///< the shelf extends from x = 0 to here

/// Points with this spacing that fit on an axis, whose ends are exact to a thousandth of it.
inline int points_that_fit(double extent, double spacing) {
  return static_cast<int>(std::floor(extent / spacing + 1e-3)) + 1;
}

/// The bed is 1 m above sea level, so that the surroundings are land.
inline Site dome(double x, double y) {
  const exact::Similarity halfar;
  Site site;
  site.b = 1.0;
  site.H = halfar.H(halfar.t0(), std::hypot(x, y));
  return site;
}

/// H = (4 C x/Q0 + H0^-4)^(-1/4) for 0 <= x < L, then ocean; Q0 = u0 H0, u0 = 300 m/a, H0 = 600 m,
/// C = 2.45e-18 m-3 s-1. The ice enters at x = 0 with u0; the velocity is Q0/H.
inline Site shelf(double x, double /*y*/) {
  const double H0 = 600.0, Q0 = H0 * 300.0 / seconds_per_year, B = 1.9e8;
  const double C = std::pow(rho_ice * gravity * (1.0 - rho_ice / rho_water) / (4.0 * B), 3);
  Site site;
  site.b = -1000.0;
  site.H =
      x < shelf_length ? std::pow(4.0 * C * std::fmax(x, 0.0) / Q0 + std::pow(H0, -4), -0.25) : 0.0;
  return site;
}

/// 2000 m of ice on a bed that falls by 1 m per km along x, high above sea level.
inline Site stream(double x, double /*y*/) {
  Site site;
  site.b = 2000.0 - 1e-3 * x;
  site.H = 2000.0;
  return site;
}

/// Yield stress (Pa) of the till under `stream`: rho g H 1e-3 |y/L|^m, L = 40 km, m = 10.
inline double stream_yield_stress(double y) {
  return rho_ice * gravity * 2000.0 * 1e-3 * std::pow(std::fabs(y) / 40e3, 10);
}

} // namespace nunatak::synthetic
