#include "miniapp/base/variables.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "kernels/pico/last_input.hpp"

namespace nunatak {

namespace {

constexpr Kind map = Kind::map, ice_map = Kind::ice_map, integers = Kind::integers,
               columns = Kind::columns;
constexpr Role state = Role::state, forcing = Role::forcing, of_ocean = Role::ocean,
               diagnostic = Role::diagnostic;

constexpr std::nullopt_t not_read = std::nullopt;
Range between(double min, double max, std::optional<double> constant = {}) {
  return {min, max, constant};
}

const Flags cell_types{{0, 2, 3, 4}, "ice_free_bedrock grounded_ice floating_ice ice_free_ocean"};
const Flags ice_rises{{0, 1, 2, 3}, "ocean ice_rise continental_ice_sheet floating_ice"};
const Flags oceans{{0, 1, 2}, "not_ice_free_ocean hole open_ocean"};
const Flags lakes{{0, 1}, "not_a_lake lake"};
const Flags shelves{{0, 1, 2}, "other shallow_ocean continental_shelf"};

} // namespace

const std::vector<VariableInfo>& variables() {
  static const std::vector<VariableInfo> table = {
      // geometry
      {"thk", map, state, "m", "m", "land_ice_thickness", "land ice thickness", between(0.0, 1e4)},
      {"topg", map, state, "m", "m", "bedrock_altitude", "bedrock surface elevation",
       between(-12e3, 9e3)},
      {"usurf", map, state, "m", "m", "surface_altitude", "ice upper surface elevation"},
      {"mask", integers, state, "", "", "", "cell type: ice-free or icy, on land or afloat",
       not_read, cell_types},
      // velocity
      {"ubar", map, diagnostic, "m s-1", "m year-1", "land_ice_vertical_mean_x_velocity",
       "vertical mean of the horizontal velocity, x component"},
      {"vbar", map, diagnostic, "m s-1", "m year-1", "land_ice_vertical_mean_y_velocity",
       "vertical mean of the horizontal velocity, y component"},
      {"velsurf_mag", ice_map, diagnostic, "m s-1", "m year-1", "",
       "magnitude of the horizontal velocity at the ice surface"},
      {"velbase_mag", ice_map, diagnostic, "m s-1", "m year-1", "",
       "magnitude of the sliding velocity"},
      {"u_ssa", map, state, "m s-1", "m s-1", "", "sliding (SSA) velocity, x component",
       between(-1.0, 1.0)},
      {"v_ssa", map, state, "m s-1", "m s-1", "", "sliding (SSA) velocity, y component",
       between(-1.0, 1.0)},
      {"ssa_residual_x", map, diagnostic, "N", "N", "",
       "residual of the stress balance, x component, a force on the cell"},
      {"ssa_residual_y", map, diagnostic, "N", "N", "",
       "residual of the stress balance, y component, a force on the cell"},
      {"uvel", columns, diagnostic, "m s-1", "m year-1", "land_ice_x_velocity",
       "horizontal velocity, x component"},
      {"vvel", columns, diagnostic, "m s-1", "m year-1", "land_ice_y_velocity",
       "horizontal velocity, y component"},
      {"wvel", columns, diagnostic, "m s-1", "m year-1", "",
       "vertical velocity relative to the bed"},
      // temperature and material
      {"temp", columns, state, "K", "K", "land_ice_temperature", "ice temperature",
       between(150.0, 330.0)},
      {"tauc", map, diagnostic, "Pa", "Pa", "", "yield stress of the till", between(0.0, 1e9)},
      {"hardav", map, diagnostic, "", "", "", "vertically averaged ice hardness in Pa s^(1/3)",
       between(1e6, 1e10)},
      // climate and bed; 1e-2 kg m-2 s-1 are 300 m of water a year
      {"climatic_mass_balance", map, forcing, "kg m-2 s-1", "kg m-2 s-1",
       "land_ice_surface_specific_mass_balance_flux", "surface mass balance", between(-1e-2, 1e-2)},
      {"ice_surface_temp", map, forcing, "K", "K", "", "ice temperature at the surface",
       between(150.0, 330.0)},
      {"bheatflx", map, forcing, "W m-2", "W m-2",
       "upward_geothermal_heat_flux_at_ground_level_in_land_ice", "upward geothermal heat flux",
       between(-1.0, 100.0, 0.05)},
      // ocean
      {"basins", integers, of_ocean, "", "", "", "drainage basins of PICO; 0 is none",
       between(0.0, double{pico::largest_basin})},
      {"theta_ocean", map, of_ocean, "K", "K", "sea_water_potential_temperature",
       "ocean potential temperature given to PICO", between(260.0, 320.0, 271.65)},
      {"salinity_ocean", map, of_ocean, "g kg-1", "g kg-1", "sea_water_absolute_salinity",
       "ocean salinity given to PICO", between(0.0, 50.0, 34.7)},
      {"pico_shelf_mask", integers, diagnostic, "", "", "", "number of the ice shelf; 0 is none"},
      {"pico_box_mask", integers, diagnostic, "", "", "",
       "ocean box, 1 at the grounding line; 0 is none"},
      {"pico_distance_gl", integers, diagnostic, "", "", "",
       "distance to the grounding line in cells; 0: not reached, -1: not ice shelf"},
      {"pico_distance_cf", integers, diagnostic, "", "", "",
       "distance to the calving front in cells; 0: not reached, -1: not ice shelf"},
      {"pico_ice_rise_mask", integers, diagnostic, "", "", "", "grounded ice by kind", not_read,
       ice_rises},
      {"pico_ocean_mask", integers, diagnostic, "", "", "", "open ocean and holes in ice shelves",
       not_read, oceans},
      {"pico_lake_mask", integers, diagnostic, "", "", "", "subglacial lakes", not_read, lakes},
      {"pico_contshelf_mask", integers, diagnostic, "", "", "", "continental shelf", not_read,
       shelves},
      {"pico_temperature", map, diagnostic, "K", "K", "", "temperature of the ocean box"},
      {"pico_salinity", map, diagnostic, "g kg-1", "g kg-1", "", "salinity of the ocean box"},
      {"pico_temperature_box0", map, diagnostic, "K", "K", "",
       "temperature of the water that enters the cavity"},
      {"pico_salinity_box0", map, diagnostic, "g kg-1", "g kg-1", "",
       "salinity of the water that enters the cavity"},
      {"pico_overturning", map, diagnostic, "m3 s-1", "m3 s-1", "", "overturning of the cavity"},
      {"pico_basal_melt_rate", map, diagnostic, "m s-1", "m year-1", "",
       "melt below ice shelves, positive is mass loss"}};
  return table;
}

const VariableInfo& variable_info(const std::string& name) {
  std::vector<std::string> known;
  for (const VariableInfo& v : variables()) {
    if (name == v.name) return v;
    known.emplace_back(v.name);
  }
  throw Error("unknown variable '" + name + "' (expected one of " + joined(known) + ")");
}

std::vector<VariableInfo> constant_forcing() {
  std::vector<VariableInfo> found;
  for (const VariableInfo& v : variables()) {
    if (v.input && v.input->constant) found.push_back(v);
  }
  return found;
}

} // namespace nunatak
