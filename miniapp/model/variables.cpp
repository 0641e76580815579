#include "miniapp/model/variables.hpp"

#include "miniapp/base/error.hpp"

namespace nunatak {

namespace {

const std::vector<VariableInfo>& table() {
  static const std::vector<VariableInfo> variables = {
      // geometry
      {"thk", false, false, "m", "m", "land_ice_thickness", "land ice thickness"},
      {"topg", false, false, "m", "m", "bedrock_altitude", "bedrock surface elevation"},
      {"usurf", false, false, "m", "m", "surface_altitude", "ice upper surface elevation"},
      {"mask",
       false,
       true,
       "",
       "",
       "",
       "cell type: ice-free or icy, on land or afloat",
       {0, 2, 3, 4},
       "ice_free_bedrock grounded_ice floating_ice ice_free_ocean"},
      // velocity
      {"ubar", false, false, "m s-1", "m year-1", "land_ice_vertical_mean_x_velocity",
       "vertical mean of the horizontal velocity, x component"},
      {"vbar", false, false, "m s-1", "m year-1", "land_ice_vertical_mean_y_velocity",
       "vertical mean of the horizontal velocity, y component"},
      {"velsurf_mag",
       false,
       false,
       "m s-1",
       "m year-1",
       "",
       "magnitude of the horizontal velocity at the ice surface",
       {},
       "",
       true},
      {"velbase_mag", false, false, "m s-1", "m year-1", "", "magnitude of the sliding velocity", {}, "", true},
      {"u_ssa", false, false, "m s-1", "m s-1", "", "sliding (SSA) velocity, x component"},
      {"v_ssa", false, false, "m s-1", "m s-1", "", "sliding (SSA) velocity, y component"},
      {"ssa_residual_x", false, false, "N", "N", "", "residual of the stress balance, x component, a force on the cell"},
      {"ssa_residual_y", false, false, "N", "N", "", "residual of the stress balance, y component, a force on the cell"},
      {"uvel", true, false, "m s-1", "m year-1", "land_ice_x_velocity", "horizontal velocity, x component"},
      {"vvel", true, false, "m s-1", "m year-1", "land_ice_y_velocity", "horizontal velocity, y component"},
      {"wvel", true, false, "m s-1", "m year-1", "", "vertical velocity relative to the bed"},
      // temperature and material
      {"temp", true, false, "K", "K", "land_ice_temperature", "ice temperature"},
      {"tauc", false, false, "Pa", "Pa", "", "yield stress of the till"},
      {"hardav", false, false, "", "", "", "vertically averaged ice hardness in Pa s^(1/3)"},
      // climate and bed
      {"climatic_mass_balance", false, false, "kg m-2 s-1", "kg m-2 s-1", "land_ice_surface_specific_mass_balance_flux",
       "surface mass balance"},
      {"ice_surface_temp", false, false, "K", "K", "", "ice temperature at the surface"},
      {"bheatflx", false, false, "W m-2", "W m-2", "upward_geothermal_heat_flux_at_ground_level_in_land_ice",
       "upward geothermal heat flux"},
      // ocean
      {"basins", false, true, "", "", "", "drainage basins of PICO; 0 is none"},
      {"theta_ocean", false, false, "K", "K", "sea_water_potential_temperature", "ocean potential temperature given to PICO"},
      {"salinity_ocean", false, false, "g kg-1", "g kg-1", "sea_water_absolute_salinity", "ocean salinity given to PICO"},
      {"pico_shelf_mask", false, true, "", "", "", "number of the ice shelf; 0 is none"},
      {"pico_box_mask", false, true, "", "", "", "ocean box, 1 at the grounding line; 0 is none"},
      {"pico_distance_gl", false, true, "", "", "", "distance to the grounding line in cells; 0: not reached, -1: not ice shelf"},
      {"pico_distance_cf", false, true, "", "", "", "distance to the calving front in cells; 0: not reached, -1: not ice shelf"},
      {"pico_ice_rise_mask",
       false,
       true,
       "",
       "",
       "",
       "grounded ice by kind",
       {0, 1, 2, 3},
       "ocean ice_rise continental_ice_sheet floating_ice"},
      {"pico_ocean_mask",
       false,
       true,
       "",
       "",
       "",
       "open ocean and holes in ice shelves",
       {0, 1, 2},
       "not_ice_free_ocean hole open_ocean"},
      {"pico_lake_mask", false, true, "", "", "", "subglacial lakes", {0, 1}, "not_a_lake lake"},
      {"pico_contshelf_mask", false, true, "", "", "", "continental shelf", {0, 1, 2}, "other shallow_ocean continental_shelf"},
      {"pico_temperature", false, false, "K", "K", "", "temperature of the ocean box"},
      {"pico_salinity", false, false, "g kg-1", "g kg-1", "", "salinity of the ocean box"},
      {"pico_temperature_box0", false, false, "K", "K", "", "temperature of the water that enters the cavity"},
      {"pico_salinity_box0", false, false, "g kg-1", "g kg-1", "", "salinity of the water that enters the cavity"},
      {"pico_overturning", false, false, "m3 s-1", "m3 s-1", "", "overturning of the cavity"},
      {"pico_basal_melt_rate", false, false, "m s-1", "m year-1", "", "melt below ice shelves, positive is mass loss"}};
  return variables;
}

} // namespace

const VariableInfo& variable_info(const std::string& name) {
  std::string known;
  for (const VariableInfo& v : table()) {
    if (name == v.name) return v;
    known += std::string(known.empty() ? "" : ", ") + v.name;
  }
  throw Error("unknown variable '" + name + "' (expected one of " + known + ")");
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (const VariableInfo& v : table()) names.emplace_back(v.name);
  return names;
}

} // namespace nunatak
