// bench_model: what bench_kernels measures, for any input of the model: a file, or a state that
// -init makes. Prints one JSON object.
//
//   mpiexec -n 1 bench_model -i antarctica.nc -grid_dx 8km
//
// The loop over time is that of miniapp/main.cpp without output: diagnose, advance, checks.
// docs/performance.md explains the JSON.
#include "miniapp/base/program.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/summary.hpp"
#include "perf/time_steps.hpp"

#include <iostream>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

Seconds so_far(const Timers& timers) {
  Seconds seconds;
  for (const Timers::Summary& s : timers.summarise(MPI_COMM_SELF)) {
    if (s.name.rfind("init", 0) != 0) seconds[s.name] = s.mean; // that is no part of a step
  }
  return seconds;
}

nlohmann::json run(Options options, int repeat, const Session& session) {
  if (options.run_years > 0.0 || options.run_steps > 0)
    throw Error("options -run_years, -run_steps: expected none, see -repeat");
  if (options.given.count("dt_max") == 0) options.dt_max = 0.02;
  if (options.given.count("pico_skip_unchanged") == 0)
    options.pico.skip_unchanged = false; // every update is a whole one
  options.run_steps = repeat + 1;
  const Log silent(session.rank(), false);
  Timers timers;
  Model model(options, session.comm(), timers, silent);
  Clock clock(options, model.start_time());
  Summary summary(model.grid(), model.ranks(), model.state());
  const Subject subject{[&] {
                          model.diagnose(clock.time());
                          const double dt = clock.longest_step(model.stable_step().dt);
                          model.advance(dt);
                          clock.advance(dt);
                          Timers::Scope scope(
                              timers, checks_part); // throws if ice or the mass budget are wrong
                          summary.add(model.hybrid(), dt);
                          return dt;
                        },
                        [&] { return so_far(timers); },
                        sizes_of(model.ranks().patch(), model.levels(), model.state())};
  StepTimes steps(subject);
  steps.run(repeat);

  nlohmann::json json = steps.report();
  json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  const Grid& grid = model.grid();
  json["grid"] = {
      {"Mx", grid.Mx()}, {"My", grid.My()}, {"Mz", grid.Mz()}, {"dx", grid.dx}, {"dy", grid.dy}};
  json["ranks"] = {
      {"size", session.size()}, {"px", grid.decomposition.px}, {"py", grid.decomposition.py}};
  json["versions"].update(versions());
  json["ssa"] = model.report()["ssa"];
  json["mass_budget"] = summary.report();
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "bench_model", [](Session& session) {
    Options options;
    int repeat = 7;
    OptionTable table("bench_model: times the loops and the parts of a model step; prints JSON",
                      "mpiexec -n 1 bench_model -i antarctica.nc -grid_dx 8km");
    table.section("Benchmark; of the other options -dt_max is 0.02 years if it is not given, "
                  "-run_... and files are not used");
    table.add(
        number("repeat", repeat, "", "steps that count, after a first one that does not", 3, 1000));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    const nlohmann::json json = run(options, repeat, session);
    if (session.rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
