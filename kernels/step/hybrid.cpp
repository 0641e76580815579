#include "kernels/step/hybrid.hpp"

namespace nunatak {

Hybrid::Hybrid(Ranks& ranks, double dx, double dy, const Levels& levels,
               const HybridOptions& options, std::unique_ptr<SsaSolver> sliding,
               std::vector<State> states, std::vector<Forcing> forcings)
    : m_ranks(ranks), m_dx(dx), m_dy(dy), m_options(options), m_states(std::move(states)),
      m_forcings(std::move(forcings)),
      m_stress_balance(ranks, dx, dy, levels, options.stress, std::move(sliding)),
      m_energy(ranks, dx, dy, levels, options.till), m_transport(ranks, dx, dy) {
  for (const int n : ranks.locals()) {
    m_ocean.emplace_back(ranks.patch(n));
    m_melt.push_back(m_ocean.back().melt);
  }
  if (options.pico) m_pico.emplace(ranks, dx, dy, *options.pico);
}
Hybrid::~Hybrid() = default;

void Hybrid::diagnose() {
  if (m_pico) {
    const StepPart part(m_ranks, "ocean");
    std::vector<PicoInput> inputs;
    for (const int n : m_ranks.locals()) {
      const State& s = m_states[n];
      const Forcing& f = m_forcings[n];
      inputs.push_back({s.thk, s.topg, s.mask, f.basins, f.theta_ocean, f.salinity_ocean});
    }
    const StepShare share(m_ranks, "ocean: boxes and melt");
    m_pico_report = m_pico->update(inputs, m_ocean);
  }
  m_stress_balance.update(m_states, m_forcings, m_melt);
}

void Hybrid::advance(double dt) {
  if (m_options.energy) {
    const StepPart part(m_ranks, "energy");
    m_energy.step(m_states, m_stress_balance.flows(), m_forcings, dt);
    if (m_options.temperature_apart)
      launch_ghosts(m_ranks,
                    [this](std::size_t n) -> std::vector<Ghosted> { return {m_states[n].temp}; });
  }
  const StepPart part(m_ranks, "mass transport");
  m_transport.step(m_states, m_stress_balance.flows(), m_forcings, m_melt, dt,
                   m_options.energy && !m_options.temperature_apart);
}

std::vector<StepSums> Hybrid::step_sums() const {
  std::vector<StepSums> sums;
  for (std::size_t n = 0; n < m_states.size(); ++n)
    sums.push_back({m_transport.budget(n), m_energy.melted(n)});
  return sums;
}

} // namespace nunatak
