// Temperature of the ice over the local ranks: the columns of kernels/ice/columns.hpp with strain
// heating, friction at the bed and geothermal heat.
#pragma once

#include "kernels/ice/columns.hpp"
#include "kernels/ssa/rheology.hpp"
#include "kernels/step/state.hpp"

#include <utility>
#include <vector>

namespace nunatak {

/// Geothermal heat and, where grounded, friction beta |u|^2, into the base, W m-2. Owned cells.
inline void base_heat_flux(const Patch& patch, const TillLaw& till, const State& s,
                           const Array2<double>& tauc, const Array2<double>& geothermal,
                           const Array2<double>& flux) {
  const auto u = s.u_ssa, v = s.v_ssa;
  const auto mask = s.mask;
  for_each_cell(
      "heat flux into the base", patch, KOKKOS_LAMBDA(int j, int i) {
        flux(j, i) = geothermal(j, i);
        if (mask(j, i) != grounded_ice) return;
        const double speed2 = u(j, i) * u(j, i) + v(j, i) * v(j, i);
        flux(j, i) += tauc(j, i) * till.drag(speed2) * speed2;
      });
}

class Energy {
public:
  Energy(Ranks& ranks, double dx, double dy, const Levels& levels, const TillLaw& till)
      : m_ranks(ranks), m_dx(dx), m_dy(dy), m_levels(levels), m_till(till) {
    for (const int n : ranks.locals()) {
      const Patch p = ranks.patch(n);
      m_temp.push_back(make_columns<double>("temp_next", p, levels.size()));
      m_base_flux.push_back(make_array<double>("base_heat_flux", p));
      m_melted.push_back(make_array<double>("melted_inside", p));
      m_held.push_back(make_array<double>("held", p));
      m_sums.push_back(make_later<MeltedInside>("melted inside"));
    }
  }

  /// Advances the temperature of owned cells by dt seconds, with the geometry and flow at the
  /// beginning of the step: call it before the mass transport, which exchanges the ghosts.
  void step(std::vector<State>& states, const std::vector<Flow>& flows,
            const std::vector<Forcing>& forcings, double dt) {
    for (const int n : m_ranks.locals()) {
      State& s = states[n];
      const Patch patch = m_ranks.patch(n);
      const HorizontalVelocity& velocity = flows[n].velocity;
      base_heat_flux(patch, m_till, s, flows[n].tauc, forcings[n].bheatflx, m_base_flux[n]);
      temperature_step(patch, m_dx, m_dy, dt, m_levels, s.thk, s.mask, forcings[n].ice_surface_temp,
                       m_base_flux[n], velocity.u, velocity.v, flows[n].w, velocity.heating, s.temp,
                       m_temp[n], m_melted[n], m_held[n], m_sums[n]);
      std::swap(s.temp, m_temp[n]);
    }
  }
  /// The ice melted inside by the last step on a local rank, after a fence: metres, summed over
  /// cells.
  FixedSum melted(std::size_t local) const { return m_sums[local]().ice; }

private:
  Ranks& m_ranks;
  double m_dx, m_dy; // m
  const Levels& m_levels;
  TillLaw m_till;
  std::vector<Array3<double>> m_temp;
  std::vector<Array2<double>> m_base_flux, m_melted, m_held;
  std::vector<Later<MeltedInside>> m_sums;
};

} // namespace nunatak
