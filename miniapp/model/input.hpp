// Reading the initial state and the forcing from a NetCDF file, for every rank its own block, onto
// the grid of the run.
//
// The file has coordinates x and y (equally spaced, in any unit of length) and variables of shape
// (y, x) or (time, y, x), of which the last record is read if thk has as many, else of climate and
// ocean the mean of all; `temp` of shape (..., y, x, z). On
// another grid than the file's, fields are interpolated: bilinear; basins take the nearest point;
// the ice extent is that of the nearest point, and thickness is averaged over icy points only, so
// that margins are not thinned. On the file's own grid values are taken as they are, to the last
// bit.
#pragma once

#include "io/reader.hpp"
#include "kernels/step/state.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/model/input_field.hpp"
#include "miniapp/model/options.hpp"

namespace nunatak {

class Input {
public:
  /// Collective. Throws Error (io::Error) if the file cannot be read, lacks thk, topg, a coordinate
  /// or a variable of its model_state_variables, or x or y is not regular.
  Input(const std::string& path, MPI_Comm comm, const Log& log, io::ReadOptions read_options = {});

  /// Who has read, and what it has cost so far. Collective.
  nlohmann::json report() const;

  const Axis& x() const { return m_x; }
  const Axis& y() const { return m_y; }
  /// nullopt (and a line in the log) if there is no polar stereographic mapping, or not all of it.
  std::optional<PolarStereographic> projection() const;

  /// Levels and time of a file that nunatak wrote; empty otherwise.
  std::vector<double> levels() const; ///< m, from 0 upwards
  std::optional<double> time() const; ///< s
  /// What the run that wrote the file had chosen for an option that can be "auto"; nullopt for
  /// other files.
  std::optional<std::string> choice(const std::string& option) const {
    return m_reader.text("", "option_" + option);
  }

  /// thk, topg, and what else the file has; Forcing keeps what it has where the file has nothing.
  /// `options` say what the run uses. Collective. Throws Error naming file and variable: wrong
  /// dimensions, wrong units, NaN, negative thickness.
  void read(const Options& options, const Grid& grid, MpiRanks& ranks, State& state,
            Forcing& forcing) const;

  /// The first of these alone.
  void read_thickness(const Grid& grid, MpiRanks& ranks, const Array2<double>& thk) const;

  bool has_temperature() const { return gives("temp"); }
  /// Temperature on the levels of the grid (linear in z). Collective.
  void read_temperature(const Grid& grid, MpiRanks& ranks, Array3<double>& temp) const;

  /// The file has the variable, and it is no mere diagnostic of the run that wrote it.
  bool gives(const std::string& variable) const;

private:
  void check_surface(const Grid& grid, MpiRanks& ranks, const State& state) const;
  FileBlock block(const Grid& grid, const Patch& patch) const;
  bool levels_first(const std::string& variable) const; ///< (z, y, x), not (y, x, z)
  void check_dimensions(const std::string& variable, bool columns, bool has_mean) const;
  std::size_t records_of(const std::string& variable) const;
  std::vector<double> read_values(const FieldInfo& info, const FileBlock& points) const;
  UnitConversion conversion(const std::string& variable,
                            const std::string& to) const; ///< from the units of the file
  /// Returns false if the run does not use the field, and it has missing values.
  bool read_field(const FieldInfo& info, const Grid& grid, MpiRanks& ranks,
                  const Array2<double>& field) const;

  io::Reader m_reader;
  MPI_Comm m_comm;
  const Log& m_log;
  Axis m_x, m_y;
  bool m_flip_x = false, m_flip_y = false; // coordinates that decrease
};

} // namespace nunatak
