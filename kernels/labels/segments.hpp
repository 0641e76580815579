// Rows of a coded grid cut into segments: maximal ranges of equal code. Most rows of an ice sheet
// have only a few, so work per segment (labelling, classification) costs little per cell.
//
//   code   1 1 1 4 4 8 8 8      segments of the row: [1,4) 1   [4,6) 4   [6,9) 8
//                               (view indices; the ghosts are not part)
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/list.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

using Code = std::uint8_t; ///< the type of a cell, as bits defined by the caller

/// Four bytes, since there may be one per cell. It begins at the end of the previous one, or at 1.
class Segment {
public:
  Segment() = default;
  Segment(int i1, Code code)
      : m_word(static_cast<std::uint32_t>(i1) | static_cast<std::uint32_t>(code) << 24) {}
  /// The end of the half-open range of view indices in x.
  int end() const { return static_cast<int>(m_word & 0xffffff); }
  Code code() const { return static_cast<Code>(m_word >> 24); }

private:
  std::uint32_t m_word;
};
constexpr int longest_row = (1 << 24) - 2;

/// The segments of one patch, row by row.
struct Segments {
  LargeList<Segment> list;
  std::vector<int> row; ///< row j (1..ym) has segments row[j]..row[j+1] - 1; row[0] is unused

  int size() const { return static_cast<int>(list.size()); }
  int end(int n) const { return list[n].end(); }

  template <class F> void for_each(const F& f) {
    for (int j = 1; j + 1 < static_cast<int>(row.size()); ++j) {
      for (int n = row[j], i0 = 1; n < row[j + 1]; i0 = end(n++)) f(j, n, i0, list[n]);
    }
  }
};

/// Writes the segments of a row to `list` of xm + 1 entries and returns their number. Skips eight
/// equal cells at a time; otherwise branch-free, since coasts are unpredictable.
inline int cut_row(const Code* row, int xm, Segment* list) {
  int n = 0, i = 2;
  const auto look = [&](int at) {
    list[n] = {at, row[at - 1]};
    n += row[at] != row[at - 1];
  };
  for (; i + 8 <= xm + 1; i += 8) {
    std::uint64_t here, before;
    std::memcpy(&here, row + i, 8);
    std::memcpy(&before, row + i - 1, 8);
    if (here == before) continue;
    for (int k = 0; k < 8; ++k) look(i + k);
  }
  for (; i <= xm; ++i) look(i);
  list[n] = {xm + 1, row[xm]};
  return n + 1;
}

/// The number of segments, vectorised: byte sums over 128 cells.
inline int count_segments(const Code* row, int xm) {
  int n = 1;
  for (int i = 2; i <= xm; i += 128) {
    std::uint8_t changes = 0;
    for (int k = i; k < std::min(i + 128, xm + 1); ++k)
      changes = static_cast<std::uint8_t>(changes + (row[k] != row[k - 1]));
    n += changes;
  }
  return n;
}

/// Cuts the owned cells of `codes` into segments. Host memory. Ghosts are not read.
inline void find_segments(const Patch& patch, const SharedArray2<Code>& codes, Segments& segments) {
  if (patch.xm > longest_row)
    throw std::invalid_argument("segments: expected at most 2^24 - 2 columns, found " +
                                std::to_string(patch.xm));
  const auto row = [&](int j) {
    return codes.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(patch.xm + 2);
  };
  auto& list = segments.list;
  segments.row.assign(static_cast<std::size_t>(patch.ym) + 2, 0);
  const auto most_of_row = static_cast<std::size_t>(patch.xm) + 1;
  std::size_t found = 0;
  list.resize(list.capacity());
  for (int j = 1; j <= patch.ym; ++j) {
    segments.row[j] = static_cast<int>(found);
    if (found + most_of_row > list.size()) { // counted once to allocate once
      std::size_t wanted = found + most_of_row;
      for (int k = j; k <= patch.ym; ++k)
        wanted += static_cast<std::size_t>(count_segments(row(k), patch.xm));
      list.resize(wanted);
    }
    found += static_cast<std::size_t>(cut_row(row(j), patch.xm, list.data() + found));
  }
  segments.row[static_cast<std::size_t>(patch.ym) + 1] = static_cast<int>(found);
  list.resize(found);
}

} // namespace nunatak
