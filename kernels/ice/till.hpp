// Yield stress of till below grounded ice: tau_c = N_till tan(phi) (cohesionless Mohr-Coulomb).
//
//   N_till  effective pressure, a fraction of the overburden rho g H (Bueler and van Pelt 2015 for
//           saturated till): N_till = delta^(1 - f) rho g H, from delta (thawed, f = 0) to 1
//           (frozen, f = 1); f = x (T_pm - T_b)/dT_frozen, within 0..1, grows with bed elevation
//           (x, see below); the deepest troughs are always thawed, since fast ice melts its bed
//   phi     friction angle: phi_min .. phi_max, linear (x) in the bed elevation b between b_min and
//           b_max (Martin et al. 2011): till is weaker where the sea has been
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/geometry.hpp"

namespace nunatak {

struct TillParameters {
  double phi_min = 5.0, phi_max = 15.0;   ///< degrees
  double b_min = -1000.0, b_max = 1000.0; ///< m
  double overburden_fraction = 0.05;      ///< delta, above 0
  double dT_frozen = 30.0;                ///< K
};

/// tau_c (Pa) from b and H (m) and basal temperature (K). log_delta: log of overburden_fraction.
KOKKOS_FORCEINLINE_FUNCTION double yield_stress(const TillParameters& till, double log_delta,
                                                double b, double H, double T_base) {
  const auto clamp = [](double x) { return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x; };
  const double high = clamp((b - till.b_min) / (till.b_max - till.b_min));
  const double frozen = high * clamp((pressure_melting(H) - T_base) / till.dT_frozen);
  const double overburden = rho_ice * gravity * H;
  const double N = elementary::exp((1.0 - frozen) * log_delta) * overburden;
  const double phi = till.phi_min + (till.phi_max - till.phi_min) * high;
  return N * elementary::tan(phi * 3.14159265358979323846 / 180.0);
}

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION void yield_stresses(const TillParameters& parameters, double log_delta,
                                                int n, const double* b, const double* H,
                                                const double* T_base, double* tauc) {
  const TillParameters till = parameters;
  NUNATAK_INDEPENDENT
  for (int p = 0; p < n; ++p) tauc[p] = yield_stress(till, log_delta, b[p], H[p], T_base[p]);
}
} // namespace detail

/// yield_stress of n cells; compiled in packs.cpp for CPUs.
NUNATAK_WIDE(void, yield_stresses,
             (const TillParameters& till, double log_delta, int n, const double* b, const double* H,
              const double* T_base, double* tauc),
             (till, log_delta, n, b, H, T_base, tauc))

/// tauc (Pa) in owned cells and ghosts, 0 except in grounded ice. Needs ghosts of b, H, mask, T.
inline void till_yield_stress(const Patch& patch, const TillParameters& till,
                              const Array2<double>& b, const Array2<double>& H,
                              const Array2<int>& mask, const Array3<double>& T,
                              const Array2<double>& tauc) {
  const double log_delta = elementary::log(till.overburden_fraction);
  for_each_pack(
      "till", cells_and_ghosts(patch), KOKKOS_LAMBDA(int j, int i, int n) {
        double T_base[cells_at_once], stress[cells_at_once];
        bool any = false;
        for (int p = 0; p < n; ++p) {
          const bool on_till = mask(j, i + p) == grounded_ice;
          any = any || on_till;
          T_base[p] = on_till ? T(j, i + p, 0) : T_melting;
        }
        if (any) yield_stresses(till, log_delta, n, &b(j, i), &H(j, i), T_base, stress);
        for (int p = 0; p < n; ++p)
          tauc(j, i + p) = mask(j, i + p) == grounded_ice ? stress[p] : 0.0;
      });
}

} // namespace nunatak
