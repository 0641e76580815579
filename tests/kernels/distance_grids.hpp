// Problems for the tests of distances, and the search of the whole grid that judges all solvers.
#pragma once

#include "tests/kernels/global_grid.hpp"

namespace nunatak {

inline Grid<int> search(Grid<int> d) {
  std::vector<int> queue;
  for (int n = 0; n < d.Mx * d.My; ++n) {
    if (d.values[n] == 1) queue.push_back(n);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const int j = queue[head] / d.Mx, i = queue[head] % d.Mx;
    for (const auto& [dj, di] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
      if (!d.inside(j + dj, i + di) || d(j + dj, i + di) != 0) continue;
      d(j + dj, i + di) = d(j, i) + 1;
      queue.push_back((j + dj) * d.Mx + i + di);
    }
  }
  return d;
}

/// A domain (0 and -1) with some seeds; `every`: about one domain cell in so many, none if 0.
inline Grid<int> with_seeds(const Grid<int>& mask, unsigned every, unsigned seed) {
  std::mt19937 random(seed);
  Grid<int> d(mask.Mx, mask.My, -1);
  for (std::size_t n = 0; n < d.values.size(); ++n) {
    if (mask.values[n] == 1) d.values[n] = every != 0 && random() % every == 0 ? 1 : 0;
  }
  return d;
}

/// A path of one cell's width from its seed at the corner.
inline Grid<int> with_seed_at_corner(Grid<int> path) {
  for (int& v : path.values) v -= 1;
  path(0, 0) = 1;
  return path;
}

} // namespace nunatak
