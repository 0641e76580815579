// NetCDF files of masks and of answers: netcdf.cpp, through io/; no_netcdf.cpp refuses them where
// there is none.
#pragma once

#include "miniapp/tools/tool.hpp"

namespace nunatak::tools {

/// Throws Error naming `what` (an option) if this program was built without NetCDF.
void require_netcdf(const std::string& what);

/// The mask in `variable` of a file, or, without a name, what mask_source.hpp says. Collective.
Mask mask_from_netcdf(const std::string& path, std::string variable);

/// NetCDF: x and y (numbers of columns and rows), the mask (`mask` if it has cell types, else
/// `values`), and the fields. Collective; an empty path is fine.
void write_answer(const std::string& path, const Mask& mask, const Answer& answer);

/// The fields of `like` from a file that write_answer has made. Collective. Error if the grid is
/// another or a field is not there.
Answer read_answer(const std::string& path, const Answer& like);

} // namespace nunatak::tools
