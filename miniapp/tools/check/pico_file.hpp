// A file of PISM (or nunatak) with PICO fields: grid, input, parameters and results. Variables are
// (y, x) or (time, y, x), of which the last record is read, in any convertible units, by every
// rank. Neighbours: pico_answer.hpp (recomputes the fields), nunatak_check.cpp.
#pragma once

#include "io/reader.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/pico/fields.hpp"
#include "miniapp/tools/compare.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::tools {

/// The source of the water in front of the shelves.
enum class OceanSource { none, fields, box0 };

class PicoFile {
public:
  /// `forcing`: another file on this grid, whose basins, theta_ocean and salinity_ocean take
  /// precedence. All functions that read are collective and throw Error naming file and variable.
  explicit PicoFile(const std::string& path, const std::string& forcing = "");

  std::vector<double> x, y; ///< cell coordinates, m
  Grid grid() const { return {static_cast<int>(x.size()), static_cast<int>(y.size()), x, y}; }
  double dx = 0.0, dy = 0.0;

  const std::string& path() const { return m_file.path(); }
  bool has(const std::string& variable) const { return m_file.has(variable); }

  /// Values in `unit` ("": unconverted), NaN where missing; 0 is a value even where _FillValue is
  /// 0, as in PISM. Throws Error, with the purpose, if `variable` is missing or on another grid.
  GridValues read(const std::string& variable, const std::string& unit,
                  const std::string& needed_for) const;

  /// PICO's input: thk, topg, mask (or by flotation), basins with ghosts, ocean (or zeros).
  /// `rounded`: the number of cells whose basin is not whole and is rounded, as PISM does.
  std::vector<PicoInput> input(Ranks& ranks, std::int64_t& rounded) const;
  OceanSource ocean_source() const;

  /// Value (numbers times `factor`) and origin of PISM's parameter ocean.pico.<pism>:
  /// pism_overrides, pism_config or an attribute of the file. "" if it is nowhere.
  std::pair<std::string, std::string> parameter(const std::string& pism, double factor) const;

private:
  const io::Reader& holder(const std::string& variable) const;

  io::Reader m_file;
  std::unique_ptr<io::Reader> m_forcing;
};

} // namespace nunatak::tools
