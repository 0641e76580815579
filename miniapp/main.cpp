// nunatak: a run, step by step.
#include "common/error.hpp"
#include "io/base/agree.hpp"
#include "io/base/signals.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/early_end.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/output.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "miniapp/model/summary.hpp"

using namespace nunatak;

namespace {

/// With rank 0's time: attributes of a file must be the same on all ranks.
std::string command_line(MPI_Comm comm, int argc, char** argv) {
  std::string now = utc_now();
  MPI_Bcast(now.data(), static_cast<int>(now.size()), MPI_CHAR, 0, comm);
  std::string words = now + ":";
  for (int a = 0; a < argc; ++a) words += std::string(" ") + argv[a];
  return words;
}

int run(const Session& session, Options& options, const std::string& command) {
  // 1. timers for all that follows
  const Log log(session.rank(), options.verbose);
  Timers timers;

  // 2. the model with its initial state, from a file or a generator
  auto init = std::make_unique<Timers::Scope>(timers, "init");
  Model model(options, session.comm(), timers, log);

  // 3. clock, output, report
  Clock clock(run_times(options), model.initial().time());
  Summary summary(model.grid(), model.ranks(), model.state());
  Output output(options, model, summary.scalars(), command, timers, log);
  Report report(options, model.grid(), session.comm());
  init.reset();
  log.line(describe(model.grid()));

  // 4. time steps: diagnose flow and melt, write what is due, take the step, write scalars
  const auto fields = [&] { return model.fields(); };
  const auto diagnose_and_write = [&] {
    try {
      model.diagnose(clock.time());
    } catch (const SsaError& error) {
      output.write_failed(clock, model.failed_fields());
      throw Error(error.what());
    }
    output.write_due(clock, fields);
  };
  EarlyEnd early(session.rank(), options.run_wall);
  while (!clock.finished() && !early) {
    diagnose_and_write();
    const TimeStep stable = model.stable_step();
    const double dt = clock.longest_step(stable.dt);
    model.advance(dt);
    clock.advance(dt);
    const io::Request of_servers = output.request();
    early.agree(
        summary.add(model.hybrid(), dt, early.request(output.seconds_to_save(), of_servers)));
    output.write_scalars(clock, summary.scalars());
    log.line(summary.line(clock, stable.why(), model.last_solve()));
  }

  // 5. the final state with its own flow and melt; all files are closed
  if (!clock.zero_length()) diagnose_and_write();
  const std::string state = output.finish(clock, fields);

  // 6. report
  summary.warn(log);
  report.add(model.report());
  report.add(
      {{"steps", clock.steps()}, {"years", clock.years()}, {"mass_budget", summary.report()}});
  report.add({{"output", output.report()}, {"ended_early", early.reason()}});
  const int status = clock.finished() ? 0 : early.report(clock.text(), state);
  report.finish(timers, log); // may fail: the state has been named
  return status;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "nunatak", [&](Session& session) {
    Options options;
    OptionTable table(
        "nunatak: a mini-app of an ice sheet model (hybrid SSA/SIA step, PICO, parallel output)",
        "mpiexec -n 4 nunatak -init marine -grid_dx 16km -run_years 10 -o result.nc");
    table.notes({"-options_file reads options from a file (YAML if its name ends in .yaml or "
                 ".yml). Options "
                 "that",
                 "begin with ssa_ and are not in this list go to PETSc: -ssa_ksp_type cg "
                 "-ssa_pc_type gamg."});
    add_model_options(table, options);
    if (!read_options(session, table, options)) return 0;
    io::remember_signals();
    return run(session, options, command_line(session.comm(), argc, argv));
  });
}
