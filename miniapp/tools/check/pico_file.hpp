// A file of PISM (or nunatak) with fields of PICO: its grid, what PICO reads, its parameters, what
// PICO has found. Variables are (y, x) or (time, y, x), of which the last record is read, in any
// units that convert; every rank reads all of them. Neighbours: pico_answer.hpp (computes the
// fields anew), differences.hpp (compares them).
#pragma once

#include "io/reader.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/options.hpp"

#include <set>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Numbers of all cells of the grid in raster order, on every rank.
using GridValues = std::vector<double>;

/// Where the water in front of the shelves comes from.
enum class OceanSource { none, fields, box0 };

class PicoFile {
public:
  /// `forcing`: another file on the same grid, whose basins, theta_ocean and salinity_ocean come
  /// first; "": none. Collective, as all functions that read. Throws Error that names
  /// file and variable.
  explicit PicoFile(const std::string& path, const std::string& forcing = "");

  std::vector<double> x, y; ///< of cells, m
  double dx = 0.0, dy = 0.0;

  const std::string& path() const { return m_file.path(); }
  bool has(const std::string& variable) const { return m_file.has(variable); }

  /// Values in `unit` ("": as they are); NaN where the file says that there are none. Error, which
  /// says what `variable` is needed for, if it is not there or is on another grid.
  GridValues read(const std::string& variable, const std::string& unit,
                  const std::string& needed_for) const;

  /// What PICO reads: thk, topg, mask (if there is none, by flotation), basins with ghosts, the
  /// ocean (zeros if `ocean_source` is not `fields`).
  std::vector<PicoInput> input(Ranks& ranks) const;
  OceanSource ocean_source() const;

  /// Parameters of PISM that the file has: in pism_overrides, else in pism_config, else as
  /// attributes of the file. Those in `kept` (names as below, without -) stay as they are. Returns
  /// a line about each: value and where it comes from.
  std::vector<std::string> parameters(PicoOptions& options,
                                      const std::set<std::string>& kept) const;

private:
  const io::Reader& holder(const std::string& variable) const;

  io::Reader m_file;
  std::unique_ptr<io::Reader> m_forcing;
};

} // namespace nunatak::tools
