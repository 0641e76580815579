// Boxes of indices and their values in row-major order: parts and intersections.
#pragma once

#include "common/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

namespace nunatak::io {

/// A number for each dimension of a variable, slowest first, without memory of its own to allocate:
/// models write millions of boxes. Error above 7 dimensions, the limit of Fortran 2003.
template <class T> class PerDimension {
public:
  static constexpr std::size_t most = 7;

  PerDimension() = default;
  PerDimension(std::initializer_list<T> list) : PerDimension(list.begin(), list.end()) {}
  PerDimension(const std::vector<T>& list) : PerDimension(list.begin(), list.end()) {}
  PerDimension(std::size_t n, T value) { assign(n, value); }
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  PerDimension(I first, I last) {
    for (; first != last; ++first) push_back(*first);
  }

  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }
  const T* data() const { return m_values.data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + m_size; }
  T* begin() { return m_values.data(); }
  T* end() { return begin() + m_size; }
  const T& operator[](std::size_t d) const { return m_values[d]; }
  T& operator[](std::size_t d) { return m_values[d]; }
  const T& back() const { return m_values[m_size - 1]; }
  T& back() { return m_values[m_size - 1]; }

  void assign(std::size_t n, T value) {
    m_size = 0;
    while (m_size < n) push_back(value);
  }
  void push_back(T value) {
    if (m_size == most)
      throw Error("expected at most " + std::to_string(most) + " dimensions, found more");
    m_values[m_size++] = value;
  }
  void insert(const T* before, T value) {
    const std::ptrdiff_t place = before - data();
    push_back(value);
    std::rotate(begin() + place, end() - 1, end());
  }
  friend bool operator==(const PerDimension& a, const PerDimension& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const PerDimension& a, const PerDimension& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  std::array<T, most> m_values{};
  std::size_t m_size = 0;
};
using Indices = PerDimension<std::size_t>;
using Strides = PerDimension<std::ptrdiff_t>;

/// Stands for the record of a variable that has none.
constexpr std::size_t no_record = static_cast<std::size_t>(-1);

/// start[d] <= index < start[d] + count[d], slowest dimension first; without dimensions a scalar.
struct Box {
  Indices start, count;

  std::size_t elements() const {
    return std::accumulate(count.begin(), count.end(), std::size_t{1}, std::multiplies<>());
  }
  /// With the record dimension in front; no_record: the same.
  Box in_record(std::size_t record) const;
  bool operator==(const Box& other) const { return start == other.start && count == other.count; }
};

/// Increment `index` below `counts`, the last dimension fastest; false after the last (then 0).
inline bool next_index(Indices& index, const Indices& counts) {
  for (std::size_t d = counts.size(); d-- > 0; index[d] = 0) {
    if (++index[d] < counts[d]) return true;
  }
  return false;
}

/// The intersection; a box without elements if it is empty.
Box meet(const Box& a, const Box& b);
bool do_meet(const Box& a, const Box& b); ///< it is not empty

/// The smallest box that contains both; the other one if one has no elements.
Box hull(const Box& a, const Box& b);

/// `box` in parts of at most `limit` elements (at least one), in row-major order; the values of
/// each part are contiguous in those of `box`. No parts for a box without elements.
///
///   a box 2 x 3 x 5   limit 8:    aaaaa bbbbb ccccc  ddddd eeeee fffff
///                     limit 10:   aaaaa aaaaa bbbbb  ccccc ccccc ddddd
std::vector<Box> cut(const Box& box, std::size_t limit);

/// One of `n_parts` nearly equal parts, some perhaps empty; of a box without dimensions all. Cut is
/// the slowest dimension with as many indices, else the longest.
Box part_of(const Box& box, std::size_t part, std::size_t n_parts);

/// The non-empty boxes of a variable, without the record dimension, by aggregator in writing order.
using Boxes = std::vector<std::vector<Box>>;

/// Offset, in values of `box`, of the first value of `part`, which lies in `box`.
std::size_t place_in(const Box& box, const Box& part);

/// Copies the values of `part`, of `size` bytes each, from their places in the row-major values of
/// a box to those in the ones of another; it lies in both.
void copy_values(const Box& part, const Box& from_box, const std::byte* from, const Box& to_box,
                 std::byte* to, std::size_t size);

/// "(0, 2)"
std::string in_words(const Indices& numbers);

} // namespace nunatak::io
