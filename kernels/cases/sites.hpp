// State and forcing of a patch (kernels/step/state.hpp) from a function of the cell: the cases of
// synthetic.hpp on a grid. Runs on the host without communication.
#pragma once

#include "kernels/cases/synthetic.hpp"
#include "kernels/grid/array.hpp"

#include <utility>
#include <vector>

namespace nunatak::synthetic {

/// Calls site(gj, gi) for each owned cell (global row and column).
template <class State, class Forcing, class F>
void set_sites(const Patch& p, const State& state, const Forcing& forcing, const F& site) {
  const std::pair<double Site::*, Array2<double>> maps[] = {
      {&Site::H, state.thk},
      {&Site::b, state.topg},
      {&Site::M, forcing.climatic_mass_balance},
      {&Site::T_s, forcing.ice_surface_temp},
      {&Site::G, forcing.bheatflx},
      {&Site::theta_ocean, forcing.theta_ocean},
      {&Site::salinity_ocean, forcing.salinity_ocean}};
  std::vector<decltype(on_host(state.thk))> filled;
  for (const auto& map : maps) filled.push_back(on_host(map.second));
  const auto basins = on_host(forcing.basins);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      Site s = site(p.global_j(j), p.global_i(i));
      s.M *= rho_ice; // metres of ice to kg m-2
      for (std::size_t n = 0; n < filled.size(); ++n) filled[n](j, i) = s.*maps[n].first;
      basins(j, i) = s.basin;
    }
  }
  for (std::size_t n = 0; n < filled.size(); ++n) to_loops(maps[n].second, filled[n]);
  to_loops(forcing.basins, basins);
}

} // namespace nunatak::synthetic
