// Chunk shapes of NetCDF-4 variables.
#pragma once

#include "io/options.hpp"
#include "io/schema.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nunatak::io {

/// The lengths of a chunk, by dimension; empty: contiguous (no record dimension, no compression).
///
///   auto     without compression a whole record, but at least 4 KiB (several small records), cut
///            below 4 GiB (the limit of HDF5) along its slowest dimensions; with compression at
///            most 1 MiB: each chunk is compressed by one rank, so there must be many
///   record   exactly one whole record (cut below 4 GiB)
///   y=64,x=64   these lengths, other dimensions whole, one record; at most the dimension
///
/// Error if `options.chunk` has an unknown dimension or a length that is not a number > 0.
std::vector<std::size_t> chunk_shape(const Schema& schema, const Variable& variable,
                                     const Options& options);

/// Bytes of all chunks of a variable with this many records, before compression.
std::uint64_t bytes_of_chunks(const Schema& schema, const Variable& variable,
                              const Options& options, std::uint64_t records);

} // namespace nunatak::io
