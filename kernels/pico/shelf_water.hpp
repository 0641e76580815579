// Shelf cells in a row, and the water below a shelf: what the loops of the physics go over. Nothing is communicated.
// Neighbours: melt.hpp fills and sums them, physics.hpp has the formulas.
#pragma once

#include "kernels/pico/physics.hpp"

#include <cstdint>
#include <vector>

namespace nunatak::pico {

/// Water below one shelf, box by box.
struct ShelfWater {
  double T0 = default_T0, S0 = default_S0; ///< before the clip
  std::vector<std::int64_t> cells;         ///< of box 0, 1, ..., n_max
  std::vector<double> mean_p;              ///< dbar
  std::vector<double> T, S;                ///< means over the box
  std::vector<NextBox> from;               ///< how box k follows from box k - 1
  double q = 0.0;                          ///< mean overturning of box 1, m3 s-1

  /// Box 0, a box after an empty one, and all boxes if there is no overturning: no box water.
  bool fallback(int k) const {
    if (k == 0) return true;
    return k >= 2 && (cells[static_cast<std::size_t>(k - 1)] == 0 || cells[1] == 0);
  }
};

/// Shelf cells of one owner or of several, as the physics needs them.
struct ShelfCells {
  const int *shelf = nullptr, *box = nullptr;
  std::vector<double> p; ///< dbar; as many as there are cells
  std::vector<double> x; ///< cooling T0 - T1 in box 1, K

  /// f(shelf, box, first, end) for each run of cells of one shelf and box: what depends on these is computed once.
  template <class F> void for_each_run(const F& f) const {
    for (std::size_t n = 0; n < p.size();) {
      std::size_t end = n + 1;
      while (end < p.size() && shelf[end] == shelf[n] && box[end] == box[n]) ++end;
      f(shelf[n], box[n], n, end);
      n = end;
    }
  }
};

/// What the physics gives to a cell.
struct CellMelt {
  double T, S, T0, q, melt, base; ///< K, g kg-1, K, m3 s-1, m s-1 of ice, K
};

/// f(n, CellMelt) for cells of box k of a shelf; gamma and C as in PicoOptions.
template <class F>
void melt_of_run(const ShelfWater& w, int k, double gamma, double C, const ShelfCells& cells, std::size_t first, std::size_t end,
                 const F& f) {
  const double *p = cells.p.data(), *x = cells.x.data(), T_in = w.T0, S0 = w.S0;
  if (k == 1) {
    for (std::size_t n = first; n < end; ++n) {
      const double T0 = clip_T0(T_in, S0, p[n]), T = T0 - x[n], S = box_one_S(S0, x[n]);
      f(n, CellMelt{T, S, T0, overturning(C, S0, x[n]), melt_rate(gamma, T, S, p[n]), T_in_situ(S, p[n])});
    }
  } else if (w.fallback(k)) {
    for (std::size_t n = first; n < end; ++n) {
      const double T0 = clip_T0(T_in, S0, p[n]);
      f(n, CellMelt{T0, S0, T0, 0.0, fallback_melt_rate(gamma, T0, S0, p[n]), T_in_situ(S0, p[n])});
    }
  } else {
    const NextBox from = w.from[static_cast<std::size_t>(k)];
    for (std::size_t n = first; n < end; ++n) {
      const double T = from.T_k(p[n]), S = from.S_k(T);
      f(n, CellMelt{T, S, clip_T0(T_in, S0, p[n]), 0.0, melt_rate(gamma, T, S, p[n]), T_in_situ(S, p[n])});
    }
  }
}

} // namespace nunatak::pico
