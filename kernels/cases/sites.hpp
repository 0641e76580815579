// State and forcing of a patch (kernels/step/state.hpp) from a function of the cell: the cases of
// synthetic.hpp on a grid. Runs on the host without communication.
#pragma once

#include "kernels/cases/synthetic.hpp"
#include "kernels/grid/array.hpp"

namespace nunatak::synthetic {

/// Calls site(gj, gi) for each owned cell (global row and column).
template <class State, class Forcing, class F>
void set_sites(const Patch& p, const State& state, const Forcing& forcing, const F& site) {
  const auto thk = on_host(state.thk);
  const auto topg = on_host(state.topg);
  const auto M = on_host(forcing.climatic_mass_balance);
  const auto T_s = on_host(forcing.ice_surface_temp);
  const auto G = on_host(forcing.bheatflx);
  const auto theta = on_host(forcing.theta_ocean);
  const auto salinity = on_host(forcing.salinity_ocean);
  const auto basins = on_host(forcing.basins);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const Site s = site(p.global_j(j), p.global_i(i));
      thk(j, i) = s.H;
      topg(j, i) = s.b;
      M(j, i) = s.M * rho_ice;
      T_s(j, i) = s.T_s;
      G(j, i) = s.G;
      basins(j, i) = s.basin;
      theta(j, i) = s.theta_ocean;
      salinity(j, i) = s.salinity_ocean;
    }
  }
  to_loops(state.thk, thk);
  to_loops(state.topg, topg);
  to_loops(forcing.climatic_mass_balance, M);
  to_loops(forcing.ice_surface_temp, T_s);
  to_loops(forcing.bheatflx, G);
  to_loops(forcing.theta_ocean, theta);
  to_loops(forcing.salinity_ocean, salinity);
  to_loops(forcing.basins, basins);
}

} // namespace nunatak::synthetic
