// Grids drawn as text or held as global vectors, cut into patches and put together again.
#pragma once

#include "kernels/cases/masks.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "tests/kernels/cells.hpp"

#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

/// A global array in raster order.
template <class T> struct Grid {
  int Mx = 0, My = 0;
  std::vector<T> values;

  Grid() = default;
  Grid(int Mx_, int My_, T value = T{})
      : Mx(Mx_), My(My_), values(static_cast<std::size_t>(Mx_) * My_, value) {}
  T& operator()(int j, int i) { return values[static_cast<std::size_t>(j) * Mx + i]; }
  const T& operator()(int j, int i) const { return values[static_cast<std::size_t>(j) * Mx + i]; }
  bool inside(int j, int i) const { return j >= 0 && j < My && i >= 0 && i < Mx; }
  bool operator==(const Grid& o) const { return Mx == o.Mx && My == o.My && values == o.values; }
};

/// Rows of text, row 0 first; f gives the value of a character.
template <class F> auto draw(const std::vector<std::string>& rows, F f) {
  Grid<decltype(f('x'))> grid(static_cast<int>(rows[0].size()), static_cast<int>(rows.size()));
  for (const auto& [j, i] : points_of(grid.Mx, grid.My)) grid(j, i) = f(rows[j][i]);
  return grid;
}

/// A grid of digits ('-' is -1, '.' is 0).
inline Grid<int> draw(const std::vector<std::string>& rows) {
  return draw(rows, [](char c) { return c == '-' ? -1 : c == '.' ? 0 : c - '0'; });
}

/// Several of them side by side, separated by blanks.
inline std::vector<Grid<int>> draw_all(const std::vector<std::string>& rows) {
  std::vector<std::vector<std::string>> drawings;
  for (const std::string& row : rows) {
    std::istringstream words(row);
    std::string word;
    for (std::size_t n = 0; words >> word; ++n) {
      if (n == drawings.size()) drawings.emplace_back();
      drawings[n].push_back(word);
    }
  }
  std::vector<Grid<int>> grids;
  for (const auto& drawing : drawings) grids.push_back(draw(drawing));
  return grids;
}

/// Owned cells of each local rank from a global array, and back.
template <class T> std::vector<Array2<T>> scatter(const Ranks& ranks, const Grid<T>& grid) {
  std::vector<Array2<T>> local;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    local.push_back(make_array<T>("scattered", p));
    for (const auto& [j, i] : cells_of(p)) local.back()(j, i) = grid(p.global_j(j), p.global_i(i));
  }
  return local;
}

/// The same with ghosts.
template <class T> std::vector<Array2<T>> scatter_with_ghosts(Ranks& ranks, const Grid<T>& grid) {
  const std::vector<Array2<T>> local = scatter(ranks, grid);
  std::vector<std::vector<Ghosted>> ghosted;
  for (const auto& a : local) ghosted.push_back({a});
  ranks.update_ghosts(ghosted);
  return local;
}

template <class T> Grid<T> gather(const Ranks& ranks, const std::vector<Array2<T>>& local) {
  Grid<T> grid(ranks.decomposition().Mx, ranks.decomposition().My);
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    for (const auto& [j, i] : cells_of(p)) grid(p.global_j(j), p.global_i(i)) = local[r](j, i);
  }
  return grid;
}

/// Decompositions (px, py) that fit the grid, from one rank to patches of few cells.
inline std::vector<std::pair<int, int>> decompositions(int Mx, int My) {
  std::vector<std::pair<int, int>> fit;
  for (const auto& [px, py] :
       {std::pair{1, 1}, {2, 1}, {1, 2}, {3, 1}, {2, 2}, {1, 5}, {3, 2}, {4, 3}, {5, 7}, {8, 8}}) {
    if (px <= Mx && py <= My) fit.emplace_back(px, py);
  }
  return fit;
}

/// 1 with probability p.
inline Grid<int> random_mask(int Mx, int My, double p, unsigned seed) {
  std::mt19937 random(seed);
  Grid<int> grid(Mx, My);
  for (int& v : grid.values) v = static_cast<double>(random()) < p * 4294967296.0 ? 1 : 0;
  return grid;
}

/// 4-connected components of the cells whose value satisfies f, by flood fill: numbers 1, 2, ... in
/// raster order of their first cell (elsewhere 0), and how many cells each has.
struct FloodFill {
  Grid<int> number;
  std::vector<int> cells;
};
template <class T, class F> FloodFill flood_fill(const Grid<T>& grid, const F& f) {
  FloodFill c{Grid<int>(grid.Mx, grid.My), {}};
  std::vector<CellIndex> stack;
  for (const auto& [first_j, first_i] : points_of(grid.Mx, grid.My)) {
    if (!f(grid(first_j, first_i)) || c.number(first_j, first_i) != 0) continue;
    c.cells.push_back(0);
    stack.push_back({first_j, first_i});
    c.number(first_j, first_i) = static_cast<int>(c.cells.size());
    while (!stack.empty()) {
      const CellIndex at = stack.back();
      stack.pop_back();
      c.cells.back() += 1;
      for (const auto& [dj, di] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
        const int j = at.j + dj, i = at.i + di;
        if (!grid.inside(j, i) || !f(grid(j, i)) || c.number(j, i) != 0) continue;
        c.number(j, i) = c.number(at.j, at.i);
        stack.push_back({j, i});
      }
    }
  }
  return c;
}

/// A grid of f(j, i).
template <class F> Grid<int> grid_of(int Mx, int My, F f) {
  Grid<int> grid(Mx, My);
  for (const auto& [j, i] : points_of(Mx, My)) grid(j, i) = f(j, i);
  return grid;
}

/// The masks of kernels/cases/masks.hpp.
inline Grid<int> serpentine(int Mx, int My) {
  return grid_of(Mx, My, [=](int j, int i) { return masks::serpentine(Mx, j, i); });
}
inline Grid<int> spiral(int Mx, int My) {
  return grid_of(Mx, My, [=](int j, int i) { return masks::spiral(Mx, My, j, i); });
}
inline Grid<int> comb(int Mx, int My) {
  return grid_of(Mx, My, [=](int j, int i) { return masks::comb(My, j, i); });
}
inline Grid<int> checkerboard(int Mx, int My) { return grid_of(Mx, My, masks::checkerboard); }

/// Masks of 0 and 1 on which labellings and distances go wrong, if they go wrong.
inline std::vector<std::pair<std::string, Grid<int>>> test_masks() {
  std::vector<std::pair<std::string, Grid<int>>> masks = {
      {"serpentine", serpentine(41, 41)},
      {"spiral", spiral(33, 33)},
      {"comb", comb(23, 17)},
      {"checkerboard", checkerboard(16, 19)},
      {"empty", Grid<int>(12, 9)},
      {"full", Grid<int>(12, 9, 1)},
      {"one cell", Grid<int>(1, 1, 1)},
      {"one row", random_mask(29, 1, 0.7, 3)},
      {"one column", random_mask(1, 29, 0.7, 4)}};
  unsigned seed = 10;
  for (const double p : {0.2, 0.45, 0.55, 0.593, 0.65, 0.8, 0.95}) {
    masks.emplace_back("random " + std::to_string(p), random_mask(37, 26, p, ++seed));
  }
  return masks;
}

} // namespace nunatak
