#include "miniapp/model/stress_balance.hpp"

#include "kernels/grid/constants.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/time_step.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/session.hpp"

#include <cmath>

namespace nunatak {

namespace {

nlohmann::json record(const SsaReport& r, double time) {
  return {{"year", time / seconds_per_year},
          {"unknown_cells", r.unknown_cells},
          {"excluded_cells", r.excluded_cells},
          {"steps", r.steps},
          {"damped_steps", r.damped_steps},
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

} // namespace

SsaOptions ssa_options(const Options& options) {
  SsaOptions ssa;
  ssa.till_subgrid = options.till_subgrid;
  ssa.tolerance = options.ssa_tolerance;
  ssa.max_steps = options.ssa_max_steps;
  ssa.single_precision = options.ssa_multigrid_precision == "single";
  ssa.multigrid.smoothing = options.ssa_multigrid_smoothing;
  ssa.multigrid.gather_below = options.ssa_multigrid_gather;
  ssa.till_q = options.sliding_q;
  ssa.till_u_threshold = options.sliding_u_threshold / seconds_per_year;
  return ssa;
}

StressBalance::StressBalance(const Options& options, const Grid& grid, const Levels& levels, MpiRanks& ranks, Timers& timers,
                             const Log& log)
    : m_grid(grid), m_levels(levels), m_ranks(ranks), m_timers(timers), m_log(log), m_slides(options.stress != "sia"),
      m_shears(options.stress != "ssa"), m_isothermal(options.rheology == "isothermal"), m_softness(options.softness),
      m_sia_enhancement(options.sia_enhancement), m_ssa_enhancement(options.ssa_enhancement),
      m_ssa_hardness(make_array<double>("ssa_hardness", ranks.patch())),
      m_softness_field(make_array<double>("softness", ranks.patch())),
      m_speed_surface(make_array<double>("velsurf_mag", ranks.patch())),
      m_speed_base(make_array<double>("velbase_mag", ranks.patch())),
      m_residual_x(make_array<double>("ssa_residual_x", ranks.patch())),
      m_residual_y(make_array<double>("ssa_residual_y", ranks.patch())), m_view(options.ssa_view) {
  const Patch patch = ranks.patch();
  m_flow.q_x = make_array<double>("q_x", patch);
  m_flow.q_y = make_array<double>("q_y", patch);
  m_flow.velocity = HorizontalVelocity::make(patch, levels.size());
  m_flow.w = make_columns<double>("wvel", patch, levels.size());
  m_flow.tauc = make_array<double>("tauc", patch);
  m_flow.hardav = make_array<double>("hardav", patch);

  m_till = {options.till_phi_min,
            options.till_phi_max,
            options.till_topg_min,
            options.till_topg_max,
            options.till_overburden_fraction,
            options.till_frozen_below};
  if (!m_slides) check_solver_options();
  if (m_slides) {
    const SsaSystemOptions system{options.ssa_solver, options.ssa_operator, grid.dmda.get()};
    m_ssa = make_ssa_solver(ranks, grid.dx, grid.dy, ssa_options(options), system);
  }
}

/// Till, hardness and softness, in owned cells and ghosts.
void StressBalance::material(const State& state, const Forcing& forcing) {
  const Patch patch = m_ranks.patch();
  if (forcing.has_tauc) {
    Kokkos::deep_copy(m_flow.tauc, forcing.tauc);
  } else {
    till_yield_stress(patch, m_till, state.topg, state.thk, state.mask, state.temp, m_flow.tauc);
  }
  double sia_e = m_shears ? 1.0 : 0.0, ssa_e = 1.0;
  if (forcing.has_hardav) {
    Kokkos::deep_copy(m_flow.hardav, forcing.hardav);
  } else if (m_isothermal) {
    Kokkos::deep_copy(m_flow.hardav, std::pow(m_softness, -1.0 / glen_n));
  } else {
    update_hardness(patch, m_levels, state.thk, forcing.ice_surface_temp, state.temp, m_flow.hardav, m_softness_field);
    m_ranks.update_ghosts({m_flow.hardav});
    sia_e *= m_sia_enhancement;
    ssa_e *= m_ssa_enhancement;
  }
  // enhancement multiplies A = B^-3, each balance by its own factor
  const auto hardness = m_flow.hardav, ssa_hardness = m_ssa_hardness, softness = m_softness_field;
  const double isothermal = m_isothermal && !forcing.has_hardav ? m_softness : 0.0, stiffening = std::pow(ssa_e, -1.0 / glen_n);
  for_each_cell_and_ghost(
      "softness", patch, KOKKOS_LAMBDA(int j, int i) {
        const double B = hardness(j, i);
        softness(j, i) = sia_e * (isothermal > 0.0 ? isothermal : 1.0 / (B * B * B));
        ssa_hardness(j, i) = stiffening * B;
      });
}

const Flow& StressBalance::update(State& state, const Forcing& forcing, const Array2<double>& melt, double time) {
  const Patch patch = m_ranks.patch();
  const double dx = m_grid.dx, dy = m_grid.dy;
  {
    Timers::Scope scope(m_timers, "stress balance: till, hardness");
    material(state, forcing);
  }
  if (m_ssa) {
    Timers::Scope scope(m_timers, "stress balance: SSA");
    const SsaInput input{state.thk,  state.usurf,   state.topg,      m_flow.tauc,    m_ssa_hardness,
                         state.mask, forcing.fixed, forcing.u_fixed, forcing.v_fixed};
    m_last = m_ssa->solve(input, state.u_ssa, state.v_ssa);
    if (m_solves.empty()) {
      check_solver_options();
      if (m_view) m_log.line("SSA: " + m_ssa->describe());
    }
    m_solves.push_back(record(m_last, time));
  }
  double D_max = 0.0;
  {
    Timers::Scope scope(m_timers, "stress balance: SIA");
    D_max = sia_fluxes(patch, dx, dy, {}, state.usurf, state.thk, state.mask, m_softness_field, m_flow.q_x, m_flow.q_y).D_max;
  }
  Timers::Scope scope(m_timers, "stress balance: 3-D velocity");
  const HorizontalVelocity& velocity = m_flow.velocity;
  horizontal_velocity(patch, dx, dy, {}, m_levels, state.usurf, state.thk, state.mask, m_softness_field, state.u_ssa, state.v_ssa,
                      velocity);
  m_ranks.update_ghosts({velocity.u, velocity.v});
  vertical_velocity(patch, dx, dy, m_levels, state.thk, state.mask, melt, velocity.u, velocity.v, m_flow.w);

  std::vector<std::vector<double>> limits{{D_max,
                                           advection_rate(patch, dx, dy, state.mask, velocity.u_surface, velocity.v_surface),
                                           advection_rate(patch, dx, dy, state.mask, state.u_ssa, state.v_ssa)}};
  max_over_ranks(m_ranks, limits);
  m_flow.D_max = limits[0][0];
  m_flow.advection_rate = std::fmax(limits[0][1], limits[0][2]);
  return m_flow;
}

void StressBalance::add_fields(const State& state, FieldList& fields) {
  const auto surface = m_speed_surface, base = m_speed_base;
  const auto mask = state.mask;
  const auto us = m_flow.velocity.u_surface, vs = m_flow.velocity.v_surface, ub = state.u_ssa, vb = state.v_ssa;
  for_each_cell(
      "speeds", m_ranks.patch(), KOKKOS_LAMBDA(int j, int i) {
        const bool ice = icy(mask(j, i));
        surface(j, i) = ice ? Kokkos::sqrt(us(j, i) * us(j, i) + vs(j, i) * vs(j, i)) : fill_value;
        base(j, i) = ice ? Kokkos::sqrt(ub(j, i) * ub(j, i) + vb(j, i) * vb(j, i)) : fill_value;
      });
  const HorizontalVelocity& velocity = m_flow.velocity;
  fields.insert(fields.end(), {{"ubar", velocity.u_mean},
                               {"vbar", velocity.v_mean},
                               {"velsurf_mag", surface},
                               {"velbase_mag", base},
                               {"tauc", m_flow.tauc},
                               {"hardav", m_flow.hardav},
                               {"uvel", velocity.u},
                               {"vvel", velocity.v},
                               {"wvel", m_flow.w}});
}

void StressBalance::add_residual(FieldList& fields) {
  if (m_ssa) m_ssa->residual(0, m_residual_x, m_residual_y);
  fields.insert(fields.end(), {{"ssa_residual_x", m_residual_x}, {"ssa_residual_y", m_residual_y}});
}

nlohmann::json StressBalance::report() const {
  nlohmann::json json = {{"solves", m_solves.size()}, {"history", m_solves}};
  if (!m_ssa) return json;
  json["solver"] = m_ssa->describe();
  for (const char* sum : {"steps", "linear_iterations", "reductions"}) {
    json[sum] = 0;
    for (const auto& solve : m_solves) json[sum] = json[sum].get<int>() + solve[sum].get<int>();
  }
  return json;
}

} // namespace nunatak
