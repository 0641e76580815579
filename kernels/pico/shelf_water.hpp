// Shelf cells in a row, and the water below a shelf: what the loops of the physics go over. Nothing is communicated.
// Neighbours: melt.hpp fills and sums them, shelf_fields.hpp makes fields of them, physics.hpp has the formulas.
#pragma once

#include "kernels/grid/list.hpp"
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

/// The same of one box, for loops.
struct BoxWater {
  double T0, S0, g1; ///< g1: A_1 gamma
  NextBox from;
  bool fallback;
};

/// Shelf cells first..end - 1 of one shelf and box, side by side.
struct Run {
  int shelf, box, slot, first, end; ///< slot: (shelf, box)
};

/// Shelf cells of one owner or of several, as the physics needs them.
struct ShelfCells {
  List<Run> runs;
  List<double> p, x;       ///< of each cell: pressure, dbar; cooling T0 - T1 in box 1, K
  List<std::int64_t> sums; ///< what loops add up

  /// A list of cells of these shelves and boxes, 0..boxes.
  void set(const List<int>& shelf, const List<int>& box, int boxes) {
    const std::size_t cells = shelf.size();
    p.resize(cells), x.resize(cells), runs.clear();
    for (std::size_t n = 0; n < cells;) {
      std::size_t end = n + 1;
      while (end < cells && shelf[end] == shelf[n] && box[end] == box[n]) ++end;
      runs.push_back({shelf[n], box[n], shelf[n] * (boxes + 1) + box[n], static_cast<int>(n), static_cast<int>(end)});
      n = end;
    }
  }
};

} // namespace nunatak::pico
