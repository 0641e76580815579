// bench_kernels: times the loops of a step of the hybrid model, and its parts, against the bytes that they must move. Prints one
// JSON object.
//
//   mpiexec -n 1 bench_kernels -i antarctica.nc -grid_dx 8km
//
// The loop over time is that of miniapp/main.cpp without output: diagnose, advance, checks. The first step, with the solve from
// rest, is reported separately; the others count. Passes of the STREAM triad stand between the steps, so that the share of the
// bandwidth that a kernel reaches is of the same minute. docs/performance.md explains the JSON.
#include "miniapp/base/program.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/summary.hpp"
#include "perf/bandwidth.hpp"
#include "perf/kernel_bytes.hpp"
#include "perf/loop_times.hpp"

#include <iostream>
#include <map>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

using Seconds = std::map<std::string, double>;

Seconds so_far(const Timers& timers) {
  Seconds seconds;
  for (const Timers::Summary& s : timers.summarise(MPI_COMM_SELF)) seconds[s.name] = s.mean;
  return seconds;
}

/// Seconds of each part and each loop ("loop: ...") of the step since `before`, on its slowest rank.
Seconds of_step(const Timers& timers, const Seconds& before, MPI_Comm comm) {
  Seconds seconds;
  for (const auto& [name, now] : so_far(timers)) {
    if (name.rfind("init", 0) == 0) continue; // no part of a step
    const auto found = before.find(name);
    seconds[name] = now - (found == before.end() ? 0.0 : found->second);
  }
  auto loops = LoopTimes::take();
  for (const KernelBytes& k : kernel_bytes) {
    if (k.kernel != nullptr) seconds[std::string("loop: ") + k.kernel] = loops[k.kernel].seconds;
  }
  for (auto& [name, slowest] : seconds) MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Sizes that the bytes are counted from, over all ranks.
Sizes sizes_of(const Patch& p, const Levels& levels, const State& state, MPI_Comm comm) {
  std::int64_t sums[2] = {0, 0};
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      if (!icy(state.mask(j, i))) continue;
      sums[0] += 1;
      sums[1] += levels_in_ice(levels.z, state.thk(j, i));
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
  return {static_cast<double>(p.Mx) * p.My, static_cast<double>(sums[0]), static_cast<double>(sums[1]), levels.size()};
}

/// The steps of a run, and the times of each.
struct Run {
  std::vector<Seconds> steps;
  std::vector<double> years;

  double first(const std::string& name) const { return steps.front().at(name); }
  std::vector<double> others(const std::string& name) const {
    std::vector<double> seconds;
    for (std::size_t n = 1; n < steps.size(); ++n) seconds.push_back(steps[n].at(name));
    return seconds;
  }
};

/// What a name took, and its share of the triad if its bytes are counted.
nlohmann::json figures(const Run& run, const std::string& name, double bytes, double cells, const Triad& triad) {
  const std::vector<double> seconds = run.others(name);
  const double typical = median(seconds), least = *std::min_element(seconds.begin(), seconds.end());
  nlohmann::json json = {{"median_ms", 1e3 * typical}, {"min_ms", 1e3 * least}, {"first_ms", 1e3 * run.first(name)}};
  if (bytes > 0.0) {
    json["bytes_per_cell"] = bytes / cells;
    json["share_of_triad"] = 1e-9 * bytes / typical / triad.GB_per_s();
    json["share_of_triad_best"] = 1e-9 * bytes / least / triad.best_GB_per_s();
  }
  return json;
}

nlohmann::json run(Options options, int repeat, const Session& session) {
  if (options.run_years > 0.0 || options.run_steps > 0) throw Error("options -run_years, -run_steps: expected none, see -repeat");
  if (options.given.count("dt_max") == 0) options.dt_max = 0.02;
  if (options.given.count("pico_skip_unchanged") == 0) options.pico_skip_unchanged = false; // every update is a whole one
  options.run_steps = repeat + 1;
  const MPI_Comm comm = session.comm();
  const Log silent(session.rank(), false);
  Timers timers;
  Model model(options, comm, timers, silent);
  Clock clock(options, model.start_time());
  Summary summary(model.grid(), model.ranks(), model.state());
  const Sizes sizes = sizes_of(model.ranks().patch(), model.levels(), model.state(), comm);
  Triad triad(comm, session.size());
  Run run;
  LoopTimes::start();
  while (!clock.finished()) {
    const Seconds before = so_far(timers);
    model.diagnose(clock.time());
    const Step step = model.advance(clock.longest_step(model.stable_step().dt));
    clock.advance(step.dt);
    {
      Timers::Scope scope(timers, "checks"); // throws if thickness, temperature or the mass budget are wrong
      summary.add(model.state(), model.flow(), step);
    }
    run.steps.push_back(of_step(timers, before, comm));
    run.years.push_back(step.dt / seconds_per_year);
    for (int n = 0; n < 3; ++n) triad.run();
  }

  nlohmann::json json = {{"benchmark", "kernels"}, {"started", utc_now()}, {"repetitions", repeat}};
  json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  const Grid& grid = model.grid();
  json["grid"] = {{"Mx", grid.Mx()}, {"My", grid.My()}, {"Mz", grid.Mz()}, {"dx", grid.dx}, {"dy", grid.dy}};
  json["sizes"] = {{"cells", sizes.cells}, {"icy_cells", sizes.icy_cells}, {"points_in_ice", sizes.points_in_ice}};
  json["ranks"] = {
      {"size", session.size()}, {"px", grid.decomposition.px}, {"py", grid.decomposition.py}, {"execution_space", Exec::name()}};
  json["versions"] = versions();
  json["versions"]["compiler"] = __VERSION__;
  json["years_per_step"] = run.years;
  json["triad"] = {{"GB_per_s", triad.GB_per_s()}, {"GB_per_s_max", triad.best_GB_per_s()}};
  json["ssa"] = model.report()["ssa"];
  json["mass_budget"] = summary.report();
  for (const KernelBytes& k : kernel_bytes) {
    if (k.kernel == nullptr) continue;
    json["kernels"][k.kernel] = figures(run, std::string("loop: ") + k.kernel, k.calls * k.per_call(sizes), sizes.cells, triad);
  }
  double bytes_of_rest = 0.0;
  for (const auto& [name, seconds] : Seconds(run.steps.front())) {
    if (name.rfind("loop: ", 0) == 0) continue;
    const double bytes = bytes_of_part(name.c_str(), sizes);
    json["parts"][name] = figures(run, name, bytes, sizes.cells, triad);
    if (bytes == 0.0) continue;
    bytes_of_rest += bytes;
    for (Seconds& step : run.steps) step["without SSA"] += step.at(name);
  }
  json["without_ssa"] = figures(run, "without SSA", bytes_of_rest, sizes.cells, triad);
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "bench_kernels", [](Session& session) {
    Options options;
    int repeat = 7;
    OptionTable table("bench_kernels: times the loops and the parts of a model step; prints JSON",
                      "mpiexec -n 1 bench_kernels -i antarctica.nc -grid_dx 8km");
    table.section("Benchmark; of the other options -dt_max is 0.02 years if it is not given, -run_... and files are not used");
    table.add(number("repeat", repeat, "", "steps that count, after a first one that does not", 3, 1000));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    const nlohmann::json json = run(options, repeat, session);
    if (session.rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
