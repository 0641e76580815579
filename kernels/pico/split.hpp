// A shelf that reaches into several basins may be several shelves. Tables only, the same on every
// rank; nothing is communicated.
//
//   basin 1 | basin 2 | basin 3      One shelf, most of it in basin 1. The open ocean in front of
//   basin 1 borders that of s s s s | s s s s | s s          basin 2, not that of basin 3: cells in
//   basin 3 become a shelf of their own, if there is ~ ~ ~ ~ | ~ ~ ~ ~ | ~ ~          a calving
//   front in basin 3.
//
// Basin 0 is no basin: its cells stay with their shelf and count for nothing.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nunatak::pico {

/// Where a table of `basins` basins has the number of (shelf, basin).
KOKKOS_INLINE_FUNCTION std::size_t table_entry(int shelf, int basin, int basins) {
  return static_cast<std::size_t>(shelf) * static_cast<std::size_t>(basins + 1) +
         static_cast<std::size_t>(basin);
}

/// Numbers per (shelf, basin); shelves and basins from 0 (which is none).
struct ShelfTable {
  int shelves = 0;                 ///< shelves are numbered 1..shelves
  int basins = 0;                  ///< basins are numbered 1..basins
  std::vector<std::int64_t> cells; ///< shelf cells
  std::vector<std::int64_t>
      front_cells; ///< of them, those with ice-free ocean among their 4 neighbours

  void reset(int n_shelves, int n_basins) {
    shelves = n_shelves, basins = n_basins;
    const auto size = static_cast<std::size_t>(shelves + 1) * static_cast<std::size_t>(basins + 1);
    cells.assign(size, 0);
    front_cells.assign(size, 0);
  }
  std::size_t at(int shelf, int basin) const { return table_entry(shelf, basin, basins); }
};

/// Divide shelves over basins. `adjacent`: (basins + 1)^2 numbers, non-zero where two basins are
/// neighbours. Returns shelf_of[at(s, b)]: the new number of what shelf s has in basin b. New
/// shelves get the numbers after the old ones, in the order of (shelf, basin); `table` is brought
/// up to date. The main basin is the one with most cells, of several the first.
inline std::vector<int> split_shelves(ShelfTable& table,
                                      const std::vector<std::int64_t>& adjacent) {
  const int shelves = table.shelves, basins = table.basins;
  std::vector<int> shelf_of(table.cells.size());
  for (int s = 1; s <= shelves; ++s) {
    int main = 0;
    for (int b = 1; b <= basins; ++b) {
      if (table.cells[table.at(s, b)] > (main == 0 ? 0 : table.cells[table.at(s, main)])) main = b;
    }
    shelf_of[table.at(s, 0)] = s;
    for (int b = 1; b <= basins; ++b) {
      const bool neighbours =
          b == main || adjacent[static_cast<std::size_t>(b * (basins + 1) + main)] != 0;
      const bool split = !neighbours && table.front_cells[table.at(s, b)] > 0;
      shelf_of[table.at(s, b)] = split ? ++table.shelves : s;
    }
  }
  ShelfTable after;
  after.reset(table.shelves, basins);
  for (int s = 1; s <= shelves; ++s) {
    for (int b = 0; b <= basins; ++b) {
      const std::size_t from = table.at(s, b), to = after.at(shelf_of[from], b);
      after.cells[to] = table.cells[from];
      after.front_cells[to] = table.front_cells[from];
    }
  }
  table = std::move(after);
  return shelf_of;
}

} // namespace nunatak::pico
