// Values of the border cells of patches, exchanged between neighbours, for labels that are not in
// an array (labels.hpp).
//
//   ghost | cell .  .   The owned cells along the sides of a patch are numbered: west, east (ym
//         |  .   .  .   each, from the south), south, north (xm each, from the west). A corner cell
//         |  .   .  .   has two numbers. Each belongs to one neighbouring ghost; after the exchange
//                       its place holds what the neighbour has in the place of that ghost.
#pragma once

#include "kernels/grid/ranks.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace nunatak {

/// `fields` values per border cell, for all local ranks: data(local)[n * fields + f].
class BorderExchange {
public:
  /// A side of a patch with a neighbour beyond it.
  struct Side {
    int dx, dy;
    int first, cells; ///< numbers of its border cells
  };

  /// `ranks` must outlive this object.
  BorderExchange(Ranks& ranks, int fields)
      : m_ranks(ranks), m_fields(static_cast<std::size_t>(fields)) {
    const auto locals = static_cast<std::size_t>(ranks.local_size());
    m_sides.resize(locals);
    m_out.resize(locals);
    m_data.resize(locals);
    for (const int r : ranks.locals()) {
      const Patch p = ranks.patch(r);
      const std::array<Side, 4> sides = {{{-1, 0, 0, p.ym},
                                          {1, 0, p.ym, p.ym},
                                          {0, -1, 2 * p.ym, p.xm},
                                          {0, 1, 2 * p.ym + p.xm, p.xm}}};
      for (const Side& s : sides) {
        const int neighbour =
            ranks.decomposition().neighbour(ranks.first() + static_cast<int>(r), s.dx, s.dy);
        if (neighbour < 0) continue;
        m_sides[r].push_back(s);
        m_out[r].push_back({neighbour, std::vector<int>(words(s))});
      }
      m_data[r].resize(static_cast<std::size_t>(2 * (p.xm + p.ym)) * m_fields);
    }
    m_in = m_out;
  }

  std::vector<int>& data(std::size_t local) { return m_data[local]; }
  const std::vector<Side>& sides(std::size_t local) const { return m_sides[local]; }

  /// One message to each neighbour beyond a side. Cells at the domain edge keep their values.
  void exchange() {
    for (const int r : m_ranks.locals()) {
      for (std::size_t s = 0; s < m_sides[r].size(); ++s)
        m_out[r][s].words.assign(at(r, s), at(r, s) + words(m_sides[r][s]));
    }
    m_ranks.exchange(m_out, m_in);
    for (const int r : m_ranks.locals()) {
      for (std::size_t s = 0; s < m_sides[r].size(); ++s)
        std::copy(m_in[r][s].words.begin(), m_in[r][s].words.end(), at(r, s));
    }
  }

private:
  std::size_t words(const Side& s) const { return static_cast<std::size_t>(s.cells) * m_fields; }
  int* at(std::size_t r, std::size_t s) {
    return m_data[r].data() + static_cast<std::size_t>(m_sides[r][s].first) * m_fields;
  }

  Ranks& m_ranks;
  std::size_t m_fields;
  std::vector<std::vector<Side>> m_sides;
  std::vector<std::vector<Packet>> m_out, m_in; // one per side
  std::vector<std::vector<int>> m_data;         // [local]
};

} // namespace nunatak
