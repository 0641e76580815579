// The hybrid step over the local ranks of a process: PICO, stress balance, temperature, transport.
// No files, options or clock: the model (miniapp/model/model.hpp) runs it on MPI, nunatak-step on
// thousands of virtual ranks, and tests on both.
//
//   Hybrid hybrid(ranks, dx, dy, levels, options, solver, states, forcings);
//   while (...) {
//     hybrid.diagnose();                       // flow and melt of the present state
//     hybrid.advance(hybrid.stable_step().dt); // temperature, thickness, surface, mask
//   }
//
// All functions except the accessors are collective.
#pragma once

#include "kernels/pico/pico.hpp"
#include "kernels/step/energy.hpp"
#include "kernels/step/mass_transport.hpp"
#include "kernels/step/stress_balance.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace nunatak {

/// Names of parts of the step (Hybrid::parts) and of the model.
namespace part {
constexpr const char *ocean = "ocean", *material = "stress balance: till, hardness",
                     *sliding = "stress balance: SSA", *shearing = "stress balance: SIA",
                     *velocity = "stress balance: 3-D velocity", *energy = "energy",
                     *transport = "mass transport", *geometry = "geometry", *checks = "checks";
} // namespace part

struct HybridOptions {
  StressBalanceOptions stress;
  TillLaw till = SsaOptions{}.till(); ///< sliding law of the SSA, for frictional heating
  std::optional<PicoOptions> pico;    ///< none: no melt below shelves
  bool energy = true;                 ///< false: the temperature is constant
  bool temperature_apart = false;     ///< its ghosts are not sent with those of the thickness
  double dt_max = seconds_per_year;   ///< s
};

struct StepSums {
  MassBudget budget;
  FixedSum melted_inside; ///< metres of ice; counted, not taken from the thickness
};

class Hybrid {
public:
  enum class Phase { diagnosis, advance };
  struct Part {
    const char* name; ///< in timers, reports and nunatak-step
    Phase phase;
    Work loop;
    double cell, icy_cell, level; ///< cost, visits per cell, ...; 0: the part counts its own
    void (Hybrid::*run)();
    bool (Hybrid::*is_on)() const = nullptr; ///< nullptr: in every run
  };
  /// In the order of the step.
  static const std::vector<Part>& parts();
  static const Part& part(const std::string& name);

  /// states, forcings: one per local rank, ghosts valid. `sliding`: null if the base does not
  /// slide. `ranks` and `levels` must outlive this object.
  Hybrid(Ranks& ranks, double dx, double dy, const Levels& levels, const HybridOptions& options,
         std::unique_ptr<SsaSolver> sliding, std::vector<State> states,
         std::vector<Forcing> forcings);
  ~Hybrid();

  /// Basal melt of ice shelves and flow of the present states, of which only the sliding velocity
  /// changes. Throws SsaError if the stress balance cannot be solved.
  void diagnose() { run(Phase::diagnosis, 0.0); }

  /// The longest stable step for the flow of the last diagnose(), and its limit.
  TimeStep stable_step() const {
    return time_step(m_dx, m_dy, m_stress_balance.D_max(), m_stress_balance.advection_rate_max(),
                     m_options.dt_max);
  }

  /// Advances temperature, then thickness, surface and mask by `dt` seconds (0: recomputes the
  /// present state), ghosts included, with the flow and melt of the last diagnose(). Asynchronous.
  void advance(double dt) { run(Phase::advance, dt); }
  /// Sums of the last advance() on each local rank, after a fence, for sum_over_ranks.
  std::vector<StepSums> step_sums() const;

  const State& state(int local) const { return m_states[local]; }
  const Forcing& forcing(int local) const { return m_forcings[local]; }
  const Flow& flow(int local) const { return m_stress_balance.flows()[local]; }
  const PicoFields& ocean(int local) const { return m_ocean[local]; }
  const StressBalance& stress_balance() const { return m_stress_balance; }
  bool has_ocean() const { return m_pico.has_value(); }
  const PicoReport& last_ocean() const { return m_pico_report; } ///< of the last diagnose()

private:
  void run(Phase phase, double dt);
  void melt_shelves(), set_material(), slide(), shear(), set_velocities(), change_temperature(),
      move_ice(); // parts
  bool slides() const { return m_stress_balance.sliding() != nullptr; }
  bool is_thermal() const { return m_options.energy; }

  Ranks& m_ranks;
  double m_dx, m_dy; // m
  double m_dt = 0.0; // s, of advance()
  HybridOptions m_options;
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
