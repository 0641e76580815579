// nunatak: a run, step by step.
#include "io/trace/trace.hpp"
#include "kernels/ice/time_step.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/progress.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/dmda_ranks.hpp"
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

void run(const Session& session, const std::string& command, io::Trace& trace) {
  // 1. options, and the timers that account for all that follows
  Options options = read_options();
  require_writable(session.comm(), "-io_trace", options.io_trace);
  trace.start(options.io_trace);
  const Log log(session.rank(), options.verbose);
  Timers timers;

  // 2. grid and state, from a file or a generator
  auto init = std::make_unique<Timers::Scope>(timers, "init");
  const InitialState initial(options, session.comm(), log);
  Grid grid = initial.horizontal_grid(session.comm());
  const std::unique_ptr<MpiRanks> halo = make_ranks(session.comm(), *grid.dmda, options.halo);
  MpiRanks& ranks = *halo;
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
  int status = 0;
  const auto fail = [&status](const std::exception& error) {
    std::cerr << "nunatak: error: " << error.what() << std::endl;
    status = 1;
  };
  try {
    Session session(argc, argv);
    const auto fail_together = [&](const std::exception& error) { // on all ranks: rank 0 speaks for them
      if (session.rank() == 0) fail(error);
      status = 1;
    };
    io::Trace trace(session.comm());
    try {
      if (session.help_wanted()) {
        if (session.rank() == 0) print_help(std::cout);
      } else {
        session.read_options_files();
        run(session, command_line(argc, argv), trace);
      }
    } catch (const Error& error) {
      fail_together(error);
    } catch (const io::Error& error) {
      fail_together(error);
    } catch (const std::invalid_argument& error) { // a parameter that the kernels refuse
      fail_together(error);
    } catch (const std::exception& error) { // perhaps on this rank only: nobody may wait for it
      std::cerr << "nunatak: error: rank " << session.rank() << ": " << error.what() << std::endl;
      MPI_Abort(session.comm(), 1);
    }
    try {
      trace.finish(); // of a run that failed, too
    } catch (const io::Error& error) {
      fail_together(error);
    }
  } catch (const Error& error) {
    fail(error);
  }
  return status;
}
