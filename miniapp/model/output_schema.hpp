// CF-1.8 metadata of the model's files: coordinates, projection, time, and variables.hpp.
#pragma once

#include "io/schema.hpp"
#include "io/writer.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"

#include <string>
#include <vector>

namespace nunatak {

/// _FillValue of floating-point variables in ice-free cells.
constexpr double fill_value = -2e9;

/// Days of the files' 365-day calendar; a model year is one year of that calendar.
double calendar_days(double model_seconds);

/// A file of maps: dimensions time (unlimited), y, x, and z if needed; z first if `levels_first`.
io::Schema map_schema(const Grid& grid, const std::vector<std::string>& variables,
                      const std::string& title, const std::string& history, bool levels_first);

/// x, y, z, lat, lon of files of one grid that were made with map_schema.
class Coordinates {
public:
  /// `grid` must outlive this object.
  Coordinates(const Grid& grid, const Patch& patch) : m_grid(grid), m_patch(patch) {}
  void put(io::File& file);

private:
  const Grid& m_grid;
  Patch m_patch;
  std::vector<double> m_lat, m_lon; ///< of the patch; computed for the first file and kept
};

struct Scalar {
  const char* name;
  const char* units;
  const char* long_name;
  double value;
};

/// A file of scalars along time, with time_bnds: each record covers the step that ended there.
io::Schema series_schema(const std::vector<Scalar>& scalars, const std::string& title,
                         const std::string& history);

} // namespace nunatak
