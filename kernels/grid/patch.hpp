// Domain decomposition: Mx x My cells are cut into px x py rectangular patches, one per rank.
//
//   rank = ry * px + rx            +-----+-----+-----+
//                                  |  3  |  4  |  5  |   ry = 1
//   y (j)                          +-----+-----+-----+
//   ^                              |  0  |  1  |  2  |   ry = 0
//   +--> x (i)                     +-----+-----+-----+
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

/// The rectangle of the grid that one rank owns.
struct Patch {
  int Mx = 0, My = 0; ///< size of the global grid
  int xs = 0, ys = 0; ///< first owned column and row (global indices)
  int xm = 0, ym = 0; ///< number of owned columns and rows

  // Global column (row) of a view index, 1..xm (1..ym) if owned. constexpr for loops on GPUs.
  constexpr int global_i(int i) const { return xs + i - 1; }
  constexpr int global_j(int j) const { return ys + j - 1; }

  /// Global index of the cell with view indices (j, i), in raster order.
  constexpr std::int64_t cell(int j, int i) const {
    return static_cast<std::int64_t>(global_j(j)) * Mx + global_i(i);
  }

  constexpr bool owns(int gj, int gi) const {
    return gi >= xs && gi < xs + xm && gj >= ys && gj < ys + ym;
  }
  constexpr std::int64_t cells() const { return static_cast<std::int64_t>(xm) * ym; }
};

/// f(j, i) for the view indices of all owned cells, row by row, on the host.
template <class F> void for_each_owned(const Patch& p, const F& f) {
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) f(j, i);
  }
}

/// The decomposition of the grid into patches, the same on every rank.
struct Decomposition {
  int Mx = 0, My = 0;      ///< global grid
  int px = 1, py = 1;      ///< ranks along x and y
  bool periodic_x = false; ///< cell 0 and cell Mx - 1 of a row are neighbours
  bool periodic_y = false;
  std::vector<int> x, y; ///< x[r]..x[r+1]: columns of patch r along x; sizes px + 1, py + 1

  int size() const { return px * py; }

  Patch patch(int rank) const {
    const int rx = rank % px, ry = rank / px;
    return {Mx, My, x[rx], y[ry], x[rx + 1] - x[rx], y[ry + 1] - y[ry]};
  }

  /// Rank of the neighbour in direction (dx, dy), each -1, 0 or 1; -1 beyond a non-periodic edge.
  int neighbour(int rank, int dx, int dy) const {
    int rx = rank % px + dx, ry = rank / px + dy;
    if (periodic_x) rx = (rx + px) % px;
    if (periodic_y) ry = (ry + py) % py;
    return (rx < 0 || rx >= px || ry < 0 || ry >= py) ? -1 : ry * px + rx;
  }

  /// px x py patches of Mx / px columns each, the first Mx % px along x one more; rows alike:
  /// PETSc's DMDACreate2d, for ranks without a DMDA (virtual ranks, tools; see
  /// miniapp/model/dmda.hpp). Throws std::invalid_argument if a patch would have no cell.
  static Decomposition make(int Mx, int My, int px, int py) {
    if (Mx < 1 || My < 1) {
      throw std::invalid_argument("grid of " + std::to_string(Mx) + " x " + std::to_string(My) +
                                  " cells: expected at least 1 x 1");
    }
    if (px < 1 || py < 1 || px > Mx || py > My) {
      throw std::invalid_argument(
          "grid too small for the ranks: " + std::to_string(Mx) + " x " + std::to_string(My) +
          " cells cannot be cut into " + std::to_string(px) + " x " + std::to_string(py) +
          " patches of at least one cell; use fewer ranks or a larger grid");
    }
    Decomposition d;
    d.Mx = Mx;
    d.My = My;
    d.px = px;
    d.py = py;
    const auto cut = [](int cells, int parts) {
      std::vector<int> start{0};
      for (int r = 0; r < parts; ++r)
        start.push_back(start.back() + cells / parts + (r < cells % parts ? 1 : 0));
      return start;
    };
    d.x = cut(Mx, px);
    d.y = cut(My, py);
    return d;
  }

  /// The decomposition of PETSc's DMDACreate2d into `ranks` patches: px is the largest divisor of
  /// `ranks` that is at most sqrt(Mx ranks / My), rounded, so that patches are about square; if px
  /// < py on a wide grid (Mx > My), the two are exchanged.
  static Decomposition make(int Mx, int My, int ranks) {
    if (Mx < 1 || My < 1 || ranks < 1) return make(Mx, My, ranks, 1); // throws
    int px = std::max(1, static_cast<int>(0.5 + std::sqrt(static_cast<double>(Mx) * ranks / My)));
    px = std::min(px, ranks);
    while (ranks % px != 0) --px;
    const int py = ranks / px;
    return Mx > My && px < py ? make(Mx, My, py, px) : make(Mx, My, px, py);
  }
};

} // namespace nunatak
