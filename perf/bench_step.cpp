// bench_step: times the parts of a step of the hybrid model, counts the bytes that they must move, and prints one JSON object.
//
//   mpiexec -n 1 bench_step -i antarctica.nc -grid_dx 16km
//
// The loop is that of miniapp/main.cpp without output: diagnose, advance, checks. The first step, with the solve from rest, is
// reported separately; the others count. Passes of the STREAM triad stand between the steps, so that the share of the bandwidth
// that a part reaches is of the same minute. See perf/README.md for the JSON and for how bytes are counted.
#include "miniapp/base/program.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/summary.hpp"
#include "perf/bandwidth.hpp"
#include "perf/step_bytes.hpp"

#include <iostream>
#include <map>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

/// Seconds of each part in one step, on its slowest rank.
using Seconds = std::map<std::string, double>;

Seconds difference(const Timers& timers, const Seconds& before, MPI_Comm comm) {
  Seconds seconds;
  for (const Timers::Summary& s : timers.summarise(MPI_COMM_SELF)) {
    if (s.name.rfind("init", 0) == 0) continue; // no part of a step
    const auto found = before.find(s.name);
    double part = s.mean - (found == before.end() ? 0.0 : found->second);
    MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_DOUBLE, MPI_MAX, comm);
    seconds[s.name] = part;
  }
  return seconds;
}

Seconds so_far(const Timers& timers) {
  Seconds seconds;
  for (const Timers::Summary& s : timers.summarise(MPI_COMM_SELF)) seconds[s.name] = s.mean;
  return seconds;
}

/// Sizes that the bytes are counted from, over all ranks.
Sizes sizes_of(const Patch& p, const Levels& levels, const State& state, MPI_Comm comm) {
  std::int64_t icy_cells = 0, points = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      if (!icy(state.mask(j, i))) continue;
      icy_cells += 1;
      points += levels_in_ice(levels.z, state.thk(j, i));
    }
  }
  std::int64_t sums[2] = {icy_cells, points};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, comm);
  return {static_cast<double>(p.Mx) * p.My, static_cast<double>(sums[0]), static_cast<double>(sums[1]), levels.size()};
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

  std::vector<Seconds> steps;
  std::vector<double> lengths;
  while (!clock.finished()) {
    const Seconds before = so_far(timers);
    model.diagnose(clock.time());
    const Step step = model.advance(clock.longest_step(model.stable_step().dt));
    clock.advance(step.dt);
    {
      Timers::Scope scope(timers, "checks"); // throws if thickness, temperature or the mass budget are wrong
      summary.add(model.state(), model.flow(), step);
    }
    steps.push_back(difference(timers, before, comm));
    lengths.push_back(step.dt / seconds_per_year);
    for (int n = 0; n < 3; ++n) triad.run();
  }

  nlohmann::json json = {{"benchmark", "step"}, {"started", utc_now()}, {"repetitions", repeat}};
  json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  const Grid& grid = model.grid();
  json["grid"] = {{"Mx", grid.Mx()}, {"My", grid.My()}, {"Mz", grid.Mz()}, {"dx", grid.dx}, {"dy", grid.dy}};
  json["sizes"] = {{"cells", sizes.cells}, {"icy_cells", sizes.icy_cells}, {"points_in_ice", sizes.points_in_ice}};
  json["ranks"] = {
      {"size", session.size()}, {"px", grid.decomposition.px}, {"py", grid.decomposition.py}, {"execution_space", Exec::name()}};
  json["versions"] = versions();
  json["versions"]["compiler"] = __VERSION__;
  json["years_per_step"] = lengths;
  json["triad"] = {{"GB_per_s", triad.GB_per_s()}, {"GB_per_s_max", triad.best_GB_per_s()}};
  json["ssa"] = model.report()["ssa"];
  json["mass_budget"] = summary.report();

  double rest = 0.0, best = 0.0, bytes_of_rest = 0.0;
  const auto share = [](double bytes, double seconds, double GB_per_s) { return 1e-9 * bytes / seconds / GB_per_s; };
  for (const auto& [name, first] : steps.front()) {
    std::vector<double> seconds;
    for (std::size_t n = 1; n < steps.size(); ++n) seconds.push_back(steps[n].at(name));
    const double typical = median(seconds), least = *std::min_element(seconds.begin(), seconds.end());
    nlohmann::json& part = json["parts"][name];
    part = {{"median_ms", 1e3 * typical},
            {"min_ms", 1e3 * least},
            {"max_ms", 1e3 * *std::max_element(seconds.begin(), seconds.end())},
            {"first_ms", 1e3 * first}};
    const PartBytes* counted = bytes_of(name.c_str());
    if (counted == nullptr) continue;
    const double bytes = counted->total(sizes);
    rest += typical, best += least, bytes_of_rest += bytes;
    part["bytes_per_cell"] = bytes / sizes.cells;
    part["share_of_triad"] = share(bytes, typical, triad.GB_per_s());
    part["share_of_triad_best"] = share(bytes, least, triad.best_GB_per_s());
  }
  json["without_ssa"] = {{"median_ms", 1e3 * rest},
                         {"min_ms", 1e3 * best},
                         {"bytes_per_cell", bytes_of_rest / sizes.cells},
                         {"share_of_triad", share(bytes_of_rest, rest, triad.GB_per_s())},
                         {"share_of_triad_best", share(bytes_of_rest, best, triad.best_GB_per_s())}};
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "bench_step", [](Session& session) {
    Options options;
    int repeat = 5;
    OptionTable table("bench_step: times the parts of a model step; prints JSON",
                      "mpiexec -n 1 bench_step -i antarctica.nc -grid_dx 16km");
    table.section("Benchmark; of the other options -dt_max is 0.02 years if it is not given, -run_... and files are not used");
    table.add(number("repeat", repeat, "", "steps that count, after a first one that does not", 3, 1000));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    const nlohmann::json json = run(options, repeat, session);
    if (session.rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
