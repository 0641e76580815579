// bench_ssa: times solves of the shallow shelf approximation from rest, checks the velocity, and
// prints one JSON object.
//
//   mpiexec -n 1 bench_ssa -problem J -M 481            mpiexec -n 2 bench_ssa -problem plug -M 241
//   bench_ssa -problem sheet -i antarctica.nc -grid_dx 8km -ssa_multigrid_smoothing 3
//
// Every solve begins with a new solver: its set-up counts. Solves and passes of the STREAM triad
// take turns. A time is that of the slowest rank, from a barrier on. The first repetition is the
// warm-up and is dropped. See perf/README.md for the JSON.
#include "miniapp/base/error.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "perf/bandwidth.hpp"
#include "perf/ssa_problem.hpp"

#include <petscsys.h>

#include <ctime>
#include <iostream>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct Arguments {
  std::string problem = "sheet";
  int M = 241, repeat = 5;
};

/// What was measured in the repetitions that count.
struct Times {
  std::vector<double> wall, cpu, setup, residual, jacobian, linear;
  void add(const SsaReport& r, double wall_seconds, double cpu_seconds) {
    wall.push_back(wall_seconds), cpu.push_back(cpu_seconds);
    setup.push_back(r.seconds_setup), residual.push_back(r.seconds_residual);
    jacobian.push_back(r.seconds_jacobian), linear.push_back(r.seconds_linear);
  }
};

nlohmann::json in_words(const std::vector<double>& seconds) {
  return {{"median", median(seconds)},
          {"min", *std::min_element(seconds.begin(), seconds.end())},
          {"max", *std::max_element(seconds.begin(), seconds.end())}};
}

double largest(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}
/// Maximum of f(j, i) over the owned cells of all ranks, times the seconds of a year.
template <class F> double largest_per_year(const MpiRanks& ranks, const F& f) {
  const Patch p = ranks.patch();
  double most = 0.0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) most = std::fmax(most, f(j, i));
  }
  return seconds_per_year * largest(most, ranks.comm());
}

void require(bool right, const std::string& what, double found, double expected) {
  if (right) return;
  char text[64];
  std::snprintf(text, sizeof text, ": expected at most %g, found %g", expected, found);
  throw Error("wrong result: " + what + text);
}

/// The repetitions.
struct Measured {
  Times times;
  SsaReport report; ///< of the last one, as `solver`
  std::string solver;
  Triad triad;
  double differs = 0.0; ///< largest difference of a velocity from the first one, m/a
};

Measured measure(SsaProblem& problem, const std::string& solver, int repeat, bool sheet) {
  const MPI_Comm comm = problem.ranks->comm();
  const Patch patch = problem.ranks->patch();
  const auto u_first = make_array<double>("u_first", patch),
             v_first = make_array<double>("v_first", patch);
  Measured m;
  for (int n = 0; n <= repeat; ++n) {
    problem.rest();
    MPI_Barrier(comm);
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
    if (n == 0) {
      if (!sheet) check_solver_options();
      Kokkos::deep_copy(u_first, problem.u);
      Kokkos::deep_copy(v_first, problem.v);
    } else {
      m.times.add(m.report, largest(wall_seconds, comm), largest(cpu_seconds, comm));
      m.differs = std::fmax(m.differs, largest_per_year(*problem.ranks, [&](int j, int i) {
                              return std::hypot(problem.u(j, i) - u_first(j, i),
                                                problem.v(j, i) - v_first(j, i));
                            }));
    }
    m.triad.run();
  }
  return m;
}

nlohmann::json run(const Arguments& arguments, Options options, const Session& session) {
  const MPI_Comm comm = session.comm();
  const bool sheet = arguments.problem == "sheet";
  SsaProblem problem = sheet ? ice_sheet(options, comm)
                             : exact_problem(arguments.problem == "J", arguments.M,
                                             ssa_options(options), comm, session.size());
  const Patch patch = problem.ranks->patch();
  const Measured measured = measure(problem, options.ssa_solver, arguments.repeat, sheet);
  const auto& [times, report, solver, triad, differs] = measured;

  const double speed = largest_per_year(
      *problem.ranks, [&](int j, int i) { return std::hypot(problem.u(j, i), problem.v(j, i)); });
  const double error = problem.error();
  require(differs <= 1e-6 * speed, "repetitions differ (m/a)", differs, 1e-6 * speed);
  require(error <= (sheet ? problem.bound * speed : problem.bound),
          sheet ? "difference from the program's velocity (m/a)" : "error (m/a)", error,
          sheet ? problem.bound * speed : problem.bound);
  // a new solver that starts from the solution finds nothing to do
  const SsaReport again =
      make_ssa_solver(*problem.ranks, problem.dx, problem.dy, problem.options, options.ssa_solver)
          ->solve(problem.in, problem.u, problem.v);
  const double residual = again.initial_residual / again.load_norm;
  require(residual <= problem.options.tolerance, "residual, computed again, relative to the load",
          residual, problem.options.tolerance);

  const double seconds = median(times.wall),
               unknowns = 2.0 * static_cast<double>(report.unknown_cells);
  const double triad_pass =
      24e-9 * unknowns / triad.GB_per_s(); // over as many doubles as there are unknowns
  nlohmann::json json = {
      {"benchmark", "ssa"}, {"problem", arguments.problem}, {"started", utc_now()}};
  json["repetitions"] = arguments.repeat;
  json["solver"] = solver;
  if (sheet) json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  json["grid"] = {{"Mx", patch.Mx}, {"My", patch.My}, {"dx", problem.dx}, {"dy", problem.dy}};
  const Decomposition& d = problem.ranks->decomposition();
  json["ranks"] = {
      {"size", session.size()}, {"px", d.px}, {"py", d.py}, {"execution_space", Exec::name()}};
  json["versions"] = versions();
  json["versions"]["compiler"] = __VERSION__;
  json["work"] = {{"unknown_cells", report.unknown_cells},
                  {"excluded_cells", report.excluded_cells},
                  {"steps", report.steps},
                  {"damped_steps", report.damped_steps},
                  {"linear_iterations", report.linear_iterations}};
  json["result"] = {{"largest_speed_m_per_year", speed},
                    {sheet ? "difference_from_program_m_per_year" : "error_m_per_year", error},
                    {"residual_per_load", residual},
                    {"repetitions_differ_m_per_year", differs}};
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
    table.add(word("problem", arguments.problem, "J|plug|sheet",
                   "exact solutions, or an ice sheet by -i or -init"));
    table.add(number("M", arguments.M, "", "J and plug: cells along x and y", 9, 5000));
    table.add(number("repeat", arguments.repeat, "", "repetitions that count", 1, 1000));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    if (options.given.count("M") > 0 && arguments.problem == "sheet")
      throw Error("option -M: expected with -problem J or plug; see -grid_dx for others");
    const nlohmann::json json = run(arguments, options, session);
    if (session.rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
