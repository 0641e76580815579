// NetCDF files of masks and answers: netcdf.cpp, or no_netcdf.cpp, which refuses.
#pragma once

#include "miniapp/tools/tool.hpp"

namespace nunatak::tools {

/// Throws Error naming `what` (an option) if this program was built without NetCDF.
void require_netcdf(const std::string& what);

/// The mask in `variable`; an empty name: see mask_source.hpp. Collective.
Mask mask_from_netcdf(const std::string& path, std::string variable);

/// Writes x, y, `mask` (or `values` if not cell types), and fields; "": nothing. Collective.
void write_answer(const std::string& path, const Mask& mask, const Answer& answer);

/// Reads the fields of `like`. Collective. Throws Error if the grid differs or a field is missing.
Answer read_answer(const std::string& path, const Answer& like);

} // namespace nunatak::tools
