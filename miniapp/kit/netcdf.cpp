// netcdf.hpp in programs with NetCDF.
#include "miniapp/kit/netcdf.hpp"

#include "io/write/writer.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/kit/map_file.hpp"

#include <numeric>

namespace nunatak::kit {

void require_netcdf(const std::string&) {}

Mask mask_from_netcdf(const std::string& path, std::string variable) {
  MapFile maps(path, "mask");
  const bool flotation =
      variable.empty() && !maps.has("mask") && maps.has("thk") && maps.has("topg");
  if (variable.empty()) variable = "mask";
  maps.grid = maps.grid_of(flotation ? "thk" : variable);
  std::vector<int> values;
  if (flotation) {
    const GridValues H = maps.numbers("thk", "m"), b = maps.numbers("topg", "m");
    for (std::size_t n = 0; n < H.size(); ++n) values.push_back(cell_type(b[n], H[n]));
  } else {
    values = maps.ids(variable);
  }
  const auto coordinate = [&](const std::string& name, int length) {
    if (!maps.has(name) || !maps.file().text(name, "units")) return std::vector<double>();
    const auto axes = maps.file().dimensions(name);
    const bool fits = axes.size() == 1 && axes[0].length == static_cast<std::size_t>(length);
    return fits ? maps.coordinate(name) : std::vector<double>();
  };
  const int Mx = maps.grid.Mx, My = maps.grid.My;
  return {Mx,
          My,
          path + (flotation ? " thk, topg" : " " + variable),
          raster(Mx, std::move(values)),
          flotation || variable == "mask",
          coordinate("x", Mx),
          coordinate("y", My)};
}

void write_fields(const std::string& path, const MapGrid& grid,
                  const std::vector<Answer::Field>& fields, const Texts& attributes) {
  io::Schema schema;
  const auto My = static_cast<std::size_t>(grid.My), Mx = static_cast<std::size_t>(grid.Mx);
  schema.dimensions = {{"y", My}, {"x", Mx}};
  const auto coordinate = [&](const char* name, const char* number, const auto& values) {
    if (values.empty())
      schema.variables.push_back({name, io::Type::int32, {name}, {{"long_name", number}}});
    else
      schema.variables.push_back({name, io::Type::float64, {name}, {{"units", "m"}}});
  };
  coordinate("y", "row", grid.y);
  coordinate("x", "column", grid.x);
  for (const Answer::Field& field : fields) {
    schema.variables.push_back(
        {field.name, io::Type::int32, {"y", "x"}, {{"long_name", field.long_name}}});
  }
  for (const auto& [name, text] : attributes) schema.attributes.push_back({name, text});

  io::Options options;
  options.format = "serial";
  io::Writer writer(world_comm(), options);
  const auto file = writer.open(path, schema);
  const auto put = [&](const char* name, const std::vector<double>& values, int n) {
    if (!values.empty()) return file->put_all(name, values);
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    file->put_all(name, numbers);
  };
  put("y", grid.y, grid.My);
  put("x", grid.x, grid.Mx);
  const std::size_t mine = World().rank() == 0 ? 1 : 0; // rank 0 writes
  const io::Block block{{0, 0}, {mine * My, mine * Mx}, {}};
  for (const Answer::Field& field : fields) file->put(field.name, block, field.values.data());
  file->close();
}

GridValues read_field(const std::string& path, const std::string& variable, const MapGrid& grid) {
  MapFile maps(path, "file", io::Missing::none);
  maps.grid = grid;
  return maps.read(variable);
}

} // namespace nunatak::kit
