// The file of a series (maps or scalars along time) that a restarted run continues.
//
//   OldSeries old("maps.nc", schema, grid, start, longest_gap, comm, {});
//   auto file = writer.open("maps.nc", schema, {io::FileKind::append, 10, old.records()});
//   old.copy(*file, patch);
//   ... // then the records of the run
//
// The records up to the start of the run begin a new file, in any format and on any number of
// ranks. The old file stays unchanged until one rename replaces it.
#pragma once

#include "io/agree.hpp"
#include "io/reader.hpp"
#include "io/watchdog.hpp"
#include "io/writer.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/grid.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace nunatak {

class OldSeries {
public:
  /// True if the file exists, complete or as subfiles. Throws Error if only path.tmp exists: a run
  /// was killed before it committed. Collective.
  static bool exists(const std::string& path, MPI_Comm comm) {
    int found = 0;
    const io::Watchdog::Scope scope(path, "look");
    io::on_rank_0(comm, [&] {
      found = std::filesystem::exists(path) || std::filesystem::exists(path + ".0000") ? 1 : 0;
      if (found == 0 && std::filesystem::exists(path + ".tmp"))
        throw Error("expected its records before the start, found only '" + path +
                    ".tmp': the run that wrote them was killed before they were committed");
    });
    MPI_Bcast(&found, 1, MPI_INT, 0, comm);
    return found != 0;
  }

  /// `start`: start of the run; `longest_gap`: between records of one series; in days. Collective.
  /// Throws Error if the file cannot be read, differs from `schema` and `grid` in variables,
  /// dimensions, units or coordinates, begins after the start, or ends too early before it.
  OldSeries(const std::string& path, const io::Schema& schema, const Grid& grid, double start,
            double longest_gap, MPI_Comm comm, io::ReadOptions read_options)
      : m_reader(path, comm, std::move(read_options)) {
    check_variables(schema);
    check_coordinates(grid);
    check_times(start, longest_gap);
  }

  std::size_t records() const { return m_kept; } ///< kept: up to the start
  /// Records after the start, which the run computes again.
  std::size_t later() const { return m_times.size() - m_kept; }
  /// Time of the last kept record, days.
  double last() const { return m_kept == 0 ? -HUGE_VAL : m_times[m_kept - 1]; }
  std::string title() const { return m_reader.text("", "title").value_or(""); }
  std::string history() const { ///< without the blanks at its end
    const std::string lines = m_reader.text("", "history").value_or("");
    return lines.substr(0, lines.find_last_not_of(' ') + 1);
  }

  /// Copies all variables, with the first records() records, to a file of this schema. Collective.
  void copy(io::File& file, const Patch& patch) const {
    for (const io::Variable& v : file.schema().variables) {
      if (!file.schema().has_records(v)) copy(file, v, patch, io::no_record);
    }
    for (std::size_t record = 0; record < m_kept; ++record) {
      for (const io::Variable& v : file.schema().variables) {
        if (file.schema().has_records(v)) copy(file, v, patch, record);
      }
      file.end_record();
    }
  }

private:
  static bool has(const io::Variable& variable, const std::string& dimension) {
    const auto& names = variable.dimensions;
    return std::find(names.begin(), names.end(), dimension) != names.end();
  }

  static std::string units_of(const io::Variable& variable) {
    for (const io::Attribute& attribute : variable.attributes) {
      if (attribute.name == "units") return std::get<std::string>(attribute.value);
    }
    return "";
  }

  static std::string in_years(double days) { return printed("year %.10g", days / 365.0); }

  void check_variables(const io::Schema& schema) const {
    const auto describe = [](const std::string& type, const std::vector<std::string>& axes,
                             const std::string& units) {
      return type + " (" + io::joined(axes) + ")" + (units.empty() ? "" : " in " + units);
    };
    for (const io::Variable& v : schema.variables) {
      if (!m_reader.has(v.name)) throw Error("it has no variable '" + v.name + "'");
      std::vector<std::string> wanted, axes;
      const io::Indices shape = schema.shape(v);
      for (std::size_t d = 0; d < shape.size(); ++d)
        wanted.push_back(v.dimensions[d] +
                         (shape[d] == io::unlimited ? "" : " = " + std::to_string(shape[d])));
      for (const io::Reader::Axis& axis : m_reader.dimensions(v.name))
        axes.push_back(axis.name + (axis.unlimited ? "" : " = " + std::to_string(axis.length)));
      const std::string expected =
          describe(v.type == io::Type::int32 ? "int" : "double", wanted, units_of(v));
      const std::string found =
          describe(m_reader.type(v.name), axes, m_reader.text(v.name, "units").value_or(""));
      if (found != expected)
        throw Error("variable '" + v.name + "': expected " + expected + ", found " + found);
    }
    for (const std::string& name : m_reader.variables()) {
      const auto same = [&](const io::Variable& v) { return v.name == name; };
      if (std::none_of(schema.variables.begin(), schema.variables.end(), same))
        throw Error("it has a variable '" + name + "', which this run does not write");
    }
  }

  void check_coordinates(const Grid& grid) const {
    std::vector<double> x, y;
    for (int i = 0; i < grid.Mx(); ++i) x.push_back(grid.x(i));
    for (int j = 0; j < grid.My(); ++j) y.push_back(grid.y(j));
    for (const auto& [name, values] :
         {std::pair<const char*, const std::vector<double>&>{"x", x}, {"y", y}, {"z", grid.z}}) {
      if (!m_reader.has(name)) continue;
      const std::vector<double> found = m_reader.read_all(name); // same length: see check_variables
      const double rounding = 1e-9 * (values.back() - values.front());
      for (std::size_t n = 0; n < values.size(); ++n) {
        if (!(std::fabs(found[n] - values[n]) <= rounding)) {
          throw Error(std::string("coordinate '") + name + "': expected " +
                      std::to_string(values[n]) + " m at index " + std::to_string(n) + ", found " +
                      std::to_string(found[n]));
        }
      }
    }
  }

  void check_times(double start, double longest_gap) {
    m_times = m_reader.read_all("time");
    for (std::size_t n = 0; n < m_times.size(); ++n) {
      if (!(n == 0 ? std::isfinite(m_times[0]) : m_times[n] > m_times[n - 1]))
        throw Error("its times do not increase");
    }
    const auto after = std::upper_bound(m_times.begin(), m_times.end(), start + same_time);
    m_kept = static_cast<std::size_t>(after - m_times.begin());
    if (m_times.empty()) return;
    if (m_kept == 0)
      throw Error("it begins in " + in_years(m_times[0]) + ", after the start of this run in " +
                  in_years(start));
    if (last() < start - longest_gap - same_time)
      throw Error("it ends in " + in_years(last()) + ", and this run starts in " + in_years(start) +
                  ": records are missing");
  }

  void copy(io::File& file, const io::Variable& v, const Patch& patch, std::size_t record) const {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const bool records = file.schema().has_records(v), cut = has(v, "y") && has(v, "x");
    io::Block block;
    const io::Indices shape = file.schema().shape(v);
    for (std::size_t d = records ? 1 : 0; d < shape.size(); ++d) {
      const bool y = cut && v.dimensions[d] == "y", x = cut && v.dimensions[d] == "x";
      block.start.push_back(y ? size(patch.ys) : x ? size(patch.xs) : 0);
      block.count.push_back(y ? size(patch.ym) : x ? size(patch.xm) : shape[d]);
    }
    const auto put = [&](const auto& values) {
      if (cut) file.put(v.name, record, block, values.data());
      if (!cut) file.put_all(v.name, record, values);
    };
    const io::Box own{block.start, block.count}, box = records ? own.in_record(record) : own;
    if (v.type == io::Type::int32) {
      const std::vector<std::int64_t> values =
          m_reader.read_block_int(v.name, box.start, box.count);
      put(std::vector<int>(values.begin(), values.end()));
    } else {
      std::vector<double> values = m_reader.read_block(v.name, box.start, box.count);
      const auto fill = m_reader.number(v.name, "_FillValue"); // the reader returns it as NaN
      for (double& value : values) value = fill && std::isnan(value) ? *fill : value;
      put(values);
    }
  }

  io::Reader m_reader;
  std::vector<double> m_times; // days
  std::size_t m_kept = 0;
};

} // namespace nunatak
