// Maps of a NetCDF file on one grid: variables (y, x) or (time, y, x), of which the last record is
// read, by every rank. Neighbours: netcdf.cpp (masks and answers), check_pico.hpp.
#pragma once

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/read/reader.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/kit/compare.hpp"
#include "miniapp/kit/mask_source.hpp"

#include <cmath>
#include <sstream>

namespace nunatak::kit {

class MapFile {
public:
  /// `kind` begins errors: "mask 'a.nc', variable 'thk': ...". Collective, as all functions that
  /// read.
  MapFile(const std::string& path, std::string kind, io::Missing missing = io::Missing::fills)
      : m_file(path, world_comm(), options(missing)), m_kind(std::move(kind)) {}

  MapGrid grid; ///< that of all maps, once it is set

  const io::Reader& file() const { return m_file; }
  const std::string& path() const { return m_file.path(); }
  bool has(const std::string& name) const { return m_file.has(name); }

  [[noreturn]] void fail(const std::string& variable, const std::string& what) const {
    throw Error(m_kind + " '" + path() + "', variable '" + variable + "': " + what);
  }

  /// The grid of a variable, without coordinates.
  MapGrid grid_of(const std::string& variable) const {
    if (!has(variable)) fail(variable, "expected such a variable, found " + list());
    const auto axes = m_file.dimensions(variable);
    if (axes.size() < 2 || axes.size() > 3 ||
        (axes.size() == 3 && axes[0].name != "time" && !axes[0].unlimited)) {
      fail(variable, "expected the dimensions (y, x) or (time, y, x), found (" +
                         joined(io::names_of(axes)) + ")");
    }
    const std::size_t rows = axes[axes.size() - 2].length, columns = axes.back().length;
    if (rows < 1 || columns < 1 || rows > largest_int || columns > largest_int ||
        (axes.size() == 3 && axes[0].length == 0))
      fail(variable, "expected at least one cell, found (" + m_file.shape(variable) + ")");
    return {static_cast<int>(columns), static_cast<int>(rows), {}, {}};
  }

  /// In `unit`, which is also that of a variable without one ("": not converted); NaN where
  /// missing.
  GridValues read(const std::string& variable, const std::string& unit = "") const {
    const MapGrid own = grid_of(variable);
    if (grid.Mx != 0 && (grid.Mx != own.Mx || grid.My != own.My)) {
      fail(variable, "expected " + std::to_string(grid.Mx) + " x " + std::to_string(grid.My) +
                         " cells, found " + std::to_string(own.Mx) + " x " +
                         std::to_string(own.My));
    }
    return converted(
        variable, unit,
        m_file.read_record(variable, {0, 0},
                           {static_cast<std::size_t>(own.My), static_cast<std::size_t>(own.Mx)}));
  }

  /// The same, with a number in every cell.
  GridValues numbers(const std::string& variable, const std::string& unit) const {
    const GridValues values = read(variable, unit);
    require(variable, values, "a number", [](double v) { return std::isfinite(v); });
    return values;
  }

  /// Whole numbers in every cell.
  std::vector<int> ids(const std::string& variable) const {
    GridValues values = read(variable);
    const io::Packing packing = m_file.packing(variable);
    for (double& v : values) v = packing.id(v);
    require(variable, values, "a whole number of 32 bits",
            [](double v) { return std::fabs(v) <= largest_int && v == std::trunc(v); });
    return {values.begin(), values.end()};
  }

  /// Error naming the first cell whose value is not right.
  template <class IsRight>
  void require(const std::string& variable, const GridValues& values, const std::string& what,
               const IsRight& is_right) const {
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (is_right(values[n])) continue;
      std::ostringstream found;
      found.precision(16);
      found << values[n];
      fail(variable,
           "expected " + what + " in cell " + std::to_string(n) + ", found " + found.str());
    }
  }

  /// m; empty if there is none.
  std::vector<double> coordinate(const std::string& name) const {
    if (!has(name)) return {};
    const GridValues values = converted(name, "m", m_file.read_all(name));
    require(name, values, "a number", [](double v) { return std::isfinite(v); });
    return values;
  }

private:
  static io::ReadOptions options(io::Missing missing) {
    io::ReadOptions options;
    options.missing = missing;
    return options;
  }

  GridValues converted(const std::string& variable, const std::string& unit,
                       GridValues values) const {
    if (unit.empty()) return values;
    const UnitConversion convert =
        unit_conversion(m_file.text(variable, "units").value_or(unit), unit,
                        m_kind + " '" + path() + "', variable '" + variable + "'");
    for (double& v : values) v = convert(v);
    return values;
  }

  std::string list() const {
    const std::string found = joined(m_file.variables());
    return found.empty() ? "none" : found;
  }

  io::Reader m_file;
  std::string m_kind;
};

} // namespace nunatak::kit
