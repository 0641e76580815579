// netcdf.hpp in programs with NetCDF.
#include "miniapp/tools/netcdf.hpp"

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world_comm.hpp"

#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>

namespace nunatak::tools {

namespace {

/// The variables of a NetCDF file on one grid, that of the first one: the last two dimensions are y
/// and x. Missing values are NaN.
class Variables {
public:
  Variables(const io::Reader& file, std::string kind) : m_file(file), m_kind(std::move(kind)) {}
  Grid grid;

  /// The last record.
  GridValues read(const std::string& variable) {
    if (!m_file.has(variable)) fail(variable, "expected such a variable, found " + list());
    const auto axes = m_file.dimensions(variable);
    if (axes.size() < 2 || axes.size() > 3 ||
        (axes.size() == 3 && axes[0].name != "time" && !axes[0].unlimited)) {
      std::string found;
      for (const auto& axis : axes) found += (found.empty() ? "" : ", ") + axis.name;
      fail(variable, "expected the dimensions (y, x) or (time, y, x), found (" + found + ")");
    }
    const std::size_t rows = axes[axes.size() - 2].length, columns = axes.back().length;
    if (rows < 1 || columns < 1 || rows > largest_int || columns > largest_int ||
        (axes.size() == 3 && axes[0].length == 0)) {
      fail(variable, "expected at least one cell, found (" + m_file.shape(variable) + ")");
    }
    const Grid own{static_cast<int>(columns), static_cast<int>(rows), {}, {}};
    if (grid.Mx == 0) grid = own;
    if (grid.Mx != own.Mx || grid.My != own.My) {
      fail(variable, "expected " + std::to_string(grid.Mx) + " x " + std::to_string(grid.My) +
                         " cells, found " + std::to_string(columns) + " x " + std::to_string(rows));
    }
    return m_file.read_record(variable, {0, 0}, {rows, columns});
  }

  /// m; also of a coordinate
  GridValues metres(const std::string& variable, GridValues values) const {
    const std::string what = m_kind + " '" + m_file.path() + "', variable '" + variable + "'";
    const UnitConversion convert =
        unit_conversion(m_file.text(variable, "units").value_or("m"), "m", what);
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (!std::isfinite(values[n]))
        fail(variable, "expected a number in cell " + std::to_string(n) + ", found none");
      values[n] = convert(values[n]);
    }
    return values;
  }

  /// m; empty if the file does not have them with a unit.
  std::vector<double> coordinate(const std::string& name, int length) const {
    if (!m_file.has(name) || !m_file.text(name, "units")) return {};
    const std::vector<double> values = m_file.read_all(name);
    return values.size() == static_cast<std::size_t>(length) ? metres(name, values) : GridValues();
  }

  std::vector<int> ids(const std::string& variable) {
    std::vector<int> ids;
    const GridValues values = read(variable);
    const io::Packing packing = m_file.packing(variable);
    for (const double v : values) {
      const double id = packing.id(v);
      if (!(std::fabs(id) <= largest_int && id == std::trunc(id))) {
        std::ostringstream found;
        found.precision(16);
        found << v;
        fail(variable, "expected whole numbers of 32 bits, found " + found.str() + " in cell " +
                           std::to_string(ids.size()));
      }
      ids.push_back(static_cast<int>(id));
    }
    return ids;
  }

private:
  [[noreturn]] void fail(const std::string& variable, const std::string& what) const {
    throw Error(m_kind + " '" + m_file.path() + "', variable '" + variable + "': " + what);
  }
  std::string list() const {
    const std::string found = io::joined(m_file.variables());
    return found.empty() ? "none" : found;
  }
  const io::Reader& m_file;
  std::string m_kind;
};

std::vector<int> count_from_zero(int n) {
  std::vector<int> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

} // namespace

void require_netcdf(const std::string&) {}

Mask mask_from_netcdf(const std::string& path, std::string variable) {
  const io::Reader file(path, world_comm());
  Variables variables(file, "mask");
  const bool flotation =
      variable.empty() && !file.has("mask") && file.has("thk") && file.has("topg");
  if (variable.empty()) variable = "mask";
  const auto values = std::make_shared<std::vector<int>>();
  if (flotation) {
    const GridValues H = variables.metres("thk", variables.read("thk")),
                     b = variables.metres("topg", variables.read("topg"));
    for (std::size_t n = 0; n < H.size(); ++n) values->push_back(cell_type(b[n], H[n]));
  } else {
    *values = variables.ids(variable);
  }
  const int Mx = variables.grid.Mx, My = variables.grid.My;
  return {Mx,
          My,
          path + (flotation ? " thk, topg" : " " + variable),
          [values, Mx](int j, int i) {
            return (*values)[static_cast<std::size_t>(j) * static_cast<std::size_t>(Mx) +
                             static_cast<std::size_t>(i)];
          },
          flotation || variable == "mask",
          variables.coordinate("x", Mx),
          variables.coordinate("y", My)};
}

void write_fields(const std::string& path, const Grid& grid,
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
  const auto writer = io::make_writer(world_comm(), options);
  const auto file = writer->open(path, schema);
  const auto put = [&](const char* name, const std::vector<double>& values, int n) {
    if (values.empty())
      file->put_all(name, count_from_zero(n));
    else
      file->put_all(name, values);
  };
  put("y", grid.y, grid.My);
  put("x", grid.x, grid.Mx);
  const std::size_t mine = World().rank() == 0 ? 1 : 0; // rank 0 writes
  const io::Block block{{0, 0}, {mine * My, mine * Mx}, {}};
  for (const Answer::Field& field : fields) file->put(field.name, block, field.values.data());
  file->close();
}

GridValues read_field(const std::string& path, const std::string& variable, const Grid& grid) {
  io::ReadOptions options;
  options.missing = io::Missing::none;
  const io::Reader file(path, world_comm(), options);
  Variables variables(file, "file");
  variables.grid = grid;
  return variables.read(variable);
}

} // namespace nunatak::tools
