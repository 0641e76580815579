// Runs: contiguous bytes of a block in a classic file, which `direct` writes with one call.
//
//   file   | fixed variables | gap | record 0          | record 1          | ...
//                                  ^ begin of record variables, + record_size
//
// Values are row-major, slowest dimension first. No MPI.
#pragma once

#include "io/read/classic_header.hpp"
#include "io/schema.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nunatak::io {

/// Variables one after another from byte 0 on, each at a multiple of 8 bytes; record variables
/// last. For layouts, where a format does not report where its variables begin.
ClassicLayout packed_layout(const Schema& schema);

/// The size of a file with this many records, including the padding behind its last value.
std::uint64_t padded_size(const ClassicLayout& layout, std::uint64_t records);

/// Bytes that are contiguous both in the file and in a packed block.
struct Run {
  std::uint64_t begin; ///< in the file
  std::size_t size;
  const std::byte* data;
  std::size_t v; ///< the variable, or the first of several
};

/// Append the runs of a block of variable `v`, whose values lie row-major at `data`, ascending.
/// Runs that are adjacent in the file and in memory are merged, also with the last one of `runs`.
void append_runs(const Schema& schema, const ClassicLayout& layout, std::size_t v,
                 const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
                 const std::byte* data, std::vector<Run>& runs);

} // namespace nunatak::io
