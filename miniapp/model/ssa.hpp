// The shallow shelf approximation (SSA): sliding velocity from geometry, till and hardness. PETSc's SNES on Q1 finite elements.
//
//   d/dx [2 nu H (2 u_x + v_y)] + d/dy [nu H (u_y + v_x)] - beta u = rho g H h_x, and the same with x and y exchanged
//   (MacAyeal 1989, eqs 14 and 15; till as in Schoof 2006). Weak form, margin, fronts: kernels/ssa/element.hpp; unknowns,
//   icebergs, domain edges: kernels/ssa/assembly.hpp; linear systems: miniapp/model/ssa_system.hpp.
//
// Method. Every step solves with a symmetric positive definite matrix between Picard's and Newton's: each element takes as much
// of Newton's derivative as it may (newton_weight in kernels/ssa/rheology.hpp). The first matrix is Picard's, from rest with the
// viscosity of a typical strain rate. The length of the step comes from the slope of the energy that the SSA minimises, which is
// convex: see slope_search in ssa.cpp; nearly all steps are full. Linear systems: conjugate gradients to a twentieth of the
// residual (more is not repaid by fewer steps), and multigrid.
//
// PETSc options have the prefix ssa_: -ssa_ksp_type, -ssa_pc_type, -ssa_snes_monitor, ...
#pragma once

#include "miniapp/base/error.hpp"
#include "miniapp/model/ssa_system.hpp"

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
  double linear_tolerance = 0.05;                     ///< of a linear system, relative to its right-hand side
  int max_steps = 100;                                ///< of one solve
  SsaSystemOptions system;
};

/// What one solve took.
struct SsaReport {
  std::int64_t unknown_cells = 0;  ///< two unknowns each
  std::int64_t excluded_cells = 0; ///< icebergs: ice without anything that holds it
  int steps = 0;                   ///< nonlinear: matrices formed
  int damped_steps = 0;            ///< of them not taken in full
  int linear_iterations = 0;
  int reductions = 0;                                  ///< sums and maxima over all ranks (0 on one rank)
  double load_norm = 0.0;                              ///< N; what the residuals are compared with
  double initial_residual = 0.0, final_residual = 0.0; ///< N
  std::string reason;                                  ///< why the iteration stopped, in PETSc's words
  double seconds_setup = 0.0, seconds_residual = 0.0, seconds_jacobian = 0.0, seconds_linear = 0.0, seconds_total = 0.0;
};

/// A solve that did not converge. (u, v) hold its last state.
class SsaError : public Error {
public:
  using Error::Error;
};

class Ssa {
public:
  /// `ranks` must outlive this object. dx, dy in m.
  Ssa(MpiRanks& ranks, double dx, double dy, const SsaOptions& options);
  ~Ssa();
  Ssa(const Ssa&) = delete;
  Ssa& operator=(const Ssa&) = delete;

  /// Solve for the velocity (u, v), m s-1. In: the first guess in owned cells. Out: the solution, in owned cells and ghosts; 0 in
  /// cells without ice and in excluded ones. Collective; throws SsaError on every rank if it does not converge, with the residual
  /// and the step at which it stopped.
  SsaReport solve(const SsaInput& input, const Array2<double>& u, const Array2<double>& v);

  /// The residual (N) of each owned cell after the last solve; 0 where there is no unknown.
  void residual(const Array2<double>& r_x, const Array2<double>& r_y) const;
  /// The solver in words, as set up by the last solve.
  std::string describe() const;

private:
  class Solver;
  std::unique_ptr<Solver> m_solver;
};

} // namespace nunatak
