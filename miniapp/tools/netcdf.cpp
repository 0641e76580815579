// netcdf.hpp in programs with NetCDF.
#include "miniapp/tools/netcdf.hpp"

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world_comm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>

namespace nunatak::tools {

namespace {

/// The variables of a NetCDF file from which masks are made: the last two dimensions are y and x.
class Variables {
public:
  explicit Variables(const io::Reader& file, std::string kind = "mask")
      : m_file(file), m_kind(std::move(kind)) {}
  int Mx = 0, My = 0;

  /// Requires the same number of rows and columns as previous variables.
  void require(const std::string& variable) {
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
    if (Mx != 0 && (Mx != static_cast<int>(columns) || My != static_cast<int>(rows))) {
      fail(variable, "expected " + std::to_string(Mx) + " x " + std::to_string(My) +
                         " cells, found " + std::to_string(columns) + " x " + std::to_string(rows));
    }
    Mx = static_cast<int>(columns);
    My = static_cast<int>(rows);
  }

  /// f(cell, number) for the last record, in slabs of rows to limit memory.
  template <class F> void for_each_cell(const std::string& variable, const F& f) const {
    const int step = std::max(1, (1 << 20) / Mx);
    std::size_t cell = 0;
    for (int j = 0; j < My; j += step) {
      const auto rows = static_cast<std::size_t>(std::min(step, My - j));
      const auto columns = static_cast<std::size_t>(Mx);
      for (const double v :
           m_file.read_record(variable, {static_cast<std::size_t>(j), 0}, {rows, columns})) {
        f(cell, v);
        cell += 1;
      }
    }
  }

  /// f(cell, value in m)
  template <class F> void for_each_metre(const std::string& variable, const F& f) const {
    const std::string what = "mask '" + m_file.path() + "', variable '" + variable + "'";
    const UnitConversion metres =
        unit_conversion(m_file.text(variable, "units").value_or("m"), "m", what);
    for_each_cell(variable, [&](std::size_t n, double v) {
      if (!std::isfinite(v))
        fail(variable, "expected a number in cell " + std::to_string(n) + ", found none");
      f(n, metres(v));
    });
  }

  /// m; empty if the file does not have them.
  std::vector<double> coordinate(const std::string& name, int length) const {
    if (!m_file.has(name) || !m_file.text(name, "units")) return {};
    std::vector<double> values = m_file.read_all(name);
    if (values.size() != static_cast<std::size_t>(length)) return {};
    const UnitConversion metres = unit_conversion(*m_file.text(name, "units"), "m", name);
    for (double& v : values) v = metres(v);
    return values;
  }

  /// f(cell, id)
  template <class F> void for_each_id(const std::string& variable, const F& f) const {
    const io::Packing packing = m_file.packing(variable);
    for_each_cell(variable, [&](std::size_t n, double v) {
      const double id = packing.id(v);
      if (!(std::fabs(id) <= largest_int && id == std::trunc(id))) {
        std::ostringstream found;
        found.precision(16);
        found << v;
        fail(variable, "expected whole numbers of 32 bits, found " + found.str() + " in cell " +
                           std::to_string(n));
      }
      f(n, static_cast<int>(id));
    });
  }

  [[noreturn]] void fail(const std::string& variable, const std::string& what) const {
    throw Error(m_kind + " '" + m_file.path() + "', variable '" + variable + "': " + what);
  }

private:
  std::string list() const {
    std::string found;
    for (const auto& name : m_file.variables()) found += (found.empty() ? "" : ", ") + name;
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

std::vector<std::size_t> start_of(const Patch& p) {
  return {static_cast<std::size_t>(p.ys), static_cast<std::size_t>(p.xs)};
}
std::vector<std::size_t> count_of(const Patch& p) {
  return {static_cast<std::size_t>(p.ym), static_cast<std::size_t>(p.xm)};
}

} // namespace

void require_netcdf(const std::string&) {}

Mask mask_from_netcdf(const std::string& path, std::string variable) {
  const io::Reader file(path, world_comm());
  Variables variables(file);
  const bool flotation =
      variable.empty() && !file.has("mask") && file.has("thk") && file.has("topg");
  if (variable.empty()) variable = "mask";
  if (flotation) {
    variables.require("thk");
    variables.require("topg");
  } else {
    variables.require(variable);
  }
  const std::size_t Mx = static_cast<std::size_t>(variables.Mx),
                    cells = Mx * static_cast<std::size_t>(variables.My);
  const auto values = std::make_shared<std::vector<int>>(cells);
  if (flotation) {
    std::vector<double> H(cells); // m
    variables.for_each_metre("thk", [&](std::size_t n, double thickness) { H[n] = thickness; });
    variables.for_each_metre("topg",
                             [&](std::size_t n, double b) { (*values)[n] = cell_type(b, H[n]); });
  } else {
    variables.for_each_id(variable, [&](std::size_t n, int id) { (*values)[n] = id; });
  }
  const std::string name = path + (flotation ? " thk, topg" : " " + variable);
  return {variables.Mx,
          variables.My,
          name,
          [values, Mx](int j, int i) {
            return (*values)[static_cast<std::size_t>(j) * Mx + static_cast<std::size_t>(i)];
          },
          flotation || variable == "mask",
          variables.coordinate("x", variables.Mx),
          variables.coordinate("y", variables.My)};
}

void write_fields(const std::string& path, const Grid& grid, const Patch& p,
                  const std::vector<Answer::Field>& fields, const Texts& attributes) {
  io::Schema schema;
  schema.dimensions = {{"y", static_cast<std::size_t>(p.My)},
                       {"x", static_cast<std::size_t>(p.Mx)}};
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
  put("y", grid.y, p.My);
  put("x", grid.x, p.Mx);
  const io::Block block{start_of(p), count_of(p), {}};
  for (const Answer::Field& field : fields) file->put(field.name, block, field.values.data());
  file->close();
}

GridValues read_field(const std::string& path, const std::string& variable, const Patch& p) {
  const io::Reader file(path, world_comm());
  Variables variables(file, "file");
  variables.require(variable);
  if (variables.Mx != p.Mx || variables.My != p.My) {
    variables.fail(variable, "expected (y = " + std::to_string(p.My) + ", x = " +
                                 std::to_string(p.Mx) + "), found (" + file.shape(variable) + ")");
  }
  GridValues values = file.read_record(variable, start_of(p), count_of(p));
  for (const char* name : {"_FillValue", "missing_value"}) {
    if (!file.attribute_type(variable, name)) continue;
    const double fill = file.number(variable, name).value();
    std::replace_if(
        values.begin(), values.end(), [](double v) { return std::isnan(v); }, fill);
    break;
  }
  return values;
}

} // namespace nunatak::tools
