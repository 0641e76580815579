// The size that a classic NetCDF file (CDF-1, CDF-2, CDF-5) must have, from its header.
//
// NetCDF-C reads zeros beyond the end of a truncated classic file and says nothing. The header states where the data of every
// variable begin, so that a file which is too short can be refused. HDF5 does the same check by itself. Used by reader.cpp.
// Reference: NetCDF classic format specification, appendix B of the NetCDF Users Guide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace nunatak::io {

/// Bytes up to the end of the last value of the file at `path`, padding after it not counted; nullopt if the file does not
/// begin with a classic magic number. Throws Error if the header itself is cut off or nonsense.
std::optional<std::uint64_t> classic_file_size(const std::string& path);

} // namespace nunatak::io
