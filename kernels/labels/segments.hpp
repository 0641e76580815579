// Rows of a coded grid cut into segments: maximal ranges of equal code. Most rows of an ice sheet have a handful of them, so
// what is done once per segment (labelling, classification) costs almost nothing per cell. Used by labels/labels.hpp and pico/.
//
//   code   1 1 1 4 4 8 8 8      segments of the row: [1,4) 1   [4,6) 4   [6,9) 8      (view indices; the ghosts are not part)
#pragma once

#include "kernels/grid/array.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace nunatak {

using Code = std::uint8_t; ///< what a cell is, as bits; their meaning belongs to the caller

struct Segment {
  int i0, i1; ///< half-open range of view indices in x
  Code code;
  Segment() {} // not zeroed: they are made by the million, then written
  Segment(int begin, int end, Code c) : i0(begin), i1(end), code(c) {}
};

/// The segments of one patch, row by row.
struct Segments {
  std::vector<Segment> list;
  std::vector<int> row; ///< segments row[j]..row[j+1] belong to row j (view index 1..ym); row[0] is not used

  int size() const { return static_cast<int>(list.size()); }
};

/// Where the segments of a row begin: writes the view indices, then xm + 1, to `start` and returns the number of segments.
/// `start` has room for xm + 1 numbers. Eight cells at a time while nothing changes; else without a branch per cell, since no
/// branch predictor guesses the coast.
inline int find_starts(const Code* row, int xm, int* start) {
  int n = 1, i = 2;
  start[0] = 1;
  const auto look = [&](int at) {
    start[n] = at;
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
  start[n] = xm + 1;
  return n;
}

/// Cut the owned cells of `codes` into segments. Host memory. Ghosts are not read.
inline void find_segments(const Patch& patch, const SharedArray2<Code>& codes, Segments& segments) {
  segments.list.clear();
  segments.row.assign(static_cast<std::size_t>(patch.ym) + 2, 0);
  std::vector<int> start(static_cast<std::size_t>(patch.xm) + 2);
  for (int j = 1; j <= patch.ym; ++j) {
    const Code* row = codes.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(patch.xm + 2);
    const int first = segments.size(), found = find_starts(row, patch.xm, start.data());
    segments.row[static_cast<std::size_t>(j)] = first;
    segments.list.resize(static_cast<std::size_t>(first + found));
    Segment* list = &segments.list[static_cast<std::size_t>(first)];
    for (int n = 0; n < found; ++n) list[n] = {start[n], start[n + 1], row[start[n]]};
  }
  segments.row[static_cast<std::size_t>(patch.ym) + 1] = segments.size();
}

} // namespace nunatak
