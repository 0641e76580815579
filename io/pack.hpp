// A rank's part of a variable in memory (strided, with ghosts around it) copied to a contiguous,
// row-major buffer.
//
// The order of the dimensions is the file's; strides say where the next value along each dimension
// lies in memory. So an array (y,x,z) in memory goes to a file (z,y,x) with strides {1, row, Mz}.
// Used by the formats (serial.cpp, netcdf4.cpp, ...).
#pragma once

#include "io/durable/value_sum.hpp"
#include "io/layouts/box.hpp"
#include "io/schema.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace nunatak::io {

/// What float64 values in memory are multiplied by on their way into a file, but for those that are
/// `fill`: from the model's units to those of the file.
struct Scale {
  double factor = 1.0, fill = 0.0;
  bool is_one() const { return factor == 1.0; }
  double operator()(double value) const { return value == fill ? value : value * factor; }
};

/// Where a rank's part of a variable lies in the file, and in memory. For a record variable the
/// first dimension is the record (count 1). Formats see this; users of a File give a Block
/// (writer.hpp).
struct Hyperslab {
  std::vector<std::size_t> start, count; ///< in the file, slowest dimension first
  std::vector<std::ptrdiff_t> stride;    ///< in memory, in elements, one per dimension
  const std::byte* data = nullptr;       ///< the value at `start`
  Type type = Type::float64;             ///< of the elements in memory
  bool empty = false; ///< this rank has nothing to write; start, count and stride may be absent
  /// Contiguous, of the file's type and unchanged until wait(): a format need not copy it. The same
  /// on all ranks.
  bool lasting = false;
  /// pack() adds the values to it; null if no sum is wanted.
  ValueSum* sum = nullptr;
  Scale scale = {};

  std::size_t elements() const;
  /// Where it lies in the variable, without the dimension of the records, which comes first if it
  /// `has_record`.
  Box box(bool has_record) const;
  /// Put the dimension of the records before the others.
  void insert_record(std::size_t record);
  /// The values have been packed (pack()), and lie there now.
  void now_packed(const std::byte* values, Type file_type);
};

/// Copy `slab` to `target`, row-major, elements of type `file_type`: the slab's own, or float32
/// from float64; scaled. Cost: one pass; reads and writes are tiled if the fastest dimensions of
/// file and memory differ.
void pack(const Hyperslab& slab, Type file_type, std::byte* target);

/// The same into a part of a larger array: `target_stride` in elements of file_type, one per
/// dimension.
void pack(const Hyperslab& slab, Type file_type, std::byte* target,
          const std::vector<std::ptrdiff_t>& target_stride);

/// Add the values to the slab's sum, as they would be packed.
void add_to_sum(const Hyperslab& slab, Type file_type);

/// Strides of a contiguous, row-major array.
std::vector<std::ptrdiff_t> contiguous_strides(const std::vector<std::size_t>& count);

/// The part of `slab` with first <= index < last along dimension d (indices of the file); empty if
/// they do not meet.
Hyperslab slice(const Hyperslab& slab, std::size_t d, std::size_t first, std::size_t last);

/// The part of `slab` in a box of the variable, which lacks the dimension of the records.
Hyperslab slice(const Hyperslab& slab, const Box& box);

/// One of `n_parts` nearly equal parts of a slab, cut along the slowest dimension that is long
/// enough: parts stay runs of the file.
Hyperslab part_of(const Hyperslab& slab, std::size_t part, std::size_t n_parts);

/// Memory that is not initialised and is kept for the next use.
class Buffer {
public:
  std::byte* of_size(std::size_t bytes);
  std::byte* data() { return m_data.get(); }

private:
  std::unique_ptr<std::byte[]> m_data;
  std::size_t m_size = 0;
};

/// The slab's values already lie in memory row-major, of type `file_type` and in the units of the
/// file.
bool is_packed(const Hyperslab& slab, Type file_type);
/// The values row-major and of type `file_type`: where they are if is_packed(), else packed into
/// `buffer`.
const std::byte* packed(const Hyperslab& slab, Type file_type, Buffer& buffer);

/// Copies of hyperslabs that wait to be written. Memory is used again: most files put the same
/// sizes in the same order every record.
class Copies {
public:
  /// The values row-major and of type `file_type`: where they are if the slab lasts and
  /// is_packed(), else in a copy.
  const std::byte* keep(const Hyperslab& slab, Type file_type);
  void clear() { m_used = 0; }

private:
  std::deque<Buffer> m_buffers;
  std::size_t m_used = 0;
};

} // namespace nunatak::io
