#include "miniapp/model/model.hpp"

#include "miniapp/model/petsc/dmda_ranks.hpp"
#include "miniapp/model/petsc/ssa.hpp"
#include "miniapp/model/session.hpp"

#include <algorithm>

namespace nunatak {

namespace {

/// Messages, bytes and collectives without those of PETSc and MPI-IO, summed over ranks. "halo":
/// ghost exchanges with any -halo, with the slowest rank's time. Collective.
nlohmann::json traffic_report(const MpiRanks& ranks) {
  const Traffic& t = ranks.traffic_of_all();
  const MpiRanks::Halo& halo = ranks.halo();
  std::int64_t sums[] = {t.messages, t.bytes, halo.messages, halo.bytes};
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT64_T, MPI_SUM, ranks.comm());
  double seconds = halo.seconds;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, ranks.comm());
  return {{"messages", sums[0]},
          {"bytes", sums[1]},
          {"exchanges_per_rank", t.exchanges},
          {"collectives_per_rank", t.collectives},
          {"halo",
           {{"messages", sums[2]},
            {"bytes", sums[3]},
            {"exchanges_per_rank", halo.exchanges},
            {"max_seconds", seconds}}}};
}

/// Memory that the fields of a restart file need, over all ranks, without ghosts.
double state_MiB(const FieldList& fields, const Patch& p) {
  double bytes_per_cell = 0.0;
  for (const Field& f : fields) {
    if (!f.restart) continue;
    std::visit(
        [&](const auto& a) {
          bytes_per_cell += static_cast<double>(a.extent(2) * sizeof(*a.data()));
        },
        f.array);
  }
  return bytes_per_cell * p.Mx * p.My / (1024.0 * 1024.0);
}

} // namespace

// The order matters: horizontal grid, arrays, state, levels that cover the ice, physics.
Model::Model(Options& options, MPI_Comm comm, Timers& timers, const Log& log)
    : m_watch(timers), m_log(log), m_initial(options, comm, log),
      m_grid(m_initial.horizontal_grid(comm)),
      m_ranks(make_ranks(comm, *m_grid.dmda, options.halo, options.gpu_aware_mpi)),
      m_view_solver(options.ssa_view) {
  const Patch patch = m_ranks->patch();
  State state(patch);
  Forcing forcing(patch);
  {
    Timers::Scope scope(timers, "init: read or generate");
    m_initial.read(m_grid, *m_ranks, state, forcing);
  }
  m_levels = levels_at(m_grid.z);
  m_diagnostics = std::make_unique<Diagnostics>(patch);
  std::unique_ptr<SsaSolver> sliding;
  if (options.stress == "sia") {
    check_solver_options();
  } else {
    sliding = make_ssa_solver(*m_ranks, m_grid.dx, m_grid.dy, ssa_options(options),
                              options.ssa_solver, m_grid.dmda.get());
  }
  m_hybrid = std::make_unique<Hybrid>(
      *m_ranks, m_grid.dx, m_grid.dy, m_levels, hybrid_options(options), std::move(sliding),
      std::vector<State>{state}, std::vector<Forcing>{forcing}, m_watch);
}

void Model::diagnose(double time) {
  m_hybrid->diagnose();
  m_report.add(*m_hybrid, time);
  const SsaSolver* solver = m_hybrid->stress_balance().sliding();
  if (m_solver_is_new && solver != nullptr) {
    check_solver_options();
    if (m_view_solver) m_log.line("SSA: " + solver->describe());
  }
  m_solver_is_new = false;
}

FieldList Model::fields() {
  FieldList fields = restart_fields(state(), forcing());
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [&](const Field& f) { return !m_initial.has(f.name); }),
               fields.end());
  m_diagnostics->add_fields(*m_hybrid, fields);
  return fields;
}

FieldList Model::failed_fields() {
  FieldList all = fields();
  m_diagnostics->add_residual(*m_hybrid, all);
  return all;
}

nlohmann::json Model::report() {
  return {{"input", m_initial.report()},
          {"state_MiB", state_MiB(fields(), m_ranks->patch())},
          {"ssa", m_report.stress_balance(*m_hybrid)},
          {"ocean", m_report.ocean(*m_hybrid)},
          {"messages", traffic_report(*m_ranks)}};
}

} // namespace nunatak
