#include "miniapp/model/mass_transport.hpp"

#include "kernels/grid/constants.hpp"

namespace nunatak {

MassTransport::MassTransport(const Grid& grid, MpiRanks& ranks)
    : m_grid(grid), m_ranks(ranks), m_q_x(make_array<double>("q_x", ranks.patch())),
      m_q_y(make_array<double>("q_y", ranks.patch())), m_outflow(make_array<double>("outflow_factor", ranks.patch())),
      m_balance(make_array<double>("surface_balance", ranks.patch())), m_thk(make_array<double>("thk_next", ranks.patch())) {}

MassBudget MassTransport::step(State& state, const Flow& flow, const Forcing& forcing, const Array2<double>& melt, double dt) {
  const Patch patch = m_ranks.patch();
  const double dx = m_grid.dx, dy = m_grid.dy;
  total_flux(patch, state.usurf, state.thk, state.mask, state.u_ssa, state.v_ssa, flow.q_x, flow.q_y, m_q_x, m_q_y);
  outflow_factor(patch, dx, dy, dt, state.thk, m_q_x, m_q_y, m_outflow);
  m_ranks.update_ghosts({m_outflow});

  const auto balance = m_balance;
  const auto mass_balance = forcing.climatic_mass_balance;
  for_each_cell(
      "surface balance in metres of ice", patch, KOKKOS_LAMBDA(int j, int i) { balance(j, i) = mass_balance(j, i) / rho_ice; });
  const MassBudget mine =
      update_thickness(patch, dx, dy, dt, state.thk, state.mask, m_q_x, m_q_y, m_outflow, balance, melt, m_thk);
  std::swap(state.thk, m_thk);
  m_ranks.update_ghosts({state.thk});
  update_geometry(patch, state.topg, state.thk, state.usurf, state.mask);
  return sum_over_ranks<MassBudget>(m_ranks, {mine});
}

} // namespace nunatak
