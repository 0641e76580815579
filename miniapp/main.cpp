// nunatak: a run, step by step.
#include "io/agree.hpp"
#include "io/trace/trace.hpp"
#include "kernels/ice/time_step.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/progress.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/dump.hpp"
#include "miniapp/model/energy.hpp"
#include "miniapp/model/initial.hpp"
#include "miniapp/model/mass_transport.hpp"
#include "miniapp/model/ocean.hpp"
#include "miniapp/model/output.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/stress_balance.hpp"
#include "miniapp/model/summary.hpp"

using namespace nunatak;

namespace {

std::string command_line(int argc, char** argv) {
  std::string words = utc_now() + ":";
  for (int a = 0; a < argc; ++a) words += std::string(" ") + argv[a];
  return words;
}

void run(const Session& session, Options& options, const std::string& command) {
  // 1. the timers that account for all that follows
  const Log log(session.rank(), options.verbose);
  Timers timers;

  // 2. grid and state, from a file or a generator
  auto init = std::make_unique<Timers::Scope>(timers, "init");
  const InitialState initial(options, session.comm(), log);
  Grid grid = initial.horizontal_grid(session.size());
  MpiRanks ranks(session.comm(), grid.decomposition);
  State state(ranks.patch());
  Forcing forcing(ranks.patch());
  {
    Timers::Scope scope(timers, "init: read or generate");
    initial.read(grid, ranks, state, forcing);
  }
  const Levels levels = levels_at(grid.z);

  // 3. physics, output, report
  StressBalance stress_balance(options, grid, levels, ranks, timers, log);
  Ocean ocean(options, grid, ranks);
  Energy energy(options, grid, levels, ranks);
  MassTransport transport(grid, ranks);
  Clock clock(options, state.time);
  Output output(options, grid, ranks, state.time, initial.title(), command, timers, log);
  Dumps dumps(options, grid, ranks.patch(), session.comm(), command);
  Report report(options, grid, session.comm());
  Summary summary(grid, ranks, state);
  dumps.set_time(clock.time());
  init.reset();
  log.line(describe(grid));

  // 4. time steps: diagnose the flow and the melt, write what is due, move on
  Progress progress(session.rank(), options.progress);
  const auto fields = [&] {
    FieldList list = restart_fields(state, forcing);
    ocean.add_fields(list);
    stress_balance.add_fields(state, list);
    return list;
  };
  const auto diagnose = [&]() -> const Flow& {
    {
      Timers::Scope scope(timers, "ocean");
      ocean.update(state, forcing);
    }
    try {
      return stress_balance.update(state, forcing, ocean.melt());
    } catch (const SsaError&) {
      FieldList list = fields();
      stress_balance.add_residual(list);
      output.write_failed(clock.time(), clock.steps(), restart_fields(state, forcing), list);
      throw;
    }
  };
  while (!clock.finished()) {
    const Flow& flow = diagnose();
    output.write_due(clock.time(), clock.steps(), restart_fields(state, forcing), fields);

    const double next_stop = output.next_due(clock.time());
    const TimeStep limit = time_step(grid.dx, grid.dy, flow.D_max, flow.advection_rate, options.dt_max * seconds_per_year);
    const double begin = clock.time(), dt = clock.longest_step(limit.dt, next_stop);
    FixedSum melted;
    {
      Timers::Scope scope(timers, "energy");
      melted = energy.step(state, flow, forcing, dt);
    }
    MassBudget budget;
    {
      Timers::Scope scope(timers, "mass transport");
      budget = transport.step(state, flow, forcing, ocean.melt(), dt);
    }
    clock.advance(dt, next_stop);
    state.time = clock.time();
    dumps.set_time(clock.time());

    summary.add(state, flow, budget, melted, dt);
    output.write_scalars(Summary::scalars(), summary.values(), begin, clock.time(), clock.steps());
    progress.hide();
    log.line(summary.line(clock, dt, limit.why(), stress_balance.last_solve()));
    progress.update(clock.done(), summary.progress(clock));
  }

  // 5. the last state with its own flow and melt; write it, and tell how it went
  if (!clock.zero_length()) {
    diagnose();
    output.write_due(clock.time(), clock.steps(), restart_fields(state, forcing), fields);
  }
  output.finish(clock.time(), clock.steps(), restart_fields(state, forcing), fields);
  dumps.finish();
  report["input"] = initial.report();
  report["steps"] = clock.steps();
  report["years"] = clock.years();
  report["mass_budget"] = summary.report();
  report["ssa"] = stress_balance.report();
  report["ocean"] = ocean.report();
  report["output"] = output.report(timers.elapsed());
  report["messages"] = traffic_report(ranks);
  report.finish(timers, log);
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "nunatak", [&](Session& session) {
    Options options;
    OptionTable table(
        "nunatak: a mini-app of an ice sheet model (hybrid SSA/SIA step, PICO, parallel output)",
        "mpiexec -n 4 nunatak -init marine -grid_dx 16km -run_years 10 -o result.nc\n\n"
        "-options_file reads options from a file (YAML if its name ends in .yaml or .yml). Options that start with ssa_\n"
        "go to PETSc: -ssa_ksp_type cg -ssa_pc_type gamg.");
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    io::on_rank_0(session.comm(), [&] { require_writable("-io_trace", options.io_trace); });
    io::Trace trace(session.comm());
    trace.start(options.io_trace);
    try {
      run(session, options, command_line(argc, argv));
    } catch (const Error&) {
      trace.finish(); // what led to the error
      throw;
    }
    trace.finish();
  });
}
