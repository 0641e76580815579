// What bench_ssa solves: test J and plug flow (kernels/cases/exact_ssa.hpp) on M x M cells, or the
// first stress balance of an ice sheet from a file or a generator, as the program would start with
// the same options.
#pragma once

#include "kernels/cases/exact_ssa.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/petsc/ssa.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>

namespace nunatak::bench {

struct SsaProblem {
  std::unique_ptr<MpiRanks> ranks;
  double dx = 0.0, dy = 0.0; ///< m
  SsaOptions options;
  SsaInput in;
  Array2<double> u, v; ///< the solution, m s-1

  /// The velocity it should have: of owned cell (j, i), in m s-1.
  std::function<void(int j, int i, double& U, double& V)> expected;
  double bound = 0.0; ///< on the largest difference from it, m/a

  SsaProblem(MPI_Comm comm, const Decomposition& d) : ranks(std::make_unique<MpiRanks>(comm, d)) {
    const Patch p = ranks->patch();
    in = make_ssa_input(p);
    u = make_array<double>("u", p), v = make_array<double>("v", p);
  }
  void rest() {
    Kokkos::deep_copy(u, 0.0);
    Kokkos::deep_copy(v, 0.0);
  }
  /// Largest difference from `expected`, m/a.
  double error() const {
    const Patch p = ranks->patch();
    double most = 0.0;
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
        double U = 0.0, V = 0.0;
        expected(j, i, U, V);
        most = std::fmax(most, std::fmax(std::fabs(u(j, i) - U), std::fabs(v(j, i) - V)));
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, ranks->comm());
    return most * seconds_per_year;
  }
};

/// Square grids, as PISM's tests have. Bounds: the law of second order through the errors of PISM's
/// finite elements.
inline SsaProblem exact_problem(bool is_J, int M, const SsaOptions& options, MPI_Comm comm,
                                int size) {
  using exact::PlugFlow;
  using exact::TestJ;
  Decomposition d = Decomposition::make(M, M, size);
  d.periodic_x = d.periodic_y = is_J;
  SsaProblem problem(comm, d);
  const double L = is_J ? TestJ::L : PlugFlow::L, dx = 2.0 * L / (is_J ? M : M - 1);
  problem.dx = problem.dy = dx;
  problem.bound =
      is_J ? 598.0 / M / M : std::max(184.0 / (M - 1) / (M - 1), 1e-3); // eps shows on fine grids
  problem.options = options;
  if (is_J) problem.options.glen_n = problem.options.till_q = 1.0; // linear, and there is no drag
  const Patch p = problem.ranks->patch();
  problem.expected = [=](int j, int i, double& U, double& V) {
    const double x = p.global_i(i) * dx - L, y = p.global_j(j) * dx - L;
    if (is_J) return TestJ::velocity(x, y, U, V);
    U = PlugFlow::u(y), V = 0.0;
  };
  SsaInput& in = problem.in;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const int gi = p.global_i(i), gj = p.global_j(j);
      if (is_J) {
        in.H(j, i) = TestJ::H(gi * dx - L, gj * dx - L);
        in.b(j, i) = -2000.0;
        in.h(j, i) = (1.0 - rho_ice / rho_water) * in.H(j, i);
        in.hardness(j, i) = 2.0 * TestJ::nu0 * TestJ::H0 / in.H(j, i);
        in.mask(j, i) = floating_ice;
        in.fixed(j, i) = gi == 0 && gj == 0 ? 1 : 0; // else it could drift
      } else {
        in.H(j, i) = PlugFlow::h0;
        in.b(j, i) = 1000.0 - PlugFlow::slope * gi * dx;
        in.h(j, i) = in.b(j, i) + PlugFlow::h0;
        in.hardness(j, i) = PlugFlow::B;
        in.mask(j, i) = grounded_ice;
        in.fixed(j, i) = gi == 0 || gi == M - 1 || gj == 0 || gj == M - 1 ? 1 : 0;
      }
      problem.expected(j, i, in.u_fixed(j, i), in.v_fixed(j, i));
    }
  }
  problem.ranks->update_ghosts(
      {in.H, in.h, in.b, in.tauc, in.hardness, in.mask, in.fixed, in.u_fixed, in.v_fixed});
  return problem;
}

/// The first stress balance of the program. What is expected is the velocity that the model finds.
inline SsaProblem ice_sheet(Options& options, MPI_Comm comm) {
  if (options.Mz == 0) options.Mz = 5; // the levels only matter for the hardness
  const Log silent(0, false);
  Timers timers;
  Model model(options, comm, timers, silent);
  model.diagnose(model.start_time());
  const Grid& grid = model.grid();
  const State& state = model.state();
  const Forcing& forcing = model.forcing();
  const Flow& flow = model.flow();

  SsaProblem problem(comm, grid.decomposition);
  const Patch p = problem.ranks->patch();
  problem.dx = grid.dx, problem.dy = grid.dy;
  problem.options = ssa_options(options);
  problem.in = {state.thk,  state.usurf,   state.topg,      flow.tauc,      problem.in.hardness,
                state.mask, forcing.fixed, forcing.u_fixed, forcing.v_fixed};
  const bool enhanced = options.rheology != "isothermal" && !forcing.has_hardav;
  const double stiffening =
      enhanced ? std::pow(options.hybrid.stress.ssa_enhancement, -1.0 / 3.0) : 1.0;
  const auto hardness = problem.in.hardness, mean = flow.hardav;
  for_each_cell_and_ghost(
      "hardness", p, KOKKOS_LAMBDA(int j, int i) { hardness(j, i) = stiffening * mean(j, i); });
  const auto U_balance = state.u_ssa, V_balance = state.v_ssa;
  problem.expected = [=](int j, int i, double& U, double& V) {
    U = U_balance(j, i), V = V_balance(j, i);
  };
  problem.bound = 1e-6;
  return problem;
}

} // namespace nunatak::bench
