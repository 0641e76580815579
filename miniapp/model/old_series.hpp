// The file of a series (maps or scalars along time) that a restarted run continues.
//
//   OldSeries old("maps.nc", schema, grid, start, longest_gap, comm, {}); // or it says why not
//   auto file = writer.open("maps.nc", schema, {io::FileKind::append, 10, old.records()});
//   old.copy(*file, patch);                                               // then the records of
//   the run
//
// What the file holds up to the start of the run becomes the beginning of the new file, in any
// format and on any number of ranks. The old file stays as it is until the new one takes its name
// in one rename.
#pragma once

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "miniapp/model/grid.hpp"

#include <cmath>

namespace nunatak {

class OldSeries {
public:
  /// Whether there is a file of that name, whole or in subfiles. Error if there is only path.tmp:
  /// the run that began the series was killed before it was committed. Collective.
  static bool exists(const std::string& path, MPI_Comm comm);

  /// Collective. `start`: time at which the run starts; `longest_gap`: largest time from one record
  /// to the next that belongs to the series; both in days, the unit of the files. Throws Error if
  /// the file cannot be read, has other variables, dimensions, units or coordinates than `schema`
  /// and `grid`, begins after the start, or ends too early before it.
  OldSeries(const std::string& path, const io::Schema& schema, const Grid& grid, double start,
            double longest_gap, MPI_Comm comm, io::ReadOptions read_options);

  std::size_t records() const { return m_kept; } ///< up to the start
  std::size_t later() const {
    return m_times.size() - m_kept;
  } ///< the others: the run computes them again
  double last() const {
    return m_kept == 0 ? -HUGE_VAL : m_times[m_kept - 1];
  } ///< time of the last of records(), days
  std::string title() const {
    return m_reader.text("", "title").value_or("");
  } ///< of the run that began it
  std::string history() const { return m_reader.text("", "history").value_or(""); }

  /// Put all variables, and of those with records the first records(), into a file of the same
  /// schema. Collective.
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

/// Times (days) that differ by less are the same: a tenth of a second.
constexpr double same_time = 1e-6;

} // namespace nunatak
