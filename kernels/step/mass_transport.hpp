// One step of mass transport: kernels/ice/transport.hpp with its ghost exchanges.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ice/transport.hpp"
#include "kernels/step/state.hpp"

#include <utility>
#include <vector>

namespace nunatak {

class MassTransport {
public:
  MassTransport(Ranks& ranks, double dx, double dy) : m_ranks(ranks), m_dx(dx), m_dy(dy) {
    for (const int n : ranks.locals()) m_work.emplace_back(ranks.patch(n));
  }

  /// Advances thk, usurf and mask of `states` by dt seconds, ghosts included. melt: basal melt of
  /// floating ice, m s-1. Two exchanges, the second including the temperature if it has changed.
  void step(std::vector<State>& states, const std::vector<Flow>& flows,
            const std::vector<Forcing>& forcings, const std::vector<Array2<double>>& melt,
            double dt, bool temperature_changed = false) {
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      const Work& w = m_work[n];
      total_flux(m_ranks.patch(n), s.edges, s.thk, s.mask, s.u_ssa, s.v_ssa, flows[n].q_x,
                 flows[n].q_y, w.q_x, w.q_y);
      outflow_factor(m_ranks.patch(n), m_dx, m_dy, dt, s.thk, w.q_x, w.q_y, w.outflow);
    }
    launch_ghosts(m_ranks,
                  [this](std::size_t n) -> std::vector<Ghosted> { return {m_work[n].outflow}; });
    for (const int n : m_ranks.locals()) {
      State& s = states[n];
      Work& w = m_work[n];
      update_thickness(m_ranks.patch(n), m_dx, m_dy, dt, s.thk, s.mask, w.q_x, w.q_y, w.outflow,
                       forcings[n].climatic_mass_balance, melt[n], w.thk, rho_ice, w.budget);
      std::swap(s.thk, w.thk);
    }
    launch_ghosts(m_ranks, [&](std::size_t n) -> std::vector<Ghosted> {
      if (temperature_changed) return {states[n].thk, states[n].temp};
      return {states[n].thk};
    });
    for (const int n : m_ranks.locals()) states[n].update_surface();
  }
  /// The budget of the last step, after a fence.
  MassBudget budget(std::size_t local) const { return m_work[local].budget(); }

private:
  struct Work {
    explicit Work(const Patch& p)
        : q_x(make_array<double>("q_x", p)), q_y(make_array<double>("q_y", p)),
          outflow(make_array<double>("outflow_factor", p)), thk(make_array<double>("thk_next", p)),
          budget(make_later<MassBudget>("mass budget")) {}
    Array2<double> q_x, q_y, outflow, thk;
    Later<MassBudget> budget;
  };

  Ranks& m_ranks;
  double m_dx, m_dy; // m
  std::vector<Work> m_work;
};

} // namespace nunatak
