#include "miniapp/model/output_schema.hpp"

#include "kernels/grid/constants.hpp"
#include "miniapp/base/variables.hpp"

#include <algorithm>
#include <array>

namespace nunatak {

namespace {

using io::Attribute;
using io::Type;

std::vector<Attribute> global_attributes(const std::string& title, const std::string& history) {
  return {
      {"Conventions", "CF-1.8"},
      {"title", title},
      {"source", std::string("nunatak ") + NUNATAK_VERSION + ", a mini-app of an ice sheet model"},
      {"history", history},
      {"comment", "model output, not observations; a model year of 31556926 s is one year of the "
                  "365_day calendar"}};
}

io::Variable time_variable(bool bounds) {
  io::Variable v{"time", Type::float64, {"time"}, {}};
  v.attributes = {{"standard_name", "time"},
                  {"long_name", "time"},
                  {"axis", "T"},
                  {"units", time_units},
                  {"calendar", time_calendar}};
  if (bounds) v.attributes.emplace_back("bounds", "time_bnds");
  return v;
}

io::Variable coordinate(const char* name, const char* axis, const char* standard_name,
                        const char* long_name) {
  io::Variable v{name, Type::float64, {name}, {}};
  if (standard_name[0] != '\0') v.attributes.emplace_back("standard_name", standard_name);
  v.attributes.emplace_back("long_name", long_name);
  v.attributes.emplace_back("axis", axis);
  v.attributes.emplace_back("units", "m");
  return v;
}

void add_projection(io::Schema& schema, const PolarStereographic& p) {
  io::Variable mapping{"mapping", Type::int32, {}, {}};
  mapping.attributes = {
      {"grid_mapping_name", "polar_stereographic"},
      {"latitude_of_projection_origin", p.latitude_of_projection_origin},
      {"standard_parallel", p.standard_parallel},
      {"straight_vertical_longitude_from_pole", p.straight_vertical_longitude_from_pole},
      {"false_easting", p.false_easting},
      {"false_northing", p.false_northing},
      {"semi_major_axis", p.semi_major_axis},
      {"inverse_flattening", p.inverse_flattening},
      {"crs_wkt", p.wkt()}};
  schema.variables.push_back(mapping);
  for (const auto& [name, meaning, units] :
       {std::array{"lat", "latitude", "degrees_north"}, {"lon", "longitude", "degrees_east"}})
    schema.variables.push_back(
        {name,
         Type::float64,
         {"y", "x"},
         {{"standard_name", meaning}, {"long_name", meaning}, {"units", units}}});
  schema.variables.push_back({"cell_area",
                              Type::float64,
                              {"y", "x"},
                              {{"standard_name", "cell_area"},
                               {"long_name", "area of the cell on the ellipsoid"},
                               {"units", "m2"},
                               {"grid_mapping", "mapping"}}});
}

io::Variable map_variable(const VariableInfo& info, bool projected, bool levels_first) {
  io::Variable v{
      info.name, info.kind == Kind::integers ? Type::int32 : Type::float64, {"time", "y", "x"}, {}};
  if (info.kind == Kind::columns && levels_first) v.dimensions = {"time", "z", "y", "x"};
  if (info.kind == Kind::columns && !levels_first) v.dimensions = {"time", "y", "x", "z"};
  const auto text = [&](const char* name, const char* value) {
    if (value[0] != '\0') v.attributes.emplace_back(name, value);
  };
  text("standard_name", info.standard_name);
  text("long_name", info.long_name);
  text("units", info.units);
  if (!info.flags.values.empty()) v.attributes.emplace_back("flag_values", info.flags.values);
  text("flag_meanings", info.flags.meanings);
  if (info.kind == Kind::ice_map) v.attributes.emplace_back("_FillValue", fill_value);
  if (projected) {
    v.attributes.emplace_back("grid_mapping", "mapping");
    v.attributes.emplace_back("coordinates", "lat lon");
    v.attributes.emplace_back("cell_measures", "area: cell_area");
  }
  return v;
}

} // namespace

io::Schema map_schema(const Grid& grid, const std::vector<std::string>& variables,
                      const std::string& title, const std::string& history, bool levels_first) {
  io::Schema schema;
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const bool columns = std::any_of(variables.begin(), variables.end(), [](const auto& name) {
    return variable_info(name).kind == Kind::columns;
  });
  schema.dimensions = {
      {"time", io::unlimited}, {"y", size(grid.My()), true}, {"x", size(grid.Mx()), true}};
  if (columns) schema.dimensions.push_back({"z", size(grid.Mz())});
  schema.attributes = global_attributes(title, history);
  schema.variables = {
      time_variable(false),
      coordinate("y", "Y", "projection_y_coordinate", "y coordinate of the projection"),
      coordinate("x", "X", "projection_x_coordinate", "x coordinate of the projection")};
  if (columns) {
    io::Variable z = coordinate("z", "Z", "", "height above the base of the ice");
    z.attributes.emplace_back("positive", "up");
    schema.variables.push_back(z);
  }
  if (grid.projection) add_projection(schema, *grid.projection);
  for (const std::string& name : variables)
    schema.variables.push_back(
        map_variable(variable_info(name), grid.projection.has_value(), levels_first));
  return schema;
}

io::Schema series_schema(const std::vector<Scalar>& scalars, const std::string& title,
                         const std::string& history) {
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"bnds", 2}};
  schema.attributes = global_attributes(title, history);
  schema.variables = {time_variable(true), {"time_bnds", Type::float64, {"time", "bnds"}, {}}};
  for (const Scalar& s : scalars) {
    io::Variable v{
        s.name, Type::float64, {"time"}, {{"long_name", s.long_name}, {"units", s.units}}};
    schema.variables.push_back(v);
  }
  return schema;
}

} // namespace nunatak
