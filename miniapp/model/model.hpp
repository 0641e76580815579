// The model on its grid: state and forcing, the hybrid step on MPI, and its fields by name.
// Neighbours: kernels/step/hybrid.hpp (physics), miniapp/main.cpp (clock and files).
//
//   Model model(options, comm, timers, log);
//   while (...) {
//     model.diagnose(time);                  // flow and melt of the present state
//     model.advance(model.stable_step().dt); // temperature, thickness, surface, mask
//   }
//
// All functions except the accessors are collective.
#pragma once

#include "kernels/step/hybrid.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/initial.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nunatak {

/// SSA parameters from the options.
SsaOptions ssa_options(const Options& options);

class Model {
public:
  /// Replaces "auto" in `options`. `timers` and `log` must outlive the model. Errors: input.hpp.
  Model(Options& options, MPI_Comm comm, Timers& timers, const Log& log);

  /// Computes sub-shelf melt and flow of the present state at `time` (s, for the report). Of the
  /// state only the sliding velocity changes. Throws SsaError if the solver fails.
  void diagnose(double time);

  /// The longest stable step for the flow of the last diagnose(), and its limiting criterion.
  TimeStep stable_step() const { return m_hybrid->stable_step(); }

  /// Advances temperature, then thickness, surface and mask by `dt` seconds (0: of the present
  /// state), ghosts included, with flow and melt of the last diagnose().
  void advance(double dt);

  const Grid& grid() const { return m_grid; }
  MpiRanks& ranks() { return *m_ranks; }
  const State& state() const { return m_hybrid->state(0); }
  const Forcing& forcing() const { return m_hybrid->forcing(0); }
  const Levels& levels() const { return m_levels; }
  const Flow& flow() const { return m_hybrid->flow(0); }
  const Hybrid& hybrid() const { return *m_hybrid; }
  const SsaReport& last_solve() const { return m_hybrid->stress_balance().last_solve(); }

  const InitialState& initial() const { return m_initial; }
  /// State, forcing, and the diagnostics of the last diagnose(). Names are unique, except that
  /// diagnostics may repeat forcing: the first field of a name counts.
  FieldList fields();
  FieldList failed_fields(); ///< fields() and the residual, after an SsaError
  nlohmann::json report();   ///< input, ssa, ocean, messages

private:
  // Timers of the parts of a step; sends what PISM does in them (-halo pism).
  class Watch final : public StepWatch {
  public:
    Watch(Timers& timers, Model& model) : m_timers(timers), m_model(model) {}
    void begin(const char* part) override {
      m_part = part;
      m_scope.emplace(m_timers, part);
    }
    void end() override {
      if (m_model.m_as_pism) m_model.send_as_pism(m_part);
      m_scope.reset();
    }
    // not of loops on a device, for which a share would have to wait
    void begin_share(const char* share) override {
      if (loops_on_host) m_timers.begin_share(share);
    }
    void end_share() override {
      if (loops_on_host) m_timers.end_share();
    }

  private:
    Timers& m_timers;
    Model& m_model;
    std::string m_part;
    std::optional<Timers::Scope> m_scope;
  };

  void send_as_pism(const std::string& part);
  nlohmann::json ssa_report() const;
  nlohmann::json ocean_report() const;

  Watch m_watch;
  const Log& m_log;
  InitialState m_initial;
  Grid m_grid;
  std::unique_ptr<MpiRanks> m_ranks;
  Levels m_levels;
  std::unique_ptr<Hybrid> m_hybrid;
  Array2<double> m_speed_surface, m_speed_base; // of the last fields()
  bool m_view_solver, m_as_pism, m_keeps_solves;
  bool m_has_unread_options = false; // of PETSc's solver, until there is ice that slides
  nlohmann::json m_history = nlohmann::json::array(); // an entry per SSA solve, for the report
  std::int64_t m_solves = 0, m_steps = 0, m_iterations = 0, m_reductions = 0; // of the SSA
  std::int64_t m_updates = 0, m_kept = 0, m_collectives = 0;                  // of PICO
};

} // namespace nunatak
