// Chunks of NetCDF-4 files.
#pragma once

#include "io/data/schema.hpp"

#include <cstdint>
#include <string>

namespace nunatak::io {

/// How NetCDF-4 keeps values: chunks as -io_chunk names them, and the level of compression.
struct Storage {
  std::string chunk = "auto";
  int deflate = 0;
};

/// The lengths of a chunk, by dimension; empty: contiguous (no record dimension, no compression).
///
///   auto     without compression a whole record, but at least 4 KiB (several small records), cut
///            below 4 GiB (the limit of HDF5) along its slowest dimensions; with compression at
///            most 1 MiB: each chunk is compressed by one rank, so there must be many
///   record   exactly one whole record (cut below 4 GiB)
///   y=64,x=64   these lengths, other dimensions whole, one record; at most the dimension
///
/// Error if `chunk` has an unknown dimension or a length that is not a number > 0.
Indices chunk_shape(const Schema& schema, const Variable& variable, const Storage& storage);

/// Bytes of all chunks of a variable with this many records, before compression.
std::uint64_t bytes_of_chunks(const Schema& schema, const Variable& variable,
                              const Storage& storage, std::uint64_t records);

} // namespace nunatak::io
