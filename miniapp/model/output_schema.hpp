// CF-1.8 metadata of the model's files: coordinates, projection, time, and variables.hpp.
#pragma once

#include "io/data/schema.hpp"
#include "miniapp/model/grid.hpp"

#include <string>
#include <vector>

namespace nunatak {

/// _FillValue of floating-point variables in ice-free cells.
constexpr double fill_value = -2e9;

constexpr const char *time_units = "days since 0001-01-01 00:00:00", *time_calendar = "365_day";

/// A file of maps: dimensions time (unlimited), y, x, and z if needed; z first if `levels_first`.
io::Schema map_schema(const Grid& grid, const std::vector<std::string>& variables,
                      const std::string& title, const std::string& history, bool levels_first);

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
