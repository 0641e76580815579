// NetCDF files of masks and answers: netcdf.cpp (through io/), or no_netcdf.cpp, which refuses
// them.
#pragma once

#include "miniapp/kit/tool.hpp"

namespace nunatak::kit {

/// Throws Error naming `what` (an option) if this program was built without NetCDF.
void require_netcdf(const std::string& what);

/// The mask in `variable`; an empty name: see mask_source.hpp. Collective.
Mask mask_from_netcdf(const std::string& path, std::string variable);

/// Names and texts of attributes.
using Texts = std::vector<std::pair<std::string, std::string>>;

/// Writes x, y (m, or numbers of columns and rows) and the fields. Collective.
void write_fields(const std::string& path, const MapGrid& grid,
                  const std::vector<Answer::Field>& fields, const Texts& attributes);

/// All cells of a variable (y, x) or (time, y, x), its last record, as they are stored: fill values
/// are values. Collective. Throws Error if the grid differs or there is no such variable.
GridValues read_field(const std::string& path, const std::string& variable, const MapGrid& grid);

} // namespace nunatak::kit
