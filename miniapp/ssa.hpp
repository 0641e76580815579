// The shallow shelf approximation (SSA): sliding velocity from geometry, till and hardness. PETSc's SNES on Q1 finite elements.
//
//   d/dx [2 nu H (2 u_x + v_y)] + d/dy [nu H (u_y + v_x)] - beta u = rho g H h_x, and the same with x and y exchanged
//   (MacAyeal 1989, eqs 14 and 15; till as in Schoof 2006). Weak form, margin, fronts: kernels/ssa_q1.hpp; unknowns, icebergs,
//   domain edges: miniapp/ssa_assembly.hpp.
//
// Method: a few Picard steps (viscosity and drag frozen; full steps), then Newton (newtonls). Both operators are symmetric
// positive definite. Newton's step length comes from the slope of the energy that the SSA minimises, which is convex: see
// slope_search in ssa.cpp. After every tenth Newton step comes one more Picard step: Newton circles around elements whose strain
// rate goes to zero, and one Picard step settles them. Linear systems: CG with algebraic multigrid, BoomerAMG of hypre (GAMG
// where PETSc has no hypre). The rotation is not among GAMG's near-null vectors: aggregates of one cell, frequent where drag is
// strong, cannot hold three.
//
// PETSc options have the prefix ssa_: -ssa_ksp_type, -ssa_pc_type, -ssa_snes_monitor, ...
#pragma once

#include "miniapp/ssa_system.hpp"

#include <memory>
#include <string>

namespace nunatak {

struct SsaOptions {
  double glen_n = 3.0;                                ///< exponent of the flow law; 1: linear
  double epsilon = 1.0 / seconds_per_year / 1.0e6;    ///< regularising strain rate, s-1: 1 m/a per 1000 km
  double till_q = 0.25;                               ///< exponent of the sliding law: 0 plastic, 1 linear
  double till_delta = 0.01 / seconds_per_year;        ///< regularising speed, m s-1
  double till_u_threshold = 100.0 / seconds_per_year; ///< speed at which the drag is tau_c, m s-1
  bool till_subgrid = true;                           ///< drag on the grounded part of a cell; false: on cells of the mask
  double tolerance = 1.0e-6;                          ///< |residual| <= tolerance |load|, 2-norms over unknowns (N)
  int picard_steps = 2;                               ///< before Newton takes over
  int max_newton_steps = 50;                          ///< of one solve
  SsaSystemOptions system;
};

struct SsaReport {
  std::int64_t unknown_cells = 0;  ///< two unknowns each
  std::int64_t excluded_cells = 0; ///< icebergs: ice without anything that holds it
  int picard_steps = 0, newton_steps = 0, linear_iterations = 0;
  double load_norm = 0.0;                              ///< N; what the residuals are compared with
  double initial_residual = 0.0, final_residual = 0.0; ///< N
  std::string reason;                                  ///< why the iteration stopped, in PETSc's words
  double seconds_setup = 0.0, seconds_residual = 0.0, seconds_jacobian = 0.0, seconds_linear = 0.0, seconds_total = 0.0;
};

class Ssa {
public:
  /// `ranks` must outlive this object. dx, dy in m.
  Ssa(MpiRanks& ranks, double dx, double dy, const SsaOptions& options);
  ~Ssa();
  Ssa(const Ssa&) = delete;
  Ssa& operator=(const Ssa&) = delete;

  /// Solve for the velocity (u, v), m s-1. In: the first guess in owned cells. Out: the solution, in owned cells and ghosts; 0 in
  /// cells without ice and in excluded ones. Collective; throws Error on every rank if it does not converge, with the residual
  /// and the step at which it stopped.
  SsaReport solve(const SsaInput& input, const Array2<double>& u, const Array2<double>& v);

private:
  class Solver;
  std::unique_ptr<Solver> m_solver;
};

} // namespace nunatak
