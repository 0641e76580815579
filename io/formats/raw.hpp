// Plain files: values only, in native byte order, and a JSON file beside them that says where they
// lie. What the formats `posix` (raw_posix.cpp) and `mpiio` (raw_mpiio.cpp) write; they bound every
// other format from above. The layout and its runs are also those of `direct` (direct.cpp).
//
//   name.nc        | fixed variables | gap | record 0          | record 1          | ...
//                                          ^ record_begin       ^ + record_stride
//   name.nc.json   {"format": "nunatak raw 1", "byte_order": "little", "records": 2,
//   "record_begin": 4096, "record_stride": 8192,
//                   "dimensions": [{"name": "x", "length": 11, "distributed": true}, ...], length
//                   0: of records "attributes": [{"name": "title", "value": "..."}, ...], text, or
//                   numbers with their "type" "variables": [{"name": "thk", "type": "float64",
//                   "dimensions": ["time", "x"], "offset": 4096,
//                                  "attributes": [...]}, ...]}                   offset: of a
//                                  record variable in record 0
//
// Values are row-major, slowest dimension first. Every variable begins at a multiple of 8 bytes,
// the first record and every later one at a multiple of Options::align too. The length of the file
// is that of all its records.
#pragma once

#include "io/pack.hpp"
#include "io/schema.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// Where the values lie: a pure function of the schema.
struct RawLayout {
  std::vector<std::uint64_t> begin; ///< of each variable, in bytes; of record variables in record 0
  std::uint64_t end_of_fixed = 0, record_begin = 0, record_stride = 0;

  std::uint64_t file_size(std::uint64_t records) const {
    return records * record_stride == 0 ? end_of_fixed : record_begin + records * record_stride;
  }
};
RawLayout raw_layout(const Schema& schema, std::size_t align);

/// Bytes that lie together both in the file and in a packed hyperslab.
struct Run {
  std::uint64_t begin; ///< in the file
  std::size_t size;
  const std::byte* data;
};

/// Where the values of one variable lie.
struct Placement {
  std::uint64_t begin;               ///< of the first one
  std::size_t element;               ///< bytes of one
  std::vector<std::uint64_t> stride; ///< bytes from one index to the next, by dimension
};
/// Row-major; a variable with records steps by `record_stride` along its first dimension.
Placement placement_of(std::uint64_t begin, std::size_t element,
                       const std::vector<std::size_t>& shape,
                       std::optional<std::uint64_t> record_stride);

Placement placement_of(const Schema& schema, const RawLayout& layout, std::size_t v);

/// Append the runs of a block whose values lie row-major at `data`; ascending, neighbours (in
/// memory, too) merged, with the last one of `runs`, too.
void append_runs(const Placement& placement, const std::vector<std::size_t>& start,
                 const std::vector<std::size_t>& count, const std::byte* data,
                 std::vector<Run>& runs);
/// Append the runs of a hyperslab of variable `v`, likewise.
void append_runs(const Schema& schema, const RawLayout& layout, std::size_t v,
                 const Hyperslab& slab, const std::byte* data, std::vector<Run>& runs);

/// A schema as bytes (the JSON of a plain file in CBOR), in which numbers stay exact, and back.
std::vector<std::uint8_t> message_of(const Schema& schema);
Schema schema_of(const std::vector<std::uint8_t>& message);

/// Write the JSON file beside `path`. Error if that is not possible.
void write_raw_json(const std::string& path, const Schema& schema, const RawLayout& layout,
                    std::uint64_t records);

/// A plain file as its JSON describes it.
struct RawFile {
  std::string path;
  Schema schema;
  RawLayout layout;
  std::uint64_t records = 0;
};
/// Error if the JSON is missing or is not of this format and byte order, or if the file is shorter
/// than it says.
RawFile open_raw(const std::string& path);

/// Read a block, row-major, into `target`; start and count as in Hyperslab (for a record variable
/// the record first). Error, naming the variable, if the block is not in the file.
void read_raw(const RawFile& file, const std::string& variable,
              const std::vector<std::size_t>& start, const std::vector<std::size_t>& count,
              std::byte* target);

} // namespace nunatak::io
