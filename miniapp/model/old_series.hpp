// The file of a series (maps or scalars along time) that a restarted run continues.
//
//   OldSeries old("maps.nc", schema, grid, start, longest_gap, comm, {});
//   auto file = writer.open("maps.nc", schema, {10, old.records()});
//   old.copy(*file, patch);
//   ... // then the records of the run
//
// The records up to the start of the run begin a new file, in any format and on any number of
// ranks. The old file stays unchanged until one rename replaces it.
#pragma once

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/value_sums.hpp"
#include "io/read/reader.hpp"
#include "io/write/writer.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

namespace nunatak {

/// What a state says of a series of its run at its time: "21 0123456789abcdef", or "21 -" of files
/// without sums.
struct SeriesMark {
  std::size_t records = 0;
  std::optional<std::uint64_t> digest = {}; ///< of the last record

  static SeriesMark of(const std::string& text) {
    SeriesMark mark;
    std::istringstream in(text);
    std::string digest;
    if (!(in >> mark.records >> digest))
      throw Error("the state's mark of it: expected a number of records and a digest, found '" +
                  text + "'");
    if (digest != "-") mark.digest = std::strtoull(digest.c_str(), nullptr, 16);
    return mark;
  }
  std::string text() const {
    return std::to_string(records) + " " + (digest ? io::sum_text(*digest) : "-");
  }
};

class OldSeries {
public:
  /// True if the file exists, complete or as subfiles. Throws Error if only path.tmp exists: a run
  /// was killed before it saved anything that can be recovered (`why_not`). Collective.
  static bool exists(const std::string& path, MPI_Comm comm, const std::string& why_not) {
    int found = 0;
    const io::Watchdog::Scope scope(path, "look");
    io::on_rank_0(comm, [&] {
      found = std::filesystem::exists(path) || std::filesystem::exists(path + ".0000") ? 1 : 0;
      if (found == 0 && std::filesystem::exists(path + ".tmp"))
        throw Error("expected its records before the start, found only '" + path +
                    ".tmp': the run that wrote them was killed before they were " +
                    (why_not.empty() ? "saved" : "saved as a whole: " + why_not));
    });
    MPI_Bcast(&found, 1, MPI_INT, 0, comm);
    return found != 0;
  }

  /// `start`: start of the run; `longest_gap`: between records of one series; in days. Collective.
  /// Throws Error if the file cannot be read, differs from `schema` and `grid` in variables,
  /// dimensions, units or coordinates, begins after the start, or ends too early before it.
  OldSeries(const std::string& path, const io::Schema& schema, const Grid& grid, double start,
            double longest_gap, MPI_Comm comm, io::ReadOptions read_options)
      : m_reader(path, comm, as_stored(std::move(read_options))), m_start(start), m_comm(comm) {
    check_variables(schema);
    check_coordinates(grid);
    check_times(longest_gap);
  }

  /// Throws Error unless the last kept record is that of the run which wrote the state, and as many
  /// are there. A later run may have added one at the start: it is not kept. Collective.
  void require_own(const SeriesMark& mark, const io::Schema& schema, const Patch& patch) {
    const auto is_own = [&] {
      return m_kept > 0 && digest(schema, patch, m_kept - 1) == *mark.digest;
    };
    bool is_right = !mark.digest || is_own();
    if (!is_right && m_kept > 0 && last() > m_start - same_time) {
      m_kept -= 1;
      is_right = is_own();
      if (!is_right) m_kept += 1;
    }
    if (m_kept < mark.records)
      throw Error("expected " + std::to_string(mark.records) + " records up to " +
                  in_years(m_start) + ", as the state says, found " + std::to_string(m_kept) +
                  ": records are missing");
    if (m_kept > 0 && mark.records == 0)
      throw Error("the run that wrote the state had no such file: it is another run's");
    if (m_kept > 0 && !is_right)
      throw Error("its record of " + in_years(last()) +
                  " is not the one of the run that wrote the state: it is another run's");
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
  static io::ReadOptions as_stored(io::ReadOptions options) {
    options.missing = io::Missing::none;
    return options;
  }
  static bool has(const io::Variable& variable, const std::string& dimension) {
    const auto& names = variable.dimensions;
    return std::find(names.begin(), names.end(), dimension) != names.end();
  }

  static std::string units_of(const io::Variable& variable) {
    const io::Attribute* const units = io::find(variable.attributes, "units");
    return units != nullptr ? std::get<std::string>(units->value) : "";
  }

  static std::string in_years(double days) { return printed("year %.10g", days / 365.0); }

  void check_variables(const io::Schema& schema) const {
    const auto describe = [](const std::string& type, const std::vector<std::string>& axes,
                             const std::string& units) {
      return type + " (" + joined(axes) + ")" + (units.empty() ? "" : " in " + units);
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
      if (io::find(schema.variables, name) == nullptr)
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

  void check_times(double longest_gap) {
    m_times = m_reader.read_all("time");
    for (std::size_t n = 0; n < m_times.size(); ++n) {
      if (!(n == 0 ? std::isfinite(m_times[0]) : m_times[n] > m_times[n - 1]))
        throw Error("its times do not increase");
    }
    const auto after = std::upper_bound(m_times.begin(), m_times.end(), m_start + same_time);
    m_kept = static_cast<std::size_t>(after - m_times.begin());
    if (m_times.empty()) return;
    if (m_kept == 0)
      throw Error("it begins in " + in_years(m_times[0]) + ", after the start of this run in " +
                  in_years(m_start));
    if (last() < m_start - longest_gap - same_time)
      throw Error("it ends in " + in_years(last()) + ", and this run starts in " +
                  in_years(m_start) + ": records are missing");
  }

  static bool is_cut(const io::Variable& v) { return has(v, "y") && has(v, "x"); }

  /// f(values, block): this rank's part of a variable, as stored; the whole of one that is not cut.
  template <class F>
  void read(const io::Schema& schema, const io::Variable& v, const Patch& patch, std::size_t record,
            const F& f) const {
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    const bool records = schema.has_records(v), cut = is_cut(v);
    io::Block block;
    const io::Indices shape = schema.shape(v);
    for (std::size_t d = records ? 1 : 0; d < shape.size(); ++d) {
      const bool y = cut && v.dimensions[d] == "y", x = cut && v.dimensions[d] == "x";
      block.start.push_back(y ? size(patch.ys) : x ? size(patch.xs) : 0);
      block.count.push_back(y ? size(patch.ym) : x ? size(patch.xm) : shape[d]);
    }
    const io::Box own{block.start, block.count}, box = records ? own.in_record(record) : own;
    const std::vector<double> values = m_reader.read_block(v.name, box.start, box.count);
    if (v.type == io::Type::int32)
      f(std::vector<int>(values.begin(), values.end()), block);
    else
      f(values, block);
  }

  void copy(io::File& file, const io::Variable& v, const Patch& patch, std::size_t record) const {
    read(file.schema(), v, patch, record, [&](const auto& values, const io::Block& block) {
      if (is_cut(v)) file.put(v.name, record, block, values.data());
      if (!is_cut(v)) file.put_all(v.name, record, values);
    });
  }

  /// As File::digest_of_last_record(). Collective.
  std::uint64_t digest(const io::Schema& schema, const Patch& patch, std::size_t record) const {
    std::uint64_t all = 0;
    for (std::size_t n = 0; n < schema.variables.size(); ++n) {
      const io::Variable& v = schema.variables[n];
      if (!schema.has_records(v)) continue;
      read(schema, v, patch, record, [&](const auto& values, const io::Block& block) {
        if (!is_cut(v) && io::rank_in(m_comm) > 0) return; // rank 0 has all of it
        const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
        const io::Slabs slabs{io::row_major({block.start, block.count}, bytes, v.type)};
        all += io::share_in_digest(
            v.name, io::no_record,
            io::summed(slabs, v.type, schema.record_shape(n), [](const io::Slabs&) {}));
      });
    }
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, m_comm);
    return all;
  }

  io::Reader m_reader;
  std::vector<double> m_times; // days
  std::size_t m_kept = 0;
  double m_start; // of the run, days
  MPI_Comm m_comm;
};

} // namespace nunatak
