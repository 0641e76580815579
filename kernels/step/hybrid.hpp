// The hybrid step over the local ranks of a process: PICO, stress balance, temperature, transport. No files, options or clock:
// the model (miniapp/model/model.hpp) runs it on MPI, nunatak-step on thousands of virtual ranks, and tests on both.
//
//   Hybrid hybrid(ranks, dx, dy, levels, options, solver, states, forcings, watch);
//   while (...) {
//     hybrid.diagnose();                      // flow and melt of the present state
//     hybrid.advance(hybrid.stable_step().dt) // temperature, thickness, surface, mask
//   }
//
// Every function but the accessors is collective.
#pragma once

#include "kernels/pico/pico.hpp"
#include "kernels/step/energy.hpp"
#include "kernels/step/mass_transport.hpp"
#include "kernels/step/stress_balance.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nunatak {

struct HybridOptions {
  StressBalanceOptions stress;
  TillLaw till = SsaOptions{}.till(); ///< of the friction that heats the base: that of the solver of the SSA
  std::optional<PicoOptions> pico;    ///< none: no melt below shelves
  bool energy = true;                 ///< false: the temperature stays
  double dt_max = seconds_per_year;   ///< s
};

/// What one step did, over all ranks.
struct StepSums {
  MassBudget budget;
  FixedSum melted_inside; ///< metres of ice, summed over cells; counted, not taken from the thickness
};
struct Step : StepSums {
  double dt = 0.0; ///< s
};

class Hybrid {
public:
  /// states, forcings: one per local rank, ghosts valid. `sliding`: none if the base does not slide. `ranks`, `levels` and
  /// `watch` must outlive this object.
  Hybrid(Ranks& ranks, double dx, double dy, const Levels& levels, const HybridOptions& options,
         std::unique_ptr<SsaSolver> sliding, std::vector<State> states, std::vector<Forcing> forcings, StepWatch& watch)
      : m_ranks(ranks), m_dx(dx), m_dy(dy), m_options(options), m_watch(watch), m_states(std::move(states)),
        m_forcings(std::move(forcings)), m_stress_balance(ranks, dx, dy, levels, options.stress, std::move(sliding), watch),
        m_energy(ranks, dx, dy, levels, options.till), m_transport(ranks, dx, dy) {
    for (int n = 0; n < ranks.local_size(); ++n) {
      m_ocean.emplace_back(ranks.patch(n));
      m_melt.push_back(m_ocean.back().melt);
    }
    if (options.pico) m_pico.emplace(ranks, dx, dy, *options.pico);
  }

  /// The melt below ice shelves and the flow, for the present states. Changes their sliding velocity, nothing else of them.
  /// Throws SsaError if the stress balance cannot be solved.
  void diagnose() {
    if (m_pico) {
      const StepPart part(m_watch, "ocean");
      std::vector<PicoInput> inputs;
      for (std::size_t n = 0; n < m_states.size(); ++n) {
        const State& s = m_states[n];
        const Forcing& f = m_forcings[n];
        inputs.push_back({s.thk, s.topg, s.mask, f.basins, f.theta_ocean, f.salinity_ocean});
      }
      m_pico_report = m_pico->update(inputs, m_ocean);
    }
    m_stress_balance.update(m_states, m_forcings, m_melt);
  }

  /// The longest stable step for the flow of the last diagnose(), and what limits it.
  TimeStep stable_step() const {
    return time_step(m_dx, m_dy, m_stress_balance.D_max(), m_stress_balance.advection_rate_max(), m_options.dt_max);
  }

  /// Temperature and then thickness, surface and mask after `dt` seconds (0: of the present state), ghosts included, with the
  /// flow and melt of the last diagnose(). One sum.
  Step advance(double dt) {
    if (m_options.energy) {
      const StepPart part(m_watch, "energy");
      m_energy.step(m_states, m_stress_balance.flows(), m_forcings, dt);
    }
    const StepPart part(m_watch, "mass transport");
    m_transport.step(m_states, m_stress_balance.flows(), m_forcings, m_melt, dt, m_options.energy);
    std::vector<StepSums> sums;
    for (std::size_t n = 0; n < m_states.size(); ++n) sums.push_back({m_transport.budget(n), m_energy.melted(n)});
    return {sum_over_ranks(m_ranks, sums), dt};
  }

  const State& state(int local) const { return m_states[static_cast<std::size_t>(local)]; }
  const Forcing& forcing(int local) const { return m_forcings[static_cast<std::size_t>(local)]; }
  const Flow& flow(int local) const { return m_stress_balance.flows()[static_cast<std::size_t>(local)]; }
  const PicoFields& ocean(int local) const { return m_ocean[static_cast<std::size_t>(local)]; }
  const StressBalance& stress_balance() const { return m_stress_balance; }
  bool has_ocean() const { return m_pico.has_value(); }
  const PicoReport& last_ocean() const { return m_pico_report; } ///< of the last diagnose()

private:
  Ranks& m_ranks;
  double m_dx, m_dy; // m
  HybridOptions m_options;
  StepWatch& m_watch;
  std::vector<State> m_states;
  std::vector<Forcing> m_forcings;
  StressBalance m_stress_balance;
  Energy m_energy;
  MassTransport m_transport;
  std::optional<Pico> m_pico;
  std::vector<PicoFields> m_ocean;
  std::vector<Array2<double>> m_melt; // of m_ocean
  PicoReport m_pico_report;
};

} // namespace nunatak
