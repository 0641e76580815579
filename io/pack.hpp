// Copies a rank's part of a variable in memory (strided, with ghosts around it) to a contiguous,
// row-major buffer. Dimensions are in the order of the file, strides in memory: an array (y,x,z)
// goes to a file (z,y,x) with strides {1, row, Mz}.
#pragma once

#include "io/box.hpp"
#include "io/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace nunatak::io {

class ValueSum; // durable/value_sums.hpp

/// Converts float64 values from the model's units to the file's, except values equal to `fill`.
struct Scale {
  double factor = 1.0, fill = 0.0;
  bool is_one() const { return factor == 1.0; }
  double operator()(double value) const { return value == fill ? value : value * factor; }
};

/// Where a rank's part of a variable lies in the file and in memory. For a record variable the
/// first dimension is the record (count 1). Users of a File give a Block (file.hpp) instead.
struct Hyperslab {
  Indices start, count;            ///< in the file, slowest dimension first
  Strides stride;                  ///< in memory, in elements, one per dimension
  const std::byte* data = nullptr; ///< the value at `start`
  Type type = Type::float64;       ///< of the elements in memory
  /// This rank has nothing to write: of start, count and stride only the record need be there.
  bool empty = false;
  /// Contiguous, of the file's type, unchanged until wait(), on all ranks: need not be copied.
  bool lasting = false;
  ValueSum* sum = nullptr; ///< checksum accumulator, updated by pack(); null if none is wanted
  Scale scale = {};

  std::size_t elements() const;
  /// Its place in the variable, without the record dimension, which comes first if `has_record`.
  Box box(bool has_record) const;
  /// Put the record dimension before the others.
  void insert_record(std::size_t record);
  Hyperslab without_record() const; ///< the same without the first dimension
  /// The values have been packed by pack() to `values`.
  void now_packed(const std::byte* values, Type file_type);
};

/// Those of a variable and record on one rank: at least one, as many on every rank, some empty.
using Slabs = std::vector<Hyperslab>;

/// Copy `slab` to `target`, row-major, scaled, as `file_type`: the slab's own type, or float32 from
/// float64. One pass, tiled if the fastest dimensions of file and memory differ.
void pack(const Hyperslab& slab, Type file_type, std::byte* target);

/// The same into part of a larger array: `target_stride` in elements of file_type, by dimension.
void pack(const Hyperslab& slab, Type file_type, std::byte* target, const Strides& target_stride);

/// Add the values, as pack() would convert them, to the slab's sum.
void add_to_sum(const Hyperslab& slab, Type file_type);

Strides contiguous_strides(const Indices& count);

/// The part of `slab` with first <= index < last (of the file) along dimension d; may be empty.
Hyperslab slice(const Hyperslab& slab, std::size_t d, std::size_t first, std::size_t last);

/// The part of `slab` in a box of the variable, without the record dimension.
Hyperslab slice(const Hyperslab& slab, const Box& box);

/// One of `n_parts` nearly equal parts, cut along the slowest possible dimension into file runs.
Hyperslab part_of(const Hyperslab& slab, std::size_t part, std::size_t n_parts);

/// Uninitialised memory that is kept for the next use.
class Buffer {
public:
  std::byte* of_size(std::size_t bytes);
  std::byte* data() { return m_data.get(); }

private:
  std::unique_ptr<std::byte[]> m_data;
  std::size_t m_size = 0;
};

/// The slab's values already lie row-major in memory, in the type and units of the file.
bool is_packed(const Hyperslab& slab, Type file_type);
/// The values row-major and of type `file_type`: in place if is_packed(), else packed in `buffer`.
const std::byte* packed(const Hyperslab& slab, Type file_type, Buffer& buffer);

/// Bytes that wait to be written on all ranks, which count them alike, and their limit: `buffer`
/// for each rank that writes, at most 1 GiB (MPI-IO). Larger ones are cut:
///
///   const std::size_t n = waiting.parts(bytes);  // of the variable, over all ranks
///   for (part = 0; part < n; ++part) {
///     if (!waiting.has_room(bytes / n)) write what waits, waiting.clear();
///     queue part_of(slab, part, n), waiting.add(bytes / n);
///   }
class Waiting {
public:
  Waiting(std::size_t buffer, std::size_t n_writers)
      : m_limit(std::max<std::size_t>(1, std::min(buffer, std::size_t{1} << 30) * n_writers)) {}

  std::size_t parts(std::size_t bytes) const {
    return bytes <= m_limit ? 1 : (bytes + m_limit - 1) / m_limit;
  }
  bool has_room(std::size_t more) const { return m_bytes == 0 || m_bytes + more <= m_limit; }
  void add(std::size_t more) { m_bytes += more; }
  void clear() { m_bytes = 0; }
  std::size_t bytes() const { return m_bytes; }

private:
  std::size_t m_limit, m_bytes = 0;
};

/// Copies of hyperslabs that wait to be written; memory is reused for the next record.
class Copies {
public:
  /// Makes the values row-major, of `file_type`: in place if a slab is lasting and packed, else in
  /// a copy.
  void keep(Slabs& slabs, Type file_type);
  void clear() { m_used = 0; }

private:
  std::deque<Buffer> m_buffers;
  std::size_t m_used = 0;
};

} // namespace nunatak::io
