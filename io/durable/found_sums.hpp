// The sums of the values that a NetCDF file has now (value_sums.hpp), read by all ranks together. Used by verify.cpp.
#pragma once

#include "io/durable/value_sums.hpp"
#include "io/read/contents.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

/// "crc32:89abcdef" of dimensions, variables and attributes, but for the number of records.
std::string metadata_checksum(Contents contents);

struct FoundSums {
  Sums sums;
  std::string metadata; ///< metadata_checksum()
};

/// Of the first `records` records. The file is cut into pieces of at most 16 MiB, dealt in turn to the ranks, or, if they are on
/// several nodes, to one of each; who gets none does not open it. Error on all ranks if it cannot be read. Collective; the result
/// is the same on all ranks.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records);

} // namespace nunatak::io
