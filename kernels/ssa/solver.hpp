// The shallow shelf approximation (SSA): sliding velocity from geometry, till and hardness. The
// options and the report of a solve, and the interface of its solvers: SsaNewton (newton.hpp), and
// PETSc's SNES (miniapp/model/petsc/).
//
//   d/dx [2 nu H (2 u_x + v_y)] + d/dy [nu H (u_y + v_x)] - beta u = rho g H h_x, and the same with
//   x and y exchanged (MacAyeal 1989, eqs 14 and 15; till as in Schoof 2006). Weak form, margin,
//   fronts: element.hpp; unknowns, icebergs, domain edges: assembly.hpp.
//
// Method of both. Every step solves with a symmetric positive definite matrix between Picard's and
// Newton's: newton_weight (rheology.hpp) weights Newton's derivative in each element. The first
// matrix is Newton's; from rest, it is Picard's with the viscosity of a typical strain rate. The
// step length comes from the slope of the convex energy that the SSA minimises (SlopeSearch);
// nearly all steps are full. Linear systems: conjugate gradients to a tenth of the residual, with
// multigrid or another of preconditioners.hpp. Where a step leaves large residuals in few cells,
// SsaNewton takes a few in them alone.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/multigrid/preconditioner.hpp"
#include "kernels/ssa/unknowns.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

struct SsaOptions {
  double glen_n = 3.0; ///< exponent of the flow law; 1: linear
  double epsilon =
      1.0 / seconds_per_year / 1.0e6;          ///< regularising strain rate, s-1: 1 m/a per 1000 km
  double till_q = 0.75;                        ///< exponent of the sliding law: 0 plastic, 1 linear
  double till_delta = 0.01 / seconds_per_year; ///< regularising speed, m s-1
  double till_u_threshold = 100.0 / seconds_per_year; ///< speed at which the drag is tau_c, m s-1
  bool till_subgrid = true;      ///< drag by sub-grid grounded area; false: by the mask
  double tolerance = 1.0e-6;     ///< |residual| <= tolerance |load|, 2-norms over unknowns (N)
  double linear_tolerance = 0.1; ///< of a linear system, relative to its right-hand side
  int max_steps = 100;           ///< of one solve
  bool single_precision = true;  ///< of the preconditioner and of SsaNewton's conjugate gradients
  std::string preconditioner = "multigrid"; ///< preconditioners.hpp
  MultigridOptions multigrid;

  GlenLaw glen() const { return {glen_n, epsilon * epsilon}; }
  TillLaw till() const { return {till_q, till_delta * till_delta, till_u_threshold}; }
};

struct SsaReport {
  std::int64_t unknown_cells = 0;  ///< two unknowns each
  std::int64_t excluded_cells = 0; ///< icebergs: ice that nothing holds
  int steps = 0;                   ///< nonlinear steps: matrices formed
  int damped_steps = 0;            ///< steps shortened by the line search
  int local_solves = 0;            ///< of the cells with large residuals
  std::int64_t local_cells = 0;    ///< chosen for local solves, in all of them together
  int linear_iterations = 0;
  int reductions = 0;                                  ///< sums, maxima and gathers over all ranks
  double load_norm = 0.0;                              ///< N; reference of the residuals
  double initial_residual = 0.0, final_residual = 0.0; ///< N
  std::string reason; ///< why the iteration stopped, as PETSc names it
  double seconds_setup = 0.0;
  double seconds_residual = 0.0;
  double seconds_jacobian = 0.0;
  double seconds_linear = 0.0;
  double seconds_total = 0.0;
};

/// A solve that did not converge. The velocity holds its last iterate.
class SsaError : public std::runtime_error {
public:
  SsaError(const SsaReport& r, double tolerance, const std::string& why)
      : std::runtime_error(
            "SSA: the stress balance did not converge: " + r.reason + " after " +
            std::to_string(r.steps) + " steps (" + std::to_string(r.linear_iterations) +
            " linear iterations); expected |residual| <= " + number(tolerance) +
            " |load|, found |residual| / |load| = " + number(r.final_residual / r.load_norm) +
            why) {}

  static std::string number(double x) { ///< as %g
    char text[32];
    std::snprintf(text, sizeof text, "%g", x);
    return text;
  }
};

class SsaSolver {
public:
  virtual ~SsaSolver() = default;

  /// Solve for the velocity (u, v), m s-1; arguments have an entry per local rank. On entry the
  /// first guess in owned cells; on return the solution in owned cells and ghosts, 0 in ice-free
  /// and excluded cells. Collective; throws SsaError on every rank if it does not converge, with
  /// the residual and the step at which it stopped.
  virtual SsaReport solve(const std::vector<SsaInput>& inputs, const std::vector<Array2<double>>& u,
                          const std::vector<Array2<double>>& v) = 0;

  /// The same for the only local rank of an MPI process.
  SsaReport solve(const SsaInput& input, const Array2<double>& u, const Array2<double>& v) {
    return solve(std::vector<SsaInput>{input}, {u}, {v});
  }

  /// The residual (N) of each owned cell of a local rank after the last solve; 0 elsewhere.
  virtual void residual(int local, const Array2<double>& r_x, const Array2<double>& r_y) const = 0;
  virtual std::string describe() const = 0;
};

/// The length t of a step x - t y. The residual F is the gradient of a convex energy, so that the
/// slope s(t) = -F(x - t y).y never falls, and s(0) < 0. The full step is taken if it does not
/// overshoot much, s(1) <= |s(0)|/2, or if y, of a linear method that is not CG, ascends; else the
/// zero of s is bracketed by [0, 1] and approached by regula falsi (Illinois) until |s(t)| <=
/// |s(0)|/2.
class SlopeSearch {
public:
  explicit SlopeSearch(double slope0) : m_slope0(slope0), m_slope_low(slope0) {}
  double t() const { return m_t; } ///< the length to try: initially 1

  /// Takes the slope at t(). True: accept the step; false: try the new t().
  bool accept(double slope) {
    m_trials += 1;
    if (std::fabs(slope) <= 0.5 * std::fabs(m_slope0) || (m_t == 1.0 && slope < 0.0) ||
        m_slope0 >= 0.0 || m_trials == 12)
      return true;
    if (slope > 0.0) {
      if (m_high < 1.0 || m_trials > 1) m_slope_low *= 0.5;
      m_high = m_t;
      m_slope_high = slope;
    } else {
      m_low = m_t;
      m_slope_low = slope;
      m_slope_high *= 0.5;
    }
    m_t = m_low + (m_high - m_low) *
                      std::fmin(0.9, std::fmax(0.1, -m_slope_low / (m_slope_high - m_slope_low)));
    return false;
  }

private:
  double m_slope0, m_low = 0.0, m_slope_low, m_high = 1.0, m_slope_high = 0.0, m_t = 1.0;
  int m_trials = 0;
};

} // namespace nunatak
