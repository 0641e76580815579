// Robin (1955, J. Glaciol. 2, 523-532): steady temperature of an ice column heated from below, with
// w = -a z/H. Initialises and verifies columns.hpp.
//
//   T(z) = T_s + (G sqrt(pi)/(2 k q)) [erf(q H) - erf(q z)],  q^2 = a rho c/(2 k H)
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/grid/elementary.hpp"

#include <Kokkos_Core.hpp>

namespace nunatak::exact {

/// T (K) at height z (m) of ice of thickness H (m), accumulation a (m s-1), surface temperature T_s
/// (K), heat flux G (W m-2). Without accumulation (q H < 1e-4) the linear profile of conduction.
KOKKOS_INLINE_FUNCTION double robin(double z, double H, double a, double T_s, double G) {
  const double qH = a > 0.0 ? Kokkos::sqrt(0.5 * a * rho_ice * ice_c * H / ice_k) : 0.0;
  if (qH < 1e-4) return T_s + G / ice_k * (H - z);
  constexpr double sqrt_pi = 1.7724538509055160;
  return T_s + G * sqrt_pi * H / (2.0 * ice_k * qH) *
                   (elementary::erf(qH) - elementary::erf(qH * (z / H)));
}

} // namespace nunatak::exact
