// The sums of the values that a file, or all subfiles of one, have now (value_sums.hpp), read by
// all ranks together. Used by verify.cpp.
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
  std::string metadata; ///< metadata_checksum(); of a NetCDF file that is whole
};

/// Of the first `records` records, read by all ranks, or, if they are on several nodes, by one of
/// each; who gets nothing to read does not open the file. `of`, of files that were written
/// together: the name that they share. Then the sums are those of all subfiles. Error on all ranks
/// if it cannot be read. Collective; the result is the same on all ranks.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records,
                    const std::string& of = "");

} // namespace nunatak::io
