// Labels and distances of a whole grid by one queue: the reference of nunatak-labels and of the
// corpus, which shares no code with the kernels. Four neighbours; nothing is periodic.
#pragma once

#include <cstdint>
#include <vector>

namespace nunatak::kit {

/// Visits the neighbours of each cell of the queue in order; those where enter(neighbour, cell) is
/// true join the queue.
template <class Enter>
void flood(int Mx, int My, std::vector<std::int64_t> queue, const Enter& enter) {
  const std::int64_t width = Mx, cells = width * My;
  for (std::size_t n = 0; n < queue.size(); ++n) {
    const std::int64_t cell = queue[n], i = cell % width;
    const auto visit = [&](std::int64_t neighbour) {
      if (enter(static_cast<std::size_t>(neighbour), static_cast<std::size_t>(cell)))
        queue.push_back(neighbour);
    };
    if (i > 0) visit(cell - 1);
    if (i < width - 1) visit(cell + 1);
    if (cell >= width) visit(cell - width);
    if (cell < cells - width) visit(cell + width);
  }
}

/// `d`: 1 at seeds, 0 in other cells of the domain, negative outside. Returns the distances as in
/// kernels/distance/types.hpp.
inline std::vector<int> flood_distances(int Mx, int My, std::vector<int> d) {
  std::vector<std::int64_t> seeds;
  for (std::size_t n = 0; n < d.size(); ++n) {
    if (d[n] == 1) seeds.push_back(static_cast<std::int64_t>(n));
  }
  flood(Mx, My, seeds, [&](std::size_t cell, std::size_t from) {
    if (d[cell] != 0) return false;
    d[cell] = d[from] + 1;
    return true;
  });
  return d;
}

/// `start`: negative outside of the domain. Returns 1, 2, ... in raster order of first cells, 0
/// outside.
inline std::vector<int> flood_labels(int Mx, int My, const std::vector<int>& start) {
  std::vector<int> label(start.size(), 0);
  int components = 0;
  for (std::size_t first = 0; first < start.size(); ++first) {
    if (start[first] < 0 || label[first] > 0) continue;
    label[first] = ++components;
    flood(Mx, My, {static_cast<std::int64_t>(first)}, [&](std::size_t cell, std::size_t) {
      if (start[cell] < 0 || label[cell] > 0) return false;
      label[cell] = components;
      return true;
    });
  }
  return label;
}

} // namespace nunatak::kit
