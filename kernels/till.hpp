// Yield stress of the till below grounded ice: tau_c = N_till tan(phi) (Mohr-Coulomb without cohesion).
//
//   N_till  effective pressure: a share s of the overburden rho g H.
//             thawed bed (T_b at the melting point)             s = delta: saturated till (Bueler and van Pelt 2015)
//             frozen bed (T_b colder by at least dT_frozen)     s = 1: till without water
//             between                                           s = delta^(1 - (T_pm - T_b)/dT_frozen)
//           and not more than the pressure of the ice above flotation if the bed lies below the sea
//   phi     friction angle: phi_min .. phi_max, linear in the bed elevation b between b_min and b_max (Martin et al. 2011): till
//   is
//           weaker where the sea has been
#pragma once

#include "kernels/columns.hpp"
#include "kernels/geometry.hpp"

namespace nunatak {

struct TillParameters {
  double phi_min = 5.0, phi_max = 15.0;   ///< degrees
  double b_min = -1000.0, b_max = 1000.0; ///< m
  double overburden_fraction = 0.02;      ///< delta
  double dT_frozen = 5.0;                 ///< K
};

/// tau_c in Pa from bed elevation and thickness in m, and the temperature of the base in K.
KOKKOS_INLINE_FUNCTION double yield_stress(const TillParameters& till, double b, double H, double T_base) {
  const auto clamp = [](double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; };
  const double frozen = clamp((pressure_melting(H) - T_base) / till.dT_frozen);
  const double overburden = rho_ice * gravity * H;
  double N = Kokkos::pow(till.overburden_fraction, 1.0 - frozen) * overburden;
  if (b < 0.0) {
    const double above_flotation = overburden + rho_water * gravity * b;
    N = N < above_flotation ? N : above_flotation > 0.0 ? above_flotation : 0.0;
  }
  const double phi = till.phi_min + (till.phi_max - till.phi_min) * clamp((b - till.b_min) / (till.b_max - till.b_min));
  return N * Kokkos::tan(phi * 3.14159265358979323846 / 180.0);
}

/// tauc (Pa) in owned cells and ghosts: grounded ice has the yield stress, other cells 0. Needs ghosts of b, H, mask and T (K).
inline void till_yield_stress(const Patch& patch, const TillParameters& till, const Array2<double>& b, const Array2<double>& H,
                              const Array2<int>& mask, const Array3<double>& T, const Array2<double>& tauc) {
  for_each_cell_and_ghost(
      "till", patch, KOKKOS_LAMBDA(int j, int i) {
        tauc(j, i) = mask(j, i) == grounded_ice ? yield_stress(till, b(j, i), H(j, i), T(j, i, 0)) : 0.0;
      });
}

} // namespace nunatak
