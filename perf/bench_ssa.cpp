// bench_ssa: times solves of the shallow shelf approximation from rest and checks the velocity.
//
//   mpiexec -n 1 bench_ssa -problem J -M 481            mpiexec -n 2 bench_ssa -problem plug -M 241
//   bench_ssa -problem sheet -i antarctica.nc -grid_dx 8km -ssa_multigrid_smoothing 3
//   mpiexec -n 2 bench_ssa -problem streams -grid_dx 8km
//
// Every solve uses a new solver, set-up included, and alternates with passes of the STREAM triad. A
// time is that of the slowest rank after a barrier; the warm-up is dropped. Prints JSON:
// perf/README.md.
#include "common/error.hpp"
#include "kernels/cases/exact_ssa.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/bench/sheet.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/petsc/ssa.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "perf/bandwidth.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <petscsys.h>
#include <string>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

/// Maximum of f(j, i) over all owned cells, in years instead of seconds.
template <class F> double largest_per_year(const MpiRanks& ranks, const F& f) {
  const Patch p = ranks.patch();
  double most = 0.0;
  for_each_owned(p, [&](int j, int i) { most = std::fmax(most, f(j, i)); });
  return seconds_per_year * World().max(most);
}

struct SsaProblem {
  std::unique_ptr<MpiRanks> ranks;
  double dx = 0.0, dy = 0.0; ///< m
  SsaOptions options;
  SsaInput in;
  Array2<double> u, v; ///< the computed velocity, m s-1

  /// The expected velocity of owned cell (j, i), m s-1.
  std::function<void(int j, int i, double& U, double& V)> expected;
  double bound = 0.0; ///< on the largest error, m/a

  SsaProblem(MPI_Comm comm, const Decomposition& d) : ranks(std::make_unique<MpiRanks>(comm, d)) {
    const Patch p = ranks->patch();
    in = make_ssa_input(p);
    u = make_array<double>("u", p);
    v = make_array<double>("v", p);
  }
  void rest() {
    Kokkos::deep_copy(u, 0.0);
    Kokkos::deep_copy(v, 0.0);
  }
  /// Largest difference from `expected`, m/a.
  double error() const {
    return largest_per_year(*ranks, [this](int j, int i) {
      double U = 0.0, V = 0.0;
      expected(j, i, U, V);
      return std::fmax(std::fabs(u(j, i) - U), std::fabs(v(j, i) - V));
    });
  }
};

/// Square grids as in PISM's tests. Bounds: errors of PISM's finite elements, scaled with second
/// order.
SsaProblem exact_problem(bool is_J, int M, const SsaOptions& options, MPI_Comm comm, int size) {
  using exact::PlugFlow;
  using exact::TestJ;
  Decomposition d = Decomposition::make(M, M, size);
  d.periodic_x = d.periodic_y = is_J;
  SsaProblem problem(comm, d);
  const double L = is_J ? TestJ::L : PlugFlow::L, dx = 2.0 * L / (is_J ? M : M - 1);
  problem.dx = problem.dy = dx;
  problem.bound =
      is_J ? 598.0 / M / M : std::max(184.0 / (M - 1) / (M - 1), 1e-3); // 1e-3: regularisation
  problem.options = options;
  if (is_J) problem.options.glen_n = problem.options.till_q = 1.0; // linear, without drag
  const Patch p = problem.ranks->patch();
  problem.expected = [=](int j, int i, double& U, double& V) {
    const double x = p.global_i(i) * dx - L, y = p.global_j(j) * dx - L;
    if (is_J) return TestJ::velocity(x, y, U, V);
    U = PlugFlow::u(y);
    V = 0.0;
  };
  SsaInput& in = problem.in;
  for_each_owned(p, [&](int j, int i) {
    const int gi = p.global_i(i), gj = p.global_j(j);
    if (is_J) {
      in.H(j, i) = TestJ::H(gi * dx - L, gj * dx - L);
      in.b(j, i) = -2000.0;
      in.h(j, i) = (1.0 - rho_ice / rho_water) * in.H(j, i);
      in.hardness(j, i) = 2.0 * TestJ::nu0 * TestJ::H0 / in.H(j, i);
      in.mask(j, i) = floating_ice;
      in.fixed(j, i) = gi == 0 && gj == 0 ? 1 : 0; // excludes rigid motion
    } else {
      in.H(j, i) = PlugFlow::h0;
      in.b(j, i) = 1000.0 - PlugFlow::slope * gi * dx;
      in.h(j, i) = in.b(j, i) + PlugFlow::h0;
      in.hardness(j, i) = PlugFlow::B;
      in.mask(j, i) = grounded_ice;
      in.fixed(j, i) = gi == 0 || gi == M - 1 || gj == 0 || gj == M - 1 ? 1 : 0;
    }
    problem.expected(j, i, in.u_fixed(j, i), in.v_fixed(j, i));
  });
  problem.ranks->update_ghosts(
      {in.H, in.h, in.b, in.tauc, in.hardness, in.mask, in.fixed, in.u_fixed, in.v_fixed});
  return problem;
}

/// The continent of -init marine with weak till in its troughs: ice streams reach far inland.
void weaken_till(Options& options) {
  if (!options.input.empty()) throw Error("option -i: expected with -problem sheet");
  options.init = "marine";
  options.hybrid.stress.till.phi_min = 1.0;
}

/// The first stress balance of a run. The expected velocity is that of the model.
SsaProblem ice_sheet(Options& options, MPI_Comm comm) {
  if (options.Mz == 0) options.Mz = 5; // levels only affect the hardness
  const Log silent(0, false);
  Timers timers;
  Model model(options, comm, timers, silent);
  model.diagnose(model.initial().time());
  const Grid& grid = model.grid();
  const State& state = model.state();
  const Forcing& forcing = model.forcing();
  const Flow& flow = model.flow();

  SsaProblem problem(comm, grid.decomposition);
  const Patch p = problem.ranks->patch();
  problem.dx = grid.dx;
  problem.dy = grid.dy;
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
    U = U_balance(j, i);
    V = V_balance(j, i);
  };
  problem.bound = 1e-6;
  return problem;
}

/// Sums over all ranks.
struct Flowing {
  std::int64_t fast = 0; ///< grounded cells above 300 m/a
  std::int64_t bits = 0; ///< a hash of the velocity; of the own solver the same on any ranks
};
Flowing flowing(const SsaProblem& problem) {
  Flowing here;
  const Patch p = problem.ranks->patch();
  for_each_owned(p, [&](int j, int i) {
    here.fast += problem.in.mask(j, i) == grounded_ice &&
                 std::hypot(problem.u(j, i), problem.v(j, i)) * seconds_per_year > 300.0;
  });
  here.bits = static_cast<std::int64_t>(synthetic::fingerprint(p, problem.u) +
                                        3 * synthetic::fingerprint(p, problem.v));
  return sum_over_ranks<Flowing>(*problem.ranks, {here});
}

struct Arguments {
  std::string problem = "sheet";
  int M = 241, repeat = 5;
};

/// Measurements of the repetitions without the warm-up.
struct Times {
  std::vector<double> wall, cpu, setup, residual, jacobian, linear;
  void add(const SsaReport& r, double wall_seconds, double cpu_seconds) {
    wall.push_back(wall_seconds);
    cpu.push_back(cpu_seconds);
    setup.push_back(r.seconds_setup);
    residual.push_back(r.seconds_residual);
    jacobian.push_back(r.seconds_jacobian);
    linear.push_back(r.seconds_linear);
  }
};

nlohmann::json in_words(const std::vector<double>& seconds) {
  return {{"median", median(seconds)},
          {"min", *std::min_element(seconds.begin(), seconds.end())},
          {"max", *std::max_element(seconds.begin(), seconds.end())}};
}

void require(bool right, const std::string& what, double found, double expected) {
  if (right) return;
  char text[64];
  std::snprintf(text, sizeof text, ": expected at most %g, found %g", expected, found);
  throw Error("wrong result: " + what + text);
}

struct Measured {
  Times times;
  SsaReport report; ///< of the last one, in `solver`
  std::string solver;
  Triad triad;
  Flowing flow; ///< the same after each repetition
};

Measured measure(SsaProblem& problem, const std::string& solver, int repeat, bool sheet) {
  Measured m;
  for (int n = 0; n <= repeat; ++n) {
    problem.rest();
    World().barrier();
    const double wall = MPI_Wtime();
    const std::clock_t cpu = std::clock();
    {
      const auto ssa =
          make_ssa_solver(*problem.ranks, problem.dx, problem.dy, problem.options, solver);
      m.report = ssa->solve(problem.in, problem.u, problem.v);
      m.solver = ssa->describe();
    }
    const double cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    const double wall_seconds = MPI_Wtime() - wall;
    const Flowing flow = flowing(problem);
    if (n == 0) {
      if (!sheet) check_solver_options();
      m.flow = flow;
    } else {
      m.times.add(m.report, World().max(wall_seconds), World().max(cpu_seconds));
      if (flow.bits != m.flow.bits) throw Error("wrong result: repetitions differ");
    }
    m.triad.run();
  }
  return m;
}

nlohmann::json run(const Arguments& arguments, Options options, const Session& session) {
  const MPI_Comm comm = session.comm();
  const bool sheet = arguments.problem == "sheet" || arguments.problem == "streams";
  if (arguments.problem == "streams") weaken_till(options);
  SsaProblem problem = sheet ? ice_sheet(options, comm)
                             : exact_problem(arguments.problem == "J", arguments.M,
                                             ssa_options(options), comm, session.size());
  const Patch patch = problem.ranks->patch();
  const Measured measured = measure(problem, options.ssa_solver, arguments.repeat, sheet);
  const auto& [times, report, solver, triad, flow] = measured;

  const double speed = largest_per_year(
      *problem.ranks, [&](int j, int i) { return std::hypot(problem.u(j, i), problem.v(j, i)); });
  const double error = problem.error();
  const double bound = problem.bound * (sheet ? speed : 1.0);
  require(error <= bound, sheet ? "difference from the program's velocity (m/a)" : "error (m/a)",
          error, bound);
  // a new solver that starts from the solution must find a converged residual
  const SsaReport again =
      make_ssa_solver(*problem.ranks, problem.dx, problem.dy, problem.options, options.ssa_solver)
          ->solve(problem.in, problem.u, problem.v);
  const double residual = again.initial_residual / again.load_norm;
  require(residual <= problem.options.tolerance, "residual, computed again, relative to the load",
          residual, problem.options.tolerance);

  const double seconds = median(times.wall),
               unknowns = 2.0 * static_cast<double>(report.unknown_cells);
  // a pass over as many doubles as there are unknowns
  const double triad_pass = 24e-9 * unknowns / triad.GB_per_s();
  nlohmann::json json = {
      {"benchmark", "ssa"}, {"problem", arguments.problem}, {"started", utc_now()}};
  json["repetitions"] = arguments.repeat;
  json["solver"] = solver;
  if (sheet) json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  json["grid"] = {{"Mx", patch.Mx}, {"My", patch.My}, {"dx", problem.dx}, {"dy", problem.dy}};
  const Decomposition& d = problem.ranks->decomposition();
  json["ranks"] = {
      {"size", session.size()}, {"px", d.px}, {"py", d.py}, {"execution_space", Exec::name()}};
  for (const auto& [name, value] : versions()) json["versions"][name] = value;
  json["work"] = {
      {"unknown_cells", report.unknown_cells}, {"excluded_cells", report.excluded_cells},
      {"fast_grounded_cells", flow.fast},      {"steps", report.steps},
      {"damped_steps", report.damped_steps},   {"linear_iterations", report.linear_iterations}};
  json["result"] = {{"largest_speed_m_per_year", speed},
                    {sheet ? "difference_from_program_m_per_year" : "error_m_per_year", error},
                    {"residual_per_load", residual},
                    {"velocity_bits", flow.bits}};
  if (!sheet) json["result"]["error_bound_m_per_year"] = problem.bound;
  json["seconds"] = {{"wall", in_words(times.wall)},         {"cpu", in_words(times.cpu)},
                     {"setup", in_words(times.setup)},       {"residual", in_words(times.residual)},
                     {"jacobian", in_words(times.jacobian)}, {"linear", in_words(times.linear)}};
  json["triad"] = {{"GB_per_s", triad.GB_per_s()},
                   {"GB_per_s_max", triad.best_GB_per_s()},
                   {"passes_per_solve", seconds / triad_pass},
                   {"passes_per_linear_iteration",
                    seconds / triad_pass / std::max(report.linear_iterations, 1)}};
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "bench_ssa", [](Session& session) {
    Options options;
    Arguments arguments;
    OptionTable table("bench_ssa: times solves of the shallow shelf approximation; prints JSON",
                      "mpiexec -n 1 bench_ssa -problem J -M 481");
    table.section("Benchmark; of the other options only -i, -init, -seed, -grid_..., -ssa_... and "
                  "those of material and sliding are used");
    table.add(choice("problem", arguments.problem, "J|plug|sheet|streams",
                     "exact solutions, an ice sheet by -i or -init, or one with ice streams"));
    table.add(number("M", arguments.M, "", "J and plug: cells along x and y", 9, 5000));
    table.add(number("repeat", arguments.repeat, "", "repetitions that count", 1, 1000));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    if (options.given.count("M") > 0 && arguments.problem[0] == 's')
      throw Error("option -M: expected with -problem J or plug; see -grid_dx for others");
    const nlohmann::json json = run(arguments, options, session);
    if (session.rank() == 0) std::cout << json_text(json) << std::flush;
  });
}
