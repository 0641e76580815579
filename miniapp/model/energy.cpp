#include "miniapp/model/energy.hpp"

#include "kernels/grid/constants.hpp"
#include "kernels/ice/transport.hpp"

namespace nunatak {

Energy::Energy(const Options& options, const Grid& grid, const Levels& levels, MpiRanks& ranks)
    : m_grid(grid), m_levels(levels), m_ranks(ranks), m_on(options.energy == "on"), m_till(ssa_options(options).till()),
      m_temp(make_columns<double>("temp_next", ranks.patch(), levels.size())),
      m_base_flux(make_array<double>("base_heat_flux", ranks.patch())),
      m_melted(make_array<double>("melted_inside", ranks.patch())) {}

FixedSum Energy::step(State& state, const Flow& flow, const Forcing& forcing, double dt) {
  if (!m_on) return {};
  const Patch patch = m_ranks.patch();
  const auto flux = m_base_flux, tauc = flow.tauc, u = state.u_ssa, v = state.v_ssa, geothermal = forcing.bheatflx;
  const auto mask = state.mask;
  const TillLaw till = m_till;
  for_each_cell(
      "heat flux into the base", patch, KOKKOS_LAMBDA(int j, int i) {
        flux(j, i) = geothermal(j, i);
        if (mask(j, i) != grounded_ice) return;
        const double speed2 = u(j, i) * u(j, i) + v(j, i) * v(j, i);
        flux(j, i) += tauc(j, i) * till.drag(speed2) * speed2; // friction: beta |u|^2, W m-2
      });
  const HorizontalVelocity& velocity = flow.velocity;
  const MeltedInside mine =
      temperature_step(patch, m_grid.dx, m_grid.dy, dt, m_levels, state.thk, state.mask, forcing.ice_surface_temp, m_base_flux,
                       velocity.u, velocity.v, flow.w, velocity.sigma, state.temp, m_temp, m_melted);
  std::swap(state.temp, m_temp);
  m_ranks.update_ghosts({state.temp});
  return sum_over_ranks<FixedSum>(m_ranks, {mine.ice});
}

} // namespace nunatak
