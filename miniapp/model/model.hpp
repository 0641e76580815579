// The model on its grid: state, forcing and the parts of a step. What is not here: the clock, and files (miniapp/main.cpp).
//
//   Model model(options, comm, timers, log);
//   while (...) {
//     model.diagnose(time);                  // flow and melt of the present state
//     model.advance(model.stable_step().dt); // temperature, thickness, surface, mask
//   }
//
// Every function but the accessors is collective.
#pragma once

#include "kernels/ice/time_step.hpp"
#include "miniapp/model/energy.hpp"
#include "miniapp/model/initial.hpp"
#include "miniapp/model/mass_transport.hpp"
#include "miniapp/model/ocean.hpp"
#include "miniapp/model/stress_balance.hpp"

namespace nunatak {

/// What one step did, over all ranks.
struct Step {
  double dt = 0.0; ///< s
  MassBudget budget;
  FixedSum melted_inside; ///< metres of ice, summed over cells; counted, not taken from the thickness
};

class Model {
public:
  /// Reads or generates state and forcing. `options` gets the values of "auto". `timers` and `log` must outlive the model.
  /// Throws Error, see input.hpp.
  Model(Options& options, MPI_Comm comm, Timers& timers, const Log& log);

  /// The melt below ice shelves and the flow, for the present state at `time` (s, for the records of the solves). Changes the
  /// sliding velocity of the state, nothing else of it. Throws SsaError if the stress balance cannot be solved.
  void diagnose(double time);

  /// The longest stable step for the flow of the last diagnose(), and what limits it.
  TimeStep stable_step() const;

  /// Temperature and then thickness, surface and mask after `dt` seconds (0: of the present state), ghosts included, with the
  /// flow and melt of the last diagnose().
  Step advance(double dt);

  const Grid& grid() const { return m_grid; }
  MpiRanks& ranks() { return *m_ranks; }
  const State& state() const { return m_state; }
  const Forcing& forcing() const { return m_forcing; }
  const Levels& levels() const { return m_levels; }
  const Flow& flow() const { return m_stress_balance.flow(); }
  const SsaReport& last_solve() const { return m_stress_balance.last_solve(); }

  double start_time() const { return m_initial.time(); }   ///< of the initial state, s
  bool continues() const { return m_initial.continues(); } ///< a run that had come to start_time()
  std::string title() const { return m_initial.title(); }  ///< "nunatak run from ..."
  FieldList fields();                                      ///< state, forcing, and the diagnostics of the last diagnose()
  FieldList failed_fields();                               ///< the same and the residual, after an SsaError
  nlohmann::json report() const;                           ///< input, ssa, ocean, messages

private:
  std::vector<double> read_state();

  Timers& m_timers;
  double m_dt_max; // s
  InitialState m_initial;
  Grid m_grid;
  std::unique_ptr<MpiRanks> m_ranks;
  State m_state;
  Forcing m_forcing;
  Levels m_levels;
  StressBalance m_stress_balance;
  Ocean m_ocean;
  Energy m_energy;
  MassTransport m_transport;
};

} // namespace nunatak
