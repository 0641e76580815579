#include "miniapp/model/model.hpp"

#include "kernels/grid/constants.hpp"
#include "miniapp/model/dmda_ranks.hpp"

namespace nunatak {

namespace {

/// Messages, bytes and collectives of the model itself (PETSc's and MPI-IO's are not counted), summed over ranks; "halo": the
/// part of the ghost exchanges, by whichever -halo, and the time of the slowest rank in them. Collective.
nlohmann::json traffic_report(const MpiRanks& ranks) {
  const Traffic& t = ranks.traffic();
  const MpiRanks::Halo& halo = ranks.halo();
  std::int64_t sums[] = {t.messages, t.bytes, halo.messages, halo.bytes};
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT64_T, MPI_SUM, ranks.comm());
  double seconds = halo.seconds;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, ranks.comm());
  return {
      {"messages", sums[0]},
      {"bytes", sums[1]},
      {"exchanges_per_rank", t.exchanges},
      {"collectives_per_rank", t.collectives},
      {"halo", {{"messages", sums[2]}, {"bytes", sums[3]}, {"exchanges_per_rank", halo.exchanges}, {"max_seconds", seconds}}}};
}

} // namespace

// In this order: the grid without levels, arrays on it, the state, the levels that its ice needs, and physics on all of them.
Model::Model(Options& options, MPI_Comm comm, Timers& timers, const Log& log)
    : m_timers(timers), m_dt_max(options.dt_max * seconds_per_year), m_initial(options, comm, log),
      m_grid(m_initial.horizontal_grid(comm)), m_ranks(make_ranks(comm, *m_grid.dmda, options.halo)), m_state(m_ranks->patch()),
      m_forcing(m_ranks->patch()), m_levels(levels_at(read_state())),
      m_stress_balance(options, m_grid, m_levels, *m_ranks, timers, log), m_ocean(options, m_grid, *m_ranks),
      m_energy(options, m_grid, m_levels, *m_ranks), m_transport(m_grid, *m_ranks) {}

std::vector<double> Model::read_state() {
  Timers::Scope scope(m_timers, "init: read or generate");
  m_initial.read(m_grid, *m_ranks, m_state, m_forcing);
  return m_grid.z;
}

void Model::diagnose(double time) {
  {
    Timers::Scope scope(m_timers, "ocean");
    m_ocean.update(m_state, m_forcing);
  }
  m_stress_balance.update(m_state, m_forcing, m_ocean.melt(), time);
}

TimeStep Model::stable_step() const { return time_step(m_grid.dx, m_grid.dy, flow().D_max, flow().advection_rate, m_dt_max); }

Step Model::advance(double dt) {
  Step step;
  step.dt = dt;
  {
    Timers::Scope scope(m_timers, "energy");
    step.melted_inside = m_energy.step(m_state, flow(), m_forcing, dt);
  }
  {
    Timers::Scope scope(m_timers, "mass transport");
    step.budget = m_transport.step(m_state, flow(), m_forcing, m_ocean.melt(), dt);
  }
  return step;
}

FieldList Model::fields() {
  FieldList fields = restart_fields(m_state, m_forcing);
  m_ocean.add_fields(fields);
  m_stress_balance.add_fields(m_state, fields);
  return fields;
}

FieldList Model::failed_fields() {
  FieldList all = fields();
  m_stress_balance.add_residual(all);
  return all;
}

nlohmann::json Model::report() const {
  return {{"input", m_initial.report()},
          {"ssa", m_stress_balance.report()},
          {"ocean", m_ocean.report()},
          {"messages", traffic_report(*m_ranks)}};
}

} // namespace nunatak
