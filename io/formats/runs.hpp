// Runs: bytes of a block that are contiguous in a file. The format `direct` writes them, and the
// readers of classic files (read/classic_file.hpp) read them, with one call each.
//
//   file   | fixed variables | gap | record 0          | record 1          | ...
//                                  ^ record_begin      ^ + record_stride
//
// Values are row-major, slowest dimension first. No MPI.
#pragma once

#include "io/schema.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nunatak::io {

/// Where the values of a file lie, in bytes.
struct RunLayout {
  std::vector<std::uint64_t> begin; ///< of each variable; of record variables in record 0
  std::uint64_t end_of_fixed = 0, record_begin = 0, record_stride = 0;

  std::uint64_t file_size(std::uint64_t records) const {
    return records * record_stride == 0 ? end_of_fixed : record_begin + records * record_stride;
  }
};

/// Variables one after another from byte 0 on, each at a multiple of 8 bytes; record variables
/// last. For layouts, where a format does not report where its variables begin.
RunLayout packed_layout(const Schema& schema);

/// Bytes that are contiguous both in the file and in a packed block.
struct Run {
  std::uint64_t begin; ///< in the file
  std::size_t size;
  const std::byte* data;
};

/// Where the values of one variable lie.
struct Placement {
  std::uint64_t begin;               ///< of the first value
  std::size_t element;               ///< bytes of a value
  std::vector<std::uint64_t> stride; ///< bytes from one index to the next, by dimension
};
/// Row-major; a variable with records steps by `record_stride` along its first dimension.
Placement placement_of(std::uint64_t begin, std::size_t element,
                       const std::vector<std::size_t>& shape,
                       std::optional<std::uint64_t> record_stride);
Placement placement_of(const Schema& schema, const RunLayout& layout, std::size_t v);

/// Append the runs of a block whose values lie row-major at `data`, ascending. Runs that are
/// adjacent in the file and in memory are merged, also with the last one of `runs`.
void append_runs(const Placement& placement, const std::vector<std::size_t>& start,
                 const std::vector<std::size_t>& count, const std::byte* data,
                 std::vector<Run>& runs);

} // namespace nunatak::io
