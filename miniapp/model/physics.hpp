// The parts of a step from the options (kernels/step/hybrid.hpp), their fields by name and reports.
#pragma once

#include "kernels/step/hybrid.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/options.hpp"

#include <nlohmann/json.hpp>

namespace nunatak {

/// SSA parameters from the options.
SsaOptions ssa_options(const Options& options);
HybridOptions hybrid_options(const Options& options);

/// The fields of a restart file, each marked as such: the state and the given forcing.
FieldList restart_fields(const State& state, const Forcing& forcing);

/// Diagnostics of the last diagnose() of local rank 0, with PICO's if it runs.
class Diagnostics {
public:
  explicit Diagnostics(const Patch& patch);
  void add_fields(const Hybrid& hybrid, FieldList& fields) const;
  /// Residual of the last SSA solve.
  void add_residual(const Hybrid& hybrid, FieldList& fields) const;

private:
  Patch m_patch;
  Array2<double> m_speed_surface, m_speed_base, m_residual_x, m_residual_y;
};

/// The cost of the updates of a run, for its report.
class PhysicsReport {
public:
  void add(const Hybrid& hybrid, double time); ///< after diagnose() at `time` (s)
  nlohmann::json stress_balance(const Hybrid& hybrid) const;
  nlohmann::json ocean(const Hybrid& hybrid) const;

private:
  nlohmann::json m_solves = nlohmann::json::array(); // one entry per SSA solve
  std::int64_t m_updates = 0, m_kept = 0, m_collectives = 0;
};

} // namespace nunatak
