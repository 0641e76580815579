// Rows of a coded grid cut into segments: maximal ranges of equal code. Most rows of an ice sheet have a handful of them, so
// what is done once per segment (labelling, classification) costs almost nothing per cell. Used by labels.hpp and pico/.
//
//   code   1 1 1 4 4 8 8 8      segments of the row: [1,4) 1   [4,6) 4   [6,9) 8      (view indices; the ghosts are not part)
#pragma once

#include "kernels/array.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace nunatak {

using Code = std::uint8_t; ///< what a cell is, as bits; their meaning belongs to the caller

struct Segment {
  int i0, i1; ///< half-open range of view indices in x
  Code code;
};

/// The segments of one patch, row by row.
struct Segments {
  std::vector<Segment> list;
  std::vector<int> row; ///< segments row[j]..row[j+1] belong to row j (view index 1..ym); row[0] is not used

  int size() const { return static_cast<int>(list.size()); }
};

/// First view index in i..end whose code differs from the one before it. Eight cells at a time while nothing changes.
inline int end_of_segment(const Code* row, int i, int end) {
  while (i + 8 <= end) {
    std::uint64_t here, before;
    std::memcpy(&here, row + i, 8);
    std::memcpy(&before, row + i - 1, 8);
    if (here != before) break;
    i += 8;
  }
  while (i < end && row[i] == row[i - 1]) ++i;
  return i;
}

/// Cut the owned cells of `codes` into segments. Host memory. Ghosts are not read.
inline void find_segments(const Patch& patch, const Array2<Code>& codes, Segments& segments) {
  segments.list.clear();
  segments.row.assign(static_cast<std::size_t>(patch.ym) + 2, 0);
  for (int j = 1; j <= patch.ym; ++j) {
    segments.row[static_cast<std::size_t>(j)] = segments.size();
    const Code* row = codes.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(patch.xm + 2);
    for (int i = 1; i <= patch.xm;) {
      const int end = end_of_segment(row, i + 1, patch.xm + 1);
      segments.list.push_back({i, end, row[i]});
      i = end;
    }
  }
  segments.row[static_cast<std::size_t>(patch.ym) + 1] = segments.size();
}

} // namespace nunatak
