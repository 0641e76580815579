// A decomposition balanced by work: as many patches as another one, of unequal size, with about the
// same work along x and along y. docs/explanation/performance.md has the gain.
#pragma once

#include "kernels/grid/patch.hpp"

#include <vector>

namespace nunatak {

/// Weight of an ice-free cell relative to an icy one: more than its work, to limit patch sizes.
constexpr double work_without_ice = 0.1;

/// The work of n lines of `cells` cells each, of which icy_cells[0..n - 1] have ice.
template <class Counts>
std::vector<double> work_of_lines(const Counts* icy_cells, std::size_t n, int cells) {
  std::vector<double> work;
  for (std::size_t k = 0; k < n; ++k) {
    const auto ice = static_cast<double>(icy_cells[k]);
    work.push_back(ice + work_without_ice * (cells - ice));
  }
  return work;
}

/// The starts of `parts` patches of at least one line each, and the end.
inline std::vector<int> balanced(const std::vector<double>& work, int parts) {
  double all = 0.0, sum = 0.0;
  for (const double w : work) all += w;
  const int lines = static_cast<int>(work.size());
  std::vector<int> start{0};
  int i = 0;
  for (int r = 1; r < parts; ++r) {
    do sum += work[i++];
    while (i < lines - (parts - r) && sum + 0.5 * work[i] < all * r / parts);
    start.push_back(i);
  }
  start.push_back(lines);
  return start;
}

/// `d` with balanced patches. icy_cells: counts of all columns, then of all rows.
template <class Counts>
Decomposition balanced(Decomposition d, const std::vector<Counts>& icy_cells) {
  const auto Mx = static_cast<std::size_t>(d.Mx), My = static_cast<std::size_t>(d.My);
  d.x = balanced(work_of_lines(icy_cells.data(), Mx, d.My), d.px);
  d.y = balanced(work_of_lines(icy_cells.data() + Mx, My, d.Mx), d.py);
  return d;
}

} // namespace nunatak
