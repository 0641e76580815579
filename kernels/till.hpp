// Yield stress of the till below grounded ice: tau_c = N_till tan(phi) (Mohr-Coulomb without cohesion).
//
//   N_till = delta rho g H                      saturated till carries a share delta of the overburden (Bueler and van Pelt 2015)
//   phi    = phi_min .. phi_max, linear in the bed elevation b between b_min and b_max (Martin et al. 2011): till is
//            weaker where the sea has been
#pragma once

#include "kernels/geometry.hpp"

namespace nunatak {

struct TillParameters {
  double phi_min = 5.0, phi_max = 15.0;   ///< degrees
  double b_min = -1000.0, b_max = 1000.0; ///< m
  double overburden_fraction = 0.02;      ///< delta
};

/// tau_c in Pa from bed elevation and thickness in m.
KOKKOS_INLINE_FUNCTION double yield_stress(const TillParameters& till, double b, double H) {
  const double x = (b - till.b_min) / (till.b_max - till.b_min), share = x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
  const double phi = till.phi_min + (till.phi_max - till.phi_min) * share;
  return till.overburden_fraction * rho_ice * gravity * H * Kokkos::tan(phi * 3.14159265358979323846 / 180.0);
}

/// tauc (Pa) in owned cells and ghosts: grounded ice has the yield stress, other cells 0. Needs ghosts of b, H, mask.
inline void till_yield_stress(const Patch& patch, const TillParameters& till, const Array2<double>& b, const Array2<double>& H,
                              const Array2<int>& mask, const Array2<double>& tauc) {
  for_each_cell_and_ghost(
      "till", patch,
      KOKKOS_LAMBDA(int j, int i) { tauc(j, i) = mask(j, i) == grounded_ice ? yield_stress(till, b(j, i), H(j, i)) : 0.0; });
}

} // namespace nunatak
