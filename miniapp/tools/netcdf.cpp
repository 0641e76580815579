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
  explicit Variables(const io::Reader& file) : m_file(file) {}
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
    throw Error("mask '" + m_file.path() + "', variable '" + variable + "': " + what);
  }

private:
  std::string list() const {
    std::string found;
    for (const auto& name : m_file.variables()) found += (found.empty() ? "" : ", ") + name;
    return found.empty() ? "none" : found;
  }
  const io::Reader& m_file;
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
  return {variables.Mx, variables.My, name,
          [values, Mx](int j, int i) {
            return (*values)[static_cast<std::size_t>(j) * Mx + static_cast<std::size_t>(i)];
          },
          flotation || variable == "mask"};
}

void write_answer(const std::string& path, const Mask& mask, const Answer& answer) {
  if (path.empty()) return;
  const Patch& p = answer.rectangle;
  const std::string name = mask.cell_types ? "mask" : "values";
  io::Schema schema;
  schema.dimensions = {{"y", static_cast<std::size_t>(p.My)},
                       {"x", static_cast<std::size_t>(p.Mx)}};
  schema.variables = {{"y", io::Type::int32, {"y"}, {{"long_name", "row"}}},
                      {"x", io::Type::int32, {"x"}, {{"long_name", "column"}}},
                      {name, io::Type::int32, {"y", "x"}, {{"long_name", mask.name}}}};
  for (const Answer::Field& field : answer.fields) {
    schema.variables.push_back(
        {field.name, io::Type::int32, {"y", "x"}, {{"long_name", field.long_name}}});
  }
  schema.attributes = {{"Conventions", "CF-1.8"}, {"title", mask.name}, {"source", answer.who}};

  io::Options options;
  options.format = "serial";
  const auto writer = io::make_writer(world_comm(), options);
  const auto file = writer->open(path, schema);
  file->put_all("y", count_from_zero(p.My));
  file->put_all("x", count_from_zero(p.Mx));
  const io::Block block{start_of(p), count_of(p), {}};
  std::vector<int> values;
  for (int j = 0; j < p.ym; ++j) {
    for (int i = 0; i < p.xm; ++i) values.push_back(mask.value(p.ys + j, p.xs + i));
  }
  file->put(name, block, values.data());
  for (const Answer::Field& field : answer.fields)
    file->put(field.name, block, field.values.data());
  file->close();
}

Answer read_answer(const std::string& path, const Answer& like) {
  const io::Reader file(path, world_comm());
  const Patch& p = like.rectangle;
  Answer answer;
  answer.who = "the file '" + path + "'";
  answer.rectangle = p;
  for (const Answer::Field& field : like.fields) {
    if (!file.has(field.name))
      throw Error("file '" + path + "': expected a variable '" + field.name + "', found none");
    const auto axes = file.dimensions(field.name);
    if (axes.size() != 2 || axes[0].length != static_cast<std::size_t>(p.My) ||
        axes[1].length != static_cast<std::size_t>(p.Mx)) {
      throw Error("file '" + path + "', variable '" + field.name +
                  "': expected (y = " + std::to_string(p.My) + ", x = " + std::to_string(p.Mx) +
                  "), found (" + file.shape(field.name) + ")");
    }
    const std::vector<std::int64_t> values =
        file.read_block_int(field.name, start_of(p), count_of(p));
    answer.fields.push_back({field.name, field.long_name, {}});
    for (const std::int64_t v : values) { // beyond 32 bits: a value that never compares equal
      const bool fits = v > std::numeric_limits<int>::min() && v <= std::numeric_limits<int>::max();
      answer.fields.back().values.push_back(fits ? static_cast<int>(v)
                                                 : std::numeric_limits<int>::min());
    }
  }
  return answer;
}

} // namespace nunatak::tools
