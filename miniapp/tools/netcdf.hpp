// NetCDF files of masks and answers: netcdf.cpp reads and writes through io/; no_netcdf.cpp
// refuses.
#pragma once

#include "miniapp/tools/tool.hpp"

namespace nunatak::tools {

/// Throws Error naming `what` (an option) if this program was built without NetCDF.
void require_netcdf(const std::string& what);

/// The mask in `variable`; an empty name: see mask_source.hpp. Collective.
Mask mask_from_netcdf(const std::string& path, std::string variable);

/// Writes x and y (column and row numbers), the mask (`mask` for cell types, else `values`), and
/// the fields. Collective; an empty path is accepted.
void write_answer(const std::string& path, const Mask& mask, const Answer& answer);

/// Reads the fields of `like` from a file made by write_answer. Collective. Throws Error if the
/// grid differs or a field is missing.
Answer read_answer(const std::string& path, const Answer& like);

} // namespace nunatak::tools
