// Copies a rank's part of a variable in memory (strided, with ghosts around it) to a contiguous,
// row-major buffer. Dimensions are in the order of the file, strides in memory: an array (y,x,z)
// goes to a file (z,y,x) with strides {1, row, Mz}.
#pragma once

#include "io/data/box.hpp"
#include "io/data/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace nunatak::io {

class ValueSum; // data/value_sums.hpp

/// Converts float64 values from the model's units to the file's, except values equal to `fill`.
struct Scale {
  double factor = 1.0, fill = 0.0;
  bool is_one() const { return factor == 1.0; }
  double operator()(double value) const { return value == fill ? value : value * factor; }
};

/// A rank's part of a variable, or of one record of it: its box in the file, without the record
/// dimension, and where it lies in memory. One without elements may have any number of dimensions.
/// Users of a File give a Block (file.hpp) instead.
struct Hyperslab : Box {
  Strides stride;                  ///< in memory, in elements, one per dimension
  const std::byte* data = nullptr; ///< the value at `start`
  Type type = Type::float64;       ///< of the elements in memory
  /// Contiguous, of the file's type, unchanged until wait(), on all ranks: need not be copied.
  bool lasting = false;
  ValueSum* sum = nullptr; ///< checksum accumulator, updated by pack(); null if none is wanted
  Scale scale = {};
};

/// The parts of a variable and record on one rank: at least one, as many on every rank, some empty.
using Slabs = std::vector<Hyperslab>;

/// Copy `slab` to `target`, row-major, scaled, as `file_type`: the slab's own type, or float32 from
/// float64. One pass, tiled if the fastest dimensions of file and memory differ.
void pack(const Hyperslab& slab, Type file_type, std::byte* target);

/// The same to its place in the row-major values of a box around it.
void pack_into(const Box& box, std::byte* values, const Hyperslab& slab, Type file_type);

/// Add the values, as pack() would convert them, to the slab's sum.
void add_to_sum(const Hyperslab& slab, Type file_type);

Strides contiguous_strides(const Indices& count);
/// Row-major values of a box.
Hyperslab row_major(const Box& box, const std::byte* values, Type type);

/// The part of `slab` in a box of the variable; may be empty.
Hyperslab slice(const Hyperslab& slab, const Box& box);
/// One of `n_parts` nearly equal parts: part_of() of its box.
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

/// This rank's copies of hyperslabs that wait to be written, and the bytes that wait on all ranks,
/// which count them alike. Their limit is `buffer` for each rank that writes, at most 1 GiB
/// (MPI-IO). Larger variables are cut into parts(): what waits is written unless the next
/// has_room().
class Waiting {
public:
  Waiting(std::size_t buffer, std::size_t n_writers)
      : m_limit(std::max<std::size_t>(1, std::min(buffer, std::size_t{1} << 30) * n_writers)) {}

  std::size_t parts(std::size_t bytes) const {
    return bytes <= m_limit ? 1 : (bytes + m_limit - 1) / m_limit;
  }
  bool has_room(std::size_t more) const { return m_bytes == 0 || m_bytes + more <= m_limit; }
  void add(std::size_t more) { m_bytes += more; }
  std::size_t bytes() const { return m_bytes; }
  /// The row-major values of each slab, of `file_type`: in place if it is lasting and packed, else
  /// in a copy.
  std::vector<const std::byte*> keep(const Slabs& slabs, Type file_type);
  void clear() { m_used = m_bytes = 0; } ///< memory is used again

private:
  std::size_t m_limit, m_bytes = 0, m_used = 0;
  std::deque<Buffer> m_copies; ///< m_used of them are in use
};

} // namespace nunatak::io
