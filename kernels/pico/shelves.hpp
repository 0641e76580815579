// The shelves of PICO: their tables, division over basins, boxes, and the output of the geometry
// (geometry.hpp) for the physics (melt.hpp). No communication.
#pragma once

#include "kernels/grid/list.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nunatak::pico {

// --- boxes: Reese et al. (2018), The Cryosphere 12, 1969, equations (9) to (11)

/// n = 1 + round(sqrt(d / d_max) (n_max - 1)); d, d_max: largest distance to the grounding line on
/// this shelf, on all shelves. 1 if there is no grounding line (d_max = 0).
inline int number_of_boxes(int d, int d_max, int n_max) {
  if (d_max <= 0) return 1;
  return 1 + static_cast<int>(std::round(std::sqrt(static_cast<double>(d) / d_max) * (n_max - 1)));
}

/// Box k of n, where (n - k)/n <= (1 - r)^2 <= (n - k + 1)/n, r = d_gl / (d_gl + d_cf); on ties the
/// larger k; then min(k, d_gl). In integers, the largest k with
///   n d_cf^2 <= (n - k + 1) (d_gl + d_cf)^2
///
///   d_gl  1 2 3 4 5        0: no box, if no grounding line or no front reaches the cell.
///   d_cf  5 4 3 2 1
///   box   1 2 3 3 3   (n = 3)
KOKKOS_INLINE_FUNCTION int box_of(int d_gl, int d_cf, int n) {
  if (d_gl <= 0 || d_cf <= 0) return 0;
  const std::int64_t whole = static_cast<std::int64_t>(d_gl + d_cf) * (d_gl + d_cf);
  const std::int64_t part = static_cast<std::int64_t>(d_cf) * d_cf * n;
  const std::int64_t above = (part + whole - 1) / whole; // n - k + 1 >= this, part > 0
  const int k = static_cast<int>(n + 1 - above);
  return k < d_gl ? k : d_gl;
}

// --- tables of shelves and basins, the same on every rank

/// Index of (shelf, basin) in a table of `basins` basins.
KOKKOS_INLINE_FUNCTION std::size_t table_entry(int shelf, int basin, int basins) {
  return static_cast<std::size_t>(shelf) * static_cast<std::size_t>(basins + 1) +
         static_cast<std::size_t>(basin);
}

/// Numbers per (shelf, basin); 0 is no shelf or basin.
struct ShelfTable {
  int shelves = 0;                       ///< shelves are numbered 1..shelves
  int basins = 0;                        ///< basins are numbered 1..basins
  std::vector<std::int64_t> cells;       ///< shelf cells
  std::vector<std::int64_t> front_cells; ///< those with ice-free ocean among their 4 neighbours
  bool dry = false; ///< no water, 0 K and 0 g kg-1, enters shelves without a front, as in PISM 2.3

  void reset(int n_shelves, int n_basins) {
    shelves = n_shelves;
    basins = n_basins;
    const auto size = static_cast<std::size_t>(shelves + 1) * static_cast<std::size_t>(basins + 1);
    cells.assign(size, 0);
    front_cells.assign(size, 0);
  }
  std::size_t at(int shelf, int basin) const { return table_entry(shelf, basin, basins); }
};

/// A shelf that reaches into several basins may become several shelves.
///
///   basin 1 | basin 2 | basin 3    One shelf, most of it in basin 1. The open ocean in front of
///   s s s s | s s s s | s s        basin 1 borders that of basin 2, not that of basin 3: cells in
///   ~ ~ ~ ~ | ~ ~ ~ ~ | ~ ~        basin 3 become a separate shelf, if they have a front.
///
/// Basin 0 is no basin: its cells stay with their shelf and are not counted. `adjacent`: (basins +
/// 1)^2 numbers, nonzero for neighbouring basins. Returns shelf_of[at(s, b)]: the new number of the
/// part of shelf s in basin b, after the old ones in the order of (shelf, basin); `table` is
/// updated. The main basin is the one with most cells, the first in case of ties.
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
      const bool neighbours = b == main || adjacent[b * (basins + 1) + main] != 0;
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

/// Layout of the only sum of the geometry, in integers:
///   cells of each (shelf, basin) | front cells of each (shelf, basin) | adjacent basins, a square
///   | cells of the domain | members: a bit for each rank that owns cells of the domain of the
///   distances; no other rank sets it, so the sum is the union
class ShelfSum {
public:
  /// For the shelves and basins of `table`, on `ranks` ranks.
  ShelfSum(const ShelfTable& table, int ranks)
      : m_ranks(static_cast<std::size_t>(ranks)), m_table(table.cells.size()),
        m_square(static_cast<std::size_t>((table.basins + 1) * (table.basins + 1))) {}

  std::size_t front_cells() const { return m_table; } ///< cells are at 0; both by ShelfTable::at
  std::size_t adjacent() const { return 2 * m_table; }
  std::size_t domain() const { return adjacent() + m_square; }
  std::size_t size() const { return domain() + 1 + (m_ranks + 63) / 64; }

  void set_domain(int rank, std::int64_t cells, std::vector<std::int64_t>& sums) const {
    sums[domain()] = cells;
    if (cells > 0)
      sums[domain() + 1 + static_cast<std::size_t>(rank / 64)] =
          static_cast<std::int64_t>(std::uint64_t{1} << rank % 64);
  }

  void read(const std::vector<std::int64_t>& sums, ShelfTable& table) const {
    table.cells.assign(sums.begin(), at(sums, front_cells()));
    table.front_cells.assign(at(sums, front_cells()), at(sums, adjacent()));
  }
  std::vector<std::int64_t> adjacent_basins(const std::vector<std::int64_t>& sums) const {
    return {at(sums, adjacent()), at(sums, domain())};
  }
  std::vector<char> members(const std::vector<std::int64_t>& sums) const {
    std::vector<char> all(m_ranks);
    for (std::size_t rank = 0; rank < m_ranks; ++rank)
      all[rank] = static_cast<std::uint64_t>(sums[domain() + 1 + rank / 64]) >> rank % 64 & 1;
    return all;
  }

private:
  static std::vector<std::int64_t>::const_iterator at(const std::vector<std::int64_t>& sums,
                                                      std::size_t n) {
    return sums.begin() + static_cast<std::ptrdiff_t>(n);
  }

  std::size_t m_ranks, m_table, m_square;
};

// --- the result

struct Load {
  std::int64_t largest = 0, total = 0;
  int ranks = 1;

  /// Maximum over mean (1 if there are no cells): the slowdown relative to perfect balance.
  double imbalance() const {
    return total > 0 ? static_cast<double>(largest) / (static_cast<double>(total) / ranks) : 1.0;
  }
};

/// The shelves of one local rank. Positions are j (xm + 2) + i.
struct LocalShelves {
  List<int> cell, shelf, box;    ///< per shelf cell
  List<int> lake;                ///< positions of floating ice in lakes
  List<std::pair<int, int>> sea; ///< ranges of positions: continental shelf
  std::int64_t sea_cells = 0;    ///< in all ranges
  std::int64_t domain_cells = 0; ///< in the domain of the distances

  void clear() {
    for (List<int>* list : {&cell, &shelf, &box, &lake}) list->clear();
    sea.clear();
    sea_cells = domain_cells = 0;
  }
};

/// The result of the geometry, the same on all ranks except `local`.
struct Shelves {
  std::vector<LocalShelves> local;
  ShelfTable table;
  std::vector<int> boxes; ///< number of boxes of each shelf
  int d_max = 0;          ///< largest distance to the grounding line of any shelf cell
  int rounds = 0;         ///< of the distances
  Load domain, shelf;     ///< cells per rank: in the domain of the distances, of shelves
};

} // namespace nunatak::pico
