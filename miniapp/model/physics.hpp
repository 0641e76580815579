// The parts of a step as the options of the program ask for them (kernels/step/hybrid.hpp), their
// state and diagnostics by name, and their reports.
#pragma once

#include "kernels/step/hybrid.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/options.hpp"

#include <nlohmann/json.hpp>

namespace nunatak {

/// The parameters of the SSA that the options of the program set.
SsaOptions ssa_options(const Options& options);
HybridOptions hybrid_options(const Options& options);

/// What a restart file holds, each marked so: the state, and the forcing that was given.
FieldList restart_fields(const State& state, const Forcing& forcing);

/// The diagnostics of the last diagnose() of local rank 0; those of PICO if it runs. The speeds are
/// computed into the arrays given.
class Diagnostics {
public:
  explicit Diagnostics(const Patch& patch);
  void add_fields(const Hybrid& hybrid, FieldList& fields) const;
  void add_residual(const Hybrid& hybrid,
                    FieldList& fields) const; ///< of the last solve of the SSA

private:
  Patch m_patch;
  Array2<double> m_speed_surface, m_speed_base, m_residual_x, m_residual_y;
};

/// What the updates of a run took, for its report.
class PhysicsReport {
public:
  void add(const Hybrid& hybrid, double time); ///< of the last diagnose(), at `time` (s)
  nlohmann::json stress_balance(const Hybrid& hybrid) const;
  nlohmann::json ocean(const Hybrid& hybrid) const;

private:
  nlohmann::json m_solves = nlohmann::json::array(); // one entry per solve of the SSA
  std::int64_t m_updates = 0, m_kept = 0, m_collectives = 0;
};

} // namespace nunatak
