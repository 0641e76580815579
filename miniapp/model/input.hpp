// Reads the initial state and the forcing from a NetCDF file, every rank its own block.
//
// The file has coordinates x and y (equally spaced, in any unit of length), variables of shape (y,
// x) or (time, y, x), and `temp` of shape (..., y, x, z). The last record is read; if a variable of
// climate or ocean has another number of records than thk, their mean is used.
//
// On another grid fields are interpolated bilinearly, basins by the nearest point. The ice extent
// is that of the nearest point, and thickness is averaged over icy points only, so that margins are
// not thinned. On the file's own grid values are copied bit for bit.
#pragma once

#include "io/reader.hpp"
#include "kernels/step/state.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/model/input_field.hpp"
#include "miniapp/model/options.hpp"

#include <set>
#include <string>

namespace nunatak {

class Input {
public:
  /// Collective. Throws Error (io::Error) if the file cannot be read; lacks thk, topg, a coordinate
  /// or a variable of its model_state_variables; or if x or y is not regular.
  Input(const std::string& path, MPI_Comm comm, const Log& log, io::ReadOptions read_options = {});

  /// Which ranks read, and the cost so far. Collective.
  nlohmann::json report() const;

  const Axis& x() const { return m_x; }
  const Axis& y() const { return m_y; }
  /// nullopt (with a log message) without a complete polar stereographic mapping.
  std::optional<PolarStereographic> projection() const;

  /// Levels and time of a file that nunatak wrote; empty otherwise.
  std::vector<double> levels() const; ///< m, from 0 upwards
  std::optional<double> time() const; ///< s
  /// The writing run's choice for an option with "auto"; nullopt for other files.
  std::optional<std::string> choice(const std::string& option) const {
    return m_reader.text("", "option_" + option);
  }

  /// Reads thk, topg and the other variables that `options` use; absent ones keep their value in
  /// Forcing. Returns the names of the optional ones that were read. Collective. Throws Error
  /// naming file and variable: wrong dimensions or units, NaN, negative thickness.
  std::set<std::string> read(const Options& options, const Grid& grid, MpiRanks& ranks,
                             State& state, Forcing& forcing) const;

  void read_thickness(const Grid& grid, MpiRanks& ranks, const Array2<double>& thk) const;

  bool has_temperature() const { return gives("temp"); }
  /// Linear in z onto the levels of the grid. Collective.
  void read_temperature(const Grid& grid, MpiRanks& ranks, Array3<double>& temp) const;

  /// True if the file has the variable and it is not a diagnostic of the run that wrote it.
  bool gives(const std::string& variable) const;

private:
  FileBlock block(const Grid& grid, const Patch& patch) const;
  bool levels_first(const std::string& variable) const; ///< (z, y, x) instead of (y, x, z)
  void check_dimensions(const std::string& variable, bool columns, bool has_mean) const;
  std::size_t records_of(const std::string& variable) const;
  std::vector<double> read_values(const FieldInfo& info, const FileBlock& points) const;
  /// The conversion from the units of the file.
  UnitConversion conversion(const std::string& variable, const std::string& to) const;
  /// Returns false if the field has missing values and the run does not use it.
  bool read_field(const FieldInfo& info, const Grid& grid, MpiRanks& ranks,
                  const Array2<double>& field) const;

  io::Reader m_reader;
  MPI_Comm m_comm;
  const Log& m_log;
  Axis m_x, m_y;
  bool m_flip_x = false, m_flip_y = false; // decreasing coordinates
};

} // namespace nunatak
