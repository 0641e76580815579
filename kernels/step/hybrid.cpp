#include "kernels/step/hybrid.hpp"

#include <algorithm>
#include <stdexcept>

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

// What a part reads -> writes, with ghosts where it is in parentheses, stands above its row.
const std::vector<Hybrid::Part>& Hybrid::parts() {
  using H = Hybrid;
  static const std::vector<Part> table = {
      // H, b, mask, basins, theta, S -> melt and the other fields of PICO
      {part::ocean, Phase::diagnosis, Work::pico, 4, 0, 0, &H::melt_shelves, &H::has_ocean},
      // b, H, mask, T -> tauc, (hardav), softness
      {part::material, Phase::diagnosis, Work::till, 0, 9, 1.2, &H::set_material},
      // H, h, b, mask, tauc, hardness -> (u_ssa, v_ssa)
      {part::sliding, Phase::diagnosis, Work::ssa, 0, 0, 0, &H::slide, &H::slides},
      // edges, H, mask, softness -> q
      {part::shearing, Phase::diagnosis, Work::sia, 0, 10, 0, &H::shear},
      // edges, H, mask, softness, u_ssa, v_ssa, melt -> (u, v), w, heating, limits of dt
      {part::velocity, Phase::diagnosis, Work::velocity, 0, 0, 1.75, &H::set_velocities},
      // H, mask, T, T_s, G, tauc, u_ssa, v_ssa, u, v, w, heating -> T
      {part::energy, Phase::advance, Work::energy, 0, 0, 3, &H::change_temperature, &H::is_thermal},
      // edges, H, mask, u_ssa, v_ssa, q, M, melt -> (H, T), h, mask, edges
      {part::transport, Phase::advance, Work::transport, 4, 0, 0, &H::move_ice}};
  return table;
}

const Hybrid::Part& Hybrid::part(const std::string& name) {
  const auto found = std::find_if(parts().begin(), parts().end(),
                                  [&](const Part& part) { return part.name == name; });
  if (found == parts().end())
    throw std::invalid_argument("part of the step: expected one of the table, found " + name);
  return *found;
}

void Hybrid::run(Phase phase, double dt) {
  m_dt = dt;
  for (const Part& part : parts()) {
    if (part.phase != phase || (part.is_on != nullptr && !(this->*part.is_on)())) continue;
    const StepPart timed(m_ranks, part.name);
    (this->*part.run)();
  }
}

void Hybrid::melt_shelves() {
  std::vector<PicoInput> inputs;
  for (const int n : m_ranks.locals()) {
    const State& s = m_states[n];
    const Forcing& f = m_forcings[n];
    inputs.push_back({s.thk, s.topg, s.mask, f.basins, f.theta_ocean, f.salinity_ocean});
  }
  const StepShare share(m_ranks, "ocean: boxes and melt");
  m_pico_report = m_pico->update(inputs, m_ocean);
}

void Hybrid::set_material() { m_stress_balance.set_material(m_states, m_forcings); }
void Hybrid::slide() { m_stress_balance.slide(m_states, m_forcings); }
void Hybrid::shear() { m_stress_balance.shear(m_states); }
void Hybrid::set_velocities() { m_stress_balance.set_velocities(m_states, m_melt); }

void Hybrid::change_temperature() {
  m_energy.step(m_states, m_stress_balance.flows(), m_forcings, m_dt);
  if (m_options.temperature_apart)
    launch_ghosts(m_ranks,
                  [this](std::size_t n) -> std::vector<Ghosted> { return {m_states[n].temp}; });
}

void Hybrid::move_ice() {
  m_transport.step(m_states, m_stress_balance.flows(), m_forcings, m_melt, m_dt,
                   m_options.energy && !m_options.temperature_apart);
}

std::vector<StepSums> Hybrid::step_sums() const {
  std::vector<StepSums> sums;
  for (std::size_t n = 0; n < m_states.size(); ++n)
    sums.push_back({m_transport.budget(n), m_energy.melted(n)});
  return sums;
}

} // namespace nunatak
