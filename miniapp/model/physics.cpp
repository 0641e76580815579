#include "miniapp/model/physics.hpp"

#include "kernels/grid/constants.hpp"
#include "miniapp/model/output_schema.hpp"

namespace nunatak {

namespace {

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

} // namespace

SsaOptions ssa_options(const Options& options) {
  SsaOptions ssa = options.ssa;
  ssa.till_u_threshold = options.sliding_u_threshold / seconds_per_year;
  return ssa;
}

HybridOptions hybrid_options(const Options& options) {
  HybridOptions hybrid = options.hybrid;
  hybrid.stress.shears = options.stress != "ssa";
  hybrid.stress.isothermal = options.rheology == "isothermal";
  hybrid.till = ssa_options(options).till();
  if (options.ocean != "none") hybrid.pico = options.pico;
  hybrid.energy = options.energy == "on";
  hybrid.dt_max = options.dt_max * seconds_per_year;
  return hybrid;
}

FieldList restart_fields(const State& state, const Forcing& forcing) {
  FieldList fields = {{"thk", state.thk},
                      {"topg", state.topg},
                      {"usurf", state.usurf},
                      {"mask", state.mask},
                      {"temp", state.temp},
                      {"u_ssa", state.u_ssa},
                      {"v_ssa", state.v_ssa},
                      {"climatic_mass_balance", forcing.climatic_mass_balance},
                      {"ice_surface_temp", forcing.ice_surface_temp},
                      {"bheatflx", forcing.bheatflx},
                      {"basins", forcing.basins},
                      {"theta_ocean", forcing.theta_ocean},
                      {"salinity_ocean", forcing.salinity_ocean}};
  if (forcing.has_tauc) fields.push_back({"tauc", forcing.tauc});
  if (forcing.has_hardav) fields.push_back({"hardav", forcing.hardav});
  for (Field& field : fields) field.restart = true;
  return fields;
}

Diagnostics::Diagnostics(const Patch& patch)
    : m_patch(patch), m_speed_surface(make_array<double>("velsurf_mag", patch)),
      m_speed_base(make_array<double>("velbase_mag", patch)),
      m_residual_x(make_array<double>("ssa_residual_x", patch)),
      m_residual_y(make_array<double>("ssa_residual_y", patch)) {}

void Diagnostics::add_fields(const Hybrid& hybrid, FieldList& fields) const {
  if (hybrid.has_ocean()) add_pico_fields(hybrid.ocean(0), fields);
  const State& state = hybrid.state(0);
  const Flow& flow = hybrid.flow(0);
  const HorizontalVelocity& velocity = flow.velocity;
  const auto surface = m_speed_surface, base = m_speed_base;
  const auto mask = state.mask;
  const auto us = velocity.u_surface, vs = velocity.v_surface, ub = state.u_ssa, vb = state.v_ssa;
  for_each_cell(
      "speeds", m_patch, KOKKOS_LAMBDA(int j, int i) {
        const bool ice = icy(mask(j, i));
        surface(j, i) = ice ? Kokkos::sqrt(us(j, i) * us(j, i) + vs(j, i) * vs(j, i)) : fill_value;
        base(j, i) = ice ? Kokkos::sqrt(ub(j, i) * ub(j, i) + vb(j, i) * vb(j, i)) : fill_value;
      });
  fields.insert(fields.end(), {{"ubar", velocity.u_mean},
                               {"vbar", velocity.v_mean},
                               {"velsurf_mag", surface},
                               {"velbase_mag", base},
                               {"tauc", flow.tauc},
                               {"hardav", flow.hardav},
                               {"uvel", velocity.u},
                               {"vvel", velocity.v},
                               {"wvel", flow.w}});
}

void Diagnostics::add_residual(const Hybrid& hybrid, FieldList& fields) const {
  const SsaSolver* solver = hybrid.stress_balance().sliding();
  if (solver != nullptr) solver->residual(0, m_residual_x, m_residual_y);
  fields.insert(fields.end(), {{"ssa_residual_x", m_residual_x}, {"ssa_residual_y", m_residual_y}});
}

void PhysicsReport::add(const Hybrid& hybrid, double time) {
  if (hybrid.stress_balance().sliding() != nullptr)
    m_solves.push_back(record(hybrid.stress_balance().last_solve(), time));
  if (!hybrid.has_ocean()) return;
  m_updates += 1;
  m_kept += hybrid.last_ocean().geometry_kept ? 1 : 0;
  m_collectives += hybrid.last_ocean().collectives;
}

nlohmann::json PhysicsReport::stress_balance(const Hybrid& hybrid) const {
  nlohmann::json json = {{"solves", m_solves.size()}, {"history", m_solves}};
  if (hybrid.stress_balance().sliding() == nullptr) return json;
  json["solver"] = hybrid.stress_balance().sliding()->describe();
  for (const char* sum : {"steps", "linear_iterations", "reductions"}) {
    json[sum] = 0;
    for (const auto& solve : m_solves) json[sum] = json[sum].get<int>() + solve[sum].get<int>();
  }
  return json;
}

nlohmann::json PhysicsReport::ocean(const Hybrid& hybrid) const {
  if (!hybrid.has_ocean()) return {{"model", "none"}};
  const PicoReport& r = hybrid.last_ocean();
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
