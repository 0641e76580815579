// Boxes of indices and their values in row-major order: parts, intersections, copies.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nunatak::io {

/// start[d] <= index < start[d] + count[d], slowest dimension first; without dimensions a scalar.
struct Box {
  std::vector<std::size_t> start, count;

  std::size_t elements() const;
  Box in_record(std::size_t record) const; ///< the same with the record dimension in front
  bool operator==(const Box& other) const { return start == other.start && count == other.count; }
};

/// Increment `index` below `counts`, the last dimension fastest; false after the last (then 0).
inline bool next_index(std::vector<std::size_t>& index, const std::vector<std::size_t>& counts) {
  for (std::size_t d = counts.size(); d-- > 0; index[d] = 0) {
    if (++index[d] < counts[d]) return true;
  }
  return false;
}

/// The intersection; a box without elements if it is empty.
Box meet(const Box& a, const Box& b);

/// The smallest box that contains both; the other one if one has no elements.
Box hull(const Box& a, const Box& b);

/// `box` in parts of at most `limit` elements (at least one), in row-major order; the values of
/// each part are contiguous in those of `box`. No parts for a box without elements.
///
///   a box 2 x 3 x 5   limit 8:    aaaaa bbbbb ccccc  ddddd eeeee fffff
///                     limit 10:   aaaaa aaaaa bbbbb  ccccc ccccc ddddd
std::vector<Box> cut(const Box& box, std::size_t limit);

/// The dimension to cut into n parts: the slowest with n or more indices, else the longest.
std::size_t dimension_to_cut(const std::vector<std::size_t>& count, std::size_t n);

/// Offset, in values of `box`, of the first value of `part`, which lies in `box`.
std::size_t place_in(const Box& box, const Box& part);

/// "(0, 2)"
std::string in_words(const std::vector<std::size_t>& numbers);

/// Copy the values of `region`, which lies in both boxes, from one box to the other.
void copy(const Box& region, const Box& from_box, const std::byte* from, const Box& to_box,
          std::byte* to, std::size_t element_bytes);

} // namespace nunatak::io
