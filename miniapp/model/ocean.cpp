#include "miniapp/model/ocean.hpp"

#include "kernels/grid/constants.hpp"

namespace nunatak {

Ocean::Ocean(const Options& options, const Grid& grid, MpiRanks& ranks) : m_fields(ranks.patch()) {
  if (options.ocean == "none") return;
  PicoOptions pico;
  pico.gamma_T = options.pico_gamma_T;
  pico.overturning_coefficient = options.pico_overturning;
  pico.continental_shelf_depth = options.pico_continental_shelf_depth;
  pico.exclude_ice_rises = options.pico_exclude_ice_rises;
  pico.boxes = options.pico_boxes;
  pico.solver = options.pico_distance;
  pico.distance_guard = options.pico_distance_guard;
  pico.skip_unchanged = options.pico_skip_unchanged;
  m_pico.emplace(ranks, grid.dx, grid.dy, pico);
}

void Ocean::update(const State& state, const Forcing& forcing) {
  if (!m_pico) return;
  const PicoInput input{state.thk, state.topg, state.mask, forcing.basins, forcing.theta_ocean, forcing.salinity_ocean};
  m_report = m_pico->update(input, m_fields);
  m_updates += 1;
  m_kept += m_report.geometry_kept ? 1 : 0;
  m_collectives += m_report.collectives;
}

void Ocean::add_fields(FieldList& fields) const {
  if (!m_pico) return;
  fields.insert(fields.end(), {{"pico_shelf_mask", m_fields.shelf_mask},
                               {"pico_box_mask", m_fields.box_mask},
                               {"pico_distance_gl", m_fields.distance_gl},
                               {"pico_distance_cf", m_fields.distance_cf},
                               {"pico_ice_rise_mask", m_fields.ice_rise_mask},
                               {"pico_ocean_mask", m_fields.ocean_mask},
                               {"pico_lake_mask", m_fields.lake_mask},
                               {"pico_contshelf_mask", m_fields.contshelf_mask},
                               {"pico_temperature", m_fields.temperature},
                               {"pico_salinity", m_fields.salinity},
                               {"pico_temperature_box0", m_fields.temperature_box0},
                               {"pico_salinity_box0", m_fields.salinity_box0},
                               {"pico_overturning", m_fields.overturning},
                               {"pico_basal_melt_rate", m_fields.melt}});
}

nlohmann::json Ocean::report() const {
  if (!m_pico) return {{"model", "none"}};
  return {{"model", "pico"},
          {"shelves", m_report.shelves},
          {"shelf_cells", m_report.shelf_cells},
          {"total_melt_Gt_per_year", m_report.total_melt * seconds_per_year / 1e12},
          {"largest_distance", m_report.d_max},
          {"distance_rounds", m_report.rounds},
          {"collectives", m_report.collectives},
          {"updates", m_updates},
          {"updates_with_kept_geometry", m_kept},
          {"collectives_of_all_updates", m_collectives},
          {"domain_cells_imbalance", m_report.domain_imbalance},
          {"shelf_cells_imbalance", m_report.shelf_imbalance},
          {"fallback_cells", m_report.fallback_cells},
          {"warnings", m_report.warnings}};
}

} // namespace nunatak
