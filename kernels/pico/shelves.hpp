// What the geometry of PICO hands on to the physics. Lists are for loops; the host fences before it
// reads them. Neighbours: geometry.hpp makes it, melt.hpp uses it.
#pragma once

#include "kernels/grid/list.hpp"
#include "kernels/pico/split.hpp"

#include <utility>
#include <vector>

namespace nunatak::pico {

/// Cells per rank.
struct Load {
  std::int64_t largest = 0, total = 0;
  int ranks = 1;

  /// Largest over mean, 1 if there are no cells: the time of the slowest rank over that of a
  /// perfect balance.
  double imbalance() const {
    return total > 0 ? static_cast<double>(largest) / (static_cast<double>(total) / ranks) : 1.0;
  }
};

/// The shelves of one local rank. Positions are j (xm + 2) + i.
struct LocalShelves {
  List<int> cell, shelf, box;    ///< of each shelf cell
  List<int> lake;                ///< positions of floating ice in lakes
  List<std::pair<int, int>> sea; ///< ranges of positions: continental shelf
  std::int64_t sea_cells = 0;    ///< of all ranges
  std::int64_t domain_cells = 0; ///< of the domain of the distances

  void clear() {
    cell.clear(), shelf.clear(), box.clear(), lake.clear(), sea.clear(),
        sea_cells = domain_cells = 0;
  }
};

/// The same on all ranks, but `local`.
struct Shelves {
  std::vector<LocalShelves> local;
  ShelfTable table;
  List<int> boxes;    ///< number of boxes of each shelf
  int d_max = 0;      ///< largest distance to the grounding line of any shelf cell
  int rounds = 0;     ///< of the distances
  Load domain, shelf; ///< cells per rank: of the domain of the distances, of shelves
};

} // namespace nunatak::pico
