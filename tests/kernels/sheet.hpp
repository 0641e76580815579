// A small ice sheet for tests of whole hybrid steps, on any cut into virtual ranks.
#pragma once

#include "kernels/cases/noise.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/ssa/newton.hpp"
#include "kernels/step/hybrid.hpp"
#include "tests/kernels/cells.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace nunatak {

class Sheet {
public:
  Sheet(int px, int py, Halo halo = default_halo)
      : ranks(Decomposition::make(Mx, My, px, py), std::nullopt, halo),
        levels(make_levels(4000.0, Mz, LevelSpacing::quadratic)) {
    std::vector<State> states;
    std::vector<Forcing> forcings;
    for (int n = 0; n < ranks.local_size(); ++n) {
      states.emplace_back(ranks.patch(n)), forcings.emplace_back(ranks.patch(n));
      fill(ranks.patch(n), states.back(), forcings.back());
    }
    launch_ghosts(ranks, [&](std::size_t n) -> std::vector<Ghosted> { return {states[n].temp}; });
    HybridOptions options;
    options.pico = PicoOptions{};
    hybrid = std::make_unique<Hybrid>(ranks, dx, dy, levels, options,
                                      std::make_unique<SsaNewton>(ranks, dx, dy, SsaOptions{}),
                                      std::move(states), std::move(forcings));
  }

  void step() {
    hybrid->diagnose();
    hybrid->advance(hybrid->stable_step().dt);
  }

private:
  // Every cell and ghost; temp has valid owned cells.
  void fill(const Patch& p, State& s, Forcing& f) const {
    const auto topg = on_host(s.topg), thk = on_host(s.thk), T_s = on_host(f.ice_surface_temp),
               G = on_host(f.bheatflx), M = on_host(f.climatic_mass_balance),
               theta = on_host(f.theta_ocean), salinity = on_host(f.salinity_ocean);
    const auto basins = on_host(f.basins);
    for (const auto& [j, i] : cells_and_ghosts_of(p)) {
      const double x = (p.global_i(i) - 0.5 * Mx) * dx, y = (p.global_j(j) - 0.5 * My) * dy,
                   r2 = (x * x + y * y) / (330e3 * 330e3);
      const double shape = 1.0 - r2 + 0.4 * noise(2, x, y, 150e3);
      topg(j, i) = 500.0 - 1400.0 * r2 + 300.0 * rough_noise(1, x, y, 100e3);
      thk(j, i) =
          shape > 0.0 ? 200.0 + 2200.0 * Kokkos::sqrt(shape) + 100.0 * noise(3, x, y, 50e3) : 0.0;
      T_s(j, i) = 250.0 + 15.0 * noise(4, x, y, 300e3);
      M(j, i) = rho_ice * (0.3 + 0.2 * noise(5, x, y, 200e3)) / seconds_per_year;
      G(j, i) = 0.06 + 0.02 * noise(6, x, y, 200e3);
      basins(j, i) = 1, theta(j, i) = T_melting - 1.0, salinity(j, i) = 34.5;
    }
    to_loops(s.topg, topg), to_loops(s.thk, thk), to_loops(f.ice_surface_temp, T_s),
        to_loops(f.bheatflx, G);
    to_loops(f.climatic_mass_balance, M), to_loops(f.theta_ocean, theta),
        to_loops(f.salinity_ocean, salinity), to_loops(f.basins, basins);
    s.update_surface();
    s.temp = make_columns<double>("temp", p, Mz);
    const auto accumulation = make_array<double>("accumulation", p);
    in_metres_of_ice(p, f.climatic_mass_balance, accumulation);
    initial_temperature(p, levels, s.thk, s.mask, f.ice_surface_temp, accumulation, f.bheatflx,
                        s.temp);
    Kokkos::fence();
  }

  static constexpr int Mx = 61, My = 47, Mz = 17;
  static constexpr double dx = 16e3, dy = 16e3;

public:
  VirtualRanks ranks;
  Levels levels;
  std::unique_ptr<Hybrid> hybrid; ///< of these ranks and levels
};

} // namespace nunatak
