#include "miniapp/model/model.hpp"

#include "kernels/grid/constants.hpp"
#include "kernels/ssa/newton.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/petsc/as_pism.hpp"
#include "miniapp/model/petsc/dmda_ranks.hpp"
#include "miniapp/model/petsc/ssa.hpp"
#include "miniapp/model/session.hpp"

#include <algorithm>

namespace nunatak {

namespace {

/// Messages, bytes and collectives without those of PETSc and MPI-IO, summed over ranks. "halo":
/// ghost exchanges with any -halo. Collective.
nlohmann::json traffic_report(const MpiRanks& ranks) {
  const Traffic& t = ranks.traffic();
  const Traffic& halo = ranks.halo();
  std::int64_t sums[] = {t.messages, t.bytes, halo.messages, halo.bytes};
  MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT64_T, MPI_SUM, ranks.comm());
  return {{"messages", sums[0]},
          {"bytes", sums[1]},
          {"exchanges_per_rank", t.exchanges},
          {"collectives_per_rank", t.collectives},
          {"halo",
           {{"messages", sums[2]}, {"bytes", sums[3]}, {"exchanges_per_rank", halo.exchanges}}}};
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

nlohmann::json record(const SsaReport& r, double time) {
  return {{"year", time / seconds_per_year},
          {"unknown_cells", r.unknown_cells},
          {"excluded_cells", r.excluded_cells},
          {"steps", r.steps},
          {"damped_steps", r.damped_steps},
          {"local_solves", r.local_solves},
          {"local_cells", r.local_cells},
          {"linear_iterations", r.linear_iterations},
          {"reductions", r.reductions},
          {"load", r.load_norm},
          {"initial_residual", r.initial_residual},
          {"final_residual", r.final_residual},
          {"reason", r.reason},
          {"seconds", r.seconds_total},
          {"seconds_setup", r.seconds_setup},
          {"seconds_residual", r.seconds_residual},
          {"seconds_jacobian", r.seconds_jacobian},
          {"seconds_linear", r.seconds_linear}};
}

HybridOptions hybrid_options(const Options& options) {
  HybridOptions hybrid = options.hybrid;
  hybrid.stress.shears = options.stress != "ssa";
  hybrid.stress.isothermal = options.rheology == "isothermal";
  hybrid.till = ssa_options(options).till();
  if (options.ocean != "none") hybrid.pico = options.pico;
  hybrid.energy = options.energy == "on";
  hybrid.temperature_apart = options.halo == "pism";
  hybrid.dt_max = options.dt_max * seconds_per_year;
  return hybrid;
}

void add_pico_fields(const PicoFields& ocean, FieldList& fields) {
  fields.insert(fields.end(), {{"pico_shelf_mask", ocean.shelf_mask},
                               {"pico_box_mask", ocean.box_mask},
                               {"pico_distance_gl", ocean.distance_gl},
                               {"pico_distance_cf", ocean.distance_cf},
                               {"pico_ice_rise_mask", ocean.ice_rise_mask},
                               {"pico_ocean_mask", ocean.ocean_mask},
                               {"pico_lake_mask", ocean.lake_mask},
                               {"pico_contshelf_mask", ocean.contshelf_mask},
                               {"pico_temperature", ocean.temperature},
                               {"pico_salinity", ocean.salinity},
                               {"pico_temperature_box0", ocean.temperature_box0},
                               {"pico_salinity_box0", ocean.salinity_box0},
                               {"pico_overturning", ocean.overturning},
                               {"pico_basal_melt_rate", ocean.melt}});
}

/// Speeds of the ice at the surface and at the base.
void set_speeds(const Patch& patch, const State& state, const HorizontalVelocity& velocity,
                const Array2<double>& surface, const Array2<double>& base) {
  const auto mask = state.mask;
  const auto us = velocity.u_surface, vs = velocity.v_surface, ub = state.u_ssa, vb = state.v_ssa;
  for_each_cell(
      "speeds", patch, KOKKOS_LAMBDA(int j, int i) {
        const bool ice = icy(mask(j, i));
        surface(j, i) = ice ? Kokkos::sqrt(us(j, i) * us(j, i) + vs(j, i) * vs(j, i)) : fill_value;
        base(j, i) = ice ? Kokkos::sqrt(ub(j, i) * ub(j, i) + vb(j, i) * vb(j, i)) : fill_value;
      });
}

} // namespace

SsaOptions ssa_options(const Options& options) {
  SsaOptions ssa = options.ssa;
  ssa.till_u_threshold = options.sliding_u_threshold / seconds_per_year;
  return ssa;
}

// The order matters: horizontal grid, arrays, state, levels that cover the ice, physics.
Model::Model(Options& options, MPI_Comm comm, Timers& timers, const Log& log)
    : m_watch(timers, *this), m_log(log), m_initial(options, comm, log),
      m_grid(m_initial.horizontal_grid(comm)),
      m_ranks(make_ranks(comm, *m_grid.dmda, options.halo, options.gpu_aware_mpi)),
      m_view_solver(options.ssa_view), m_as_pism(options.halo == "pism"),
      m_keeps_solves(!options.report.empty() && io::rank_in(comm) == 0) {
  m_ranks->set_watch(m_watch);
  const Patch patch = m_ranks->patch();
  State state(patch);
  Forcing forcing(patch);
  {
    Timers::Scope scope(timers, "init: read or generate");
    m_initial.read(m_grid, *m_ranks, state, forcing);
  }
  m_levels = levels_at(m_grid.z);
  m_speed_surface = make_array<double>("velsurf_mag", patch);
  m_speed_base = make_array<double>("velbase_mag", patch);
  std::unique_ptr<SsaSolver> sliding;
  if (options.stress != "sia")
    sliding = make_ssa_solver(*m_ranks, m_grid.dx, m_grid.dy, ssa_options(options),
                              options.ssa_solver, m_grid.dmda.get());
  m_has_unread_options =
      sliding != nullptr && dynamic_cast<const SsaNewton*>(sliding.get()) == nullptr;
  if (!m_has_unread_options) check_solver_options();
  m_hybrid = std::make_unique<Hybrid>(*m_ranks, m_grid.dx, m_grid.dy, m_levels,
                                      hybrid_options(options), std::move(sliding),
                                      std::vector<State>{state}, std::vector<Forcing>{forcing});
}

void Model::send_as_pism(const std::string& part) { send(*m_ranks, as_pism(part, *m_hybrid)); }

void Model::advance(double dt) {
  m_hybrid->advance(dt);
  if (m_as_pism) {
    const StepPart part(*m_ranks, part::geometry); // empty but for what Watch sends at its end
  }
}

void Model::diagnose(double time) {
  m_hybrid->diagnose();
  const StressBalance& balance = m_hybrid->stress_balance();
  if (balance.sliding() != nullptr) {
    const SsaReport& solve = balance.last_solve();
    if (m_keeps_solves) m_history.push_back(record(solve, time));
    m_solves += 1;
    m_steps += solve.steps;
    m_iterations += solve.linear_iterations;
    m_reductions += solve.reductions;
    if (m_has_unread_options && solve.unknown_cells > 0) { // PETSc's solver has been made
      m_has_unread_options = false;
      check_solver_options();
    }
    if (m_solves == 1 && m_view_solver) m_log.line("SSA: " + balance.sliding()->describe());
  }
  if (!m_hybrid->has_ocean()) return;
  m_updates += 1;
  m_kept += m_hybrid->last_ocean().geometry_kept ? 1 : 0;
  m_collectives += m_hybrid->last_ocean().collectives;
}

FieldList Model::fields() {
  FieldList fields = given_fields(state(), forcing());
  fields.erase(std::remove_if(fields.begin(), fields.end(),
                              [&](const Field& f) { return !f.restart || !m_initial.has(f.name); }),
               fields.end());
  fields.insert(
      fields.end(),
      {{"usurf", state().usurf, true}, {"mask", state().mask, true}, {"temp", state().temp, true}});
  if (m_hybrid->has_ocean()) add_pico_fields(m_hybrid->ocean(0), fields);
  const HorizontalVelocity& velocity = flow().velocity;
  set_speeds(m_ranks->patch(), state(), velocity, m_speed_surface, m_speed_base);
  fields.insert(fields.end(), {{"ubar", velocity.u_mean},
                               {"vbar", velocity.v_mean},
                               {"velsurf_mag", m_speed_surface},
                               {"velbase_mag", m_speed_base},
                               {"tauc", flow().tauc},
                               {"hardav", flow().hardav},
                               {"uvel", velocity.u},
                               {"vvel", velocity.v},
                               {"wvel", flow().w}});
  return fields;
}

FieldList Model::failed_fields() {
  FieldList all = fields();
  const Patch p = m_ranks->patch();
  const auto r_x = make_array<double>("ssa_residual_x", p),
             r_y = make_array<double>("ssa_residual_y", p);
  m_hybrid->stress_balance().sliding()->residual(0, r_x, r_y);
  all.insert(all.end(), {{"ssa_residual_x", r_x}, {"ssa_residual_y", r_y}});
  return all;
}

nlohmann::json Model::report() {
  return {{"input", m_initial.report()},
          {"state_MiB", state_MiB(fields(), m_ranks->patch())},
          {"ssa", ssa_report()},
          {"ocean", ocean_report()},
          {"messages", traffic_report(*m_ranks)}};
}

nlohmann::json Model::ssa_report() const {
  const SsaSolver* const solver = m_hybrid->stress_balance().sliding();
  nlohmann::json json = {{"solves", m_solves}, {"history", m_history}};
  if (solver == nullptr) return json;
  json.update({{"solver", solver->describe()},
               {"steps", m_steps},
               {"linear_iterations", m_iterations},
               {"reductions", m_reductions}});
  return json;
}

nlohmann::json Model::ocean_report() const {
  if (!m_hybrid->has_ocean()) return {{"model", "none"}};
  const PicoReport& r = m_hybrid->last_ocean();
  return {{"model", "pico"},
          {"shelves", r.shelves},
          {"shelf_cells", r.shelf_cells},
          {"total_melt_Gt_per_year", r.total_melt * seconds_per_year / 1e12},
          {"largest_distance", r.d_max},
          {"distance_rounds", r.rounds},
          {"collectives", r.collectives},
          {"updates", m_updates},
          {"updates_with_kept_geometry", m_kept},
          {"collectives_of_all_updates", m_collectives},
          {"domain_cells_imbalance", r.domain_imbalance},
          {"shelf_cells_imbalance", r.shelf_imbalance},
          {"fallback_cells", r.fallback_cells},
          {"warnings", r.warnings}};
}

} // namespace nunatak
