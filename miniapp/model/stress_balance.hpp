// The stress balance of the hybrid model (Winkelmann et al. 2011): sliding by the SSA (miniapp/model/ssa.hpp), shearing by the
// SIA (kernels/ice/sia.hpp), and the velocity at every level that follows from both (kernels/ice/velocity3d.hpp).
#pragma once

#include "kernels/ice/levels.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/till.hpp"
#include "kernels/ice/velocity3d.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/ssa.hpp"
#include "miniapp/model/state.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace nunatak {

/// How the ice moves over its base, for one geometry; how the base moves is in the State (u_ssa, v_ssa). Arrays are valid in
/// owned cells; velocity.u, velocity.v in ghosts too.
struct Flow {
  Array2<double> q_x, q_y;     ///< flux by shearing through faces, m2 s-1 (kernels/ice/sia.hpp)
  HorizontalVelocity velocity; ///< at the levels, at the surface, mean over depth; strain heating
  Array3<double> w;            ///< vertical velocity across the levels, m s-1
  Array2<double> tauc, hardav; ///< till yield stress, Pa; vertically averaged hardness, Pa s^(1/3)
  double D_max = 0.0;          ///< largest diffusivity of the SIA, m2 s-1, over all ranks
  double advection_rate = 0.0; ///< largest |u|/dx + |v|/dy, s-1, over all ranks
};

/// The parameters of the SSA that the options of the program set.
SsaOptions ssa_options(const Options& options);

class StressBalance {
public:
  StressBalance(const Options& options, const Grid& grid, const Levels& levels, MpiRanks& ranks, Timers& timers, const Log& log);

  /// The flow for the geometry and temperature of `state` (with ghosts) at `time` (s), and its sliding velocity: state.u_ssa and
  /// state.v_ssa are the first guess and become the solution, ghosts included; nothing else of `state` changes. `melt`: basal
  /// melt of floating ice, m s-1. Collective. Throws SsaError if the SSA does not converge.
  const Flow& update(State& state, const Forcing& forcing, const Array2<double>& melt, double time);

  void add_fields(const State& state, FieldList& fields); ///< diagnostics of the last update
  void add_residual(FieldList& fields);                   ///< of the last solve
  nlohmann::json report() const;                          ///< solves and iterations so far
  const Flow& flow() const { return m_flow; }             ///< of the last update

  const SsaReport& last_solve() const { return m_last; }

private:
  void material(const State& state, const Forcing& forcing);

  const Grid& m_grid;
  const Levels& m_levels;
  MpiRanks& m_ranks;
  Timers& m_timers;
  const Log& m_log;
  bool m_slides, m_shears, m_isothermal;
  double m_softness, m_sia_enhancement, m_ssa_enhancement;
  TillParameters m_till;
  std::unique_ptr<SsaSolver> m_ssa;
  Flow m_flow;
  Array2<double> m_ssa_hardness;   // B of the SSA, Pa s^(1/3)
  Array2<double> m_softness_field; // A of the SIA, Pa-3 s-1; 0 without shearing
  Array2<double> m_speed_surface, m_speed_base, m_residual_x, m_residual_y;
  SsaReport m_last;
  nlohmann::json m_solves = nlohmann::json::array(); // one entry per solve
  bool m_view;
};

} // namespace nunatak
