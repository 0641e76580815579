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

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "miniapp/model/grid.hpp"

#include <cmath>

namespace nunatak {

class OldSeries {
public:
  /// True if the file exists, complete or as subfiles. Throws Error if only path.tmp exists: a run
  /// was killed before it committed. Collective.
  static bool exists(const std::string& path, MPI_Comm comm);

  /// `start`: start of the run; `longest_gap`: between records of one series; in days. Collective.
  /// Throws Error if the file cannot be read, differs from `schema` and `grid` in variables,
  /// dimensions, units or coordinates, begins after the start, or ends too early before it.
  OldSeries(const std::string& path, const io::Schema& schema, const Grid& grid, double start,
            double longest_gap, MPI_Comm comm, io::ReadOptions read_options);

  std::size_t records() const { return m_kept; } ///< kept: up to the start
  /// Records after the start, which the run computes again.
  std::size_t later() const { return m_times.size() - m_kept; }
  /// Time of the last kept record, days.
  double last() const { return m_kept == 0 ? -HUGE_VAL : m_times[m_kept - 1]; }
  std::string title() const { return m_reader.text("", "title").value_or(""); }
  std::string history() const { return m_reader.text("", "history").value_or(""); }

  /// Copies all variables, with the first records() records, to a file of this schema. Collective.
  void copy(io::File& file, const Patch& patch) const;

private:
  void check_variables(const io::Schema& schema) const;
  void check_coordinates(const Grid& grid) const;
  void check_times(double start, double longest_gap);
  void copy(io::File& file, const io::Variable& variable, const Patch& patch,
            std::size_t record) const;

  io::Reader m_reader;
  std::vector<double> m_times; // days
  std::size_t m_kept = 0;
};

/// Times (days) that differ by less than this, a tenth of a second, are equal.
constexpr double same_time = 1e-6;

} // namespace nunatak
