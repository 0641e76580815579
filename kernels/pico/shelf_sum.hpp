// The one sum of the geometry of PICO: where its numbers are. All are integers; nothing is
// communicated here.
//
//   cells of each (shelf, basin) | front cells of each (shelf, basin) | adjacent basins, a square |
//   cells of the domain | members
//
// Members are the ranks that own cells of the domain of the distances: a bit for each rank, which
// no other rank sets, so that the sum is their union. Neighbours: geometry.hpp fills it, split.hpp
// has the table.
#pragma once

#include "kernels/pico/split.hpp"

namespace nunatak::pico {

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

  /// What `rank` knows of its part of the domain.
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

} // namespace nunatak::pico
