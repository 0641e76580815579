// Distances by breadth-first search (see distance.hpp).
//
//   patch 0     | patch 1      1. Each patch searches from its own seeds, with a queue: each cell is visited once.
//   1 2 3 4     | 0 0 0        2. Ghosts are exchanged. A cell next to a ghost of value v is offered v + 1; offers that are
//             4 > 5            better than what the cell has are accepted, and the search goes on from them, smallest first.
//   5 < 6 . . . | 6 . .        3. Until no offer is accepted anywhere. A path that crosses seams n times needs n rounds, and one
//                                 more to see that nothing changes.
//
// Every value is the length of a path, values only decrease, and where no offer is better they are the distances: the fixed
// point is the same for every order of events, hence for every decomposition. There is no bound on the length of a path.
// Whether anything changed is asked (one collective) only after 4, 8, 16, ... rounds: rounds too many cost nothing but
// their messages.
#pragma once

#include "kernels/distance_types.hpp"

#include <algorithm>

namespace nunatak {

/// Positions of the cells of value 1.
inline DistanceSeeds find_seeds(const Ranks& ranks, const DistanceFields& fields) {
  DistanceSeeds seeds(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      seeds[f].emplace_back();
      const Patch p = ranks.patch(r);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          if (fields[f][r](j, i) == 1) seeds[f].back().push_back(j * (p.xm + 2) + i);
        }
      }
    }
  }
  return seeds;
}

/// The search on one patch. d: one field with its ghosts, flat.
class PatchSearch {
public:
  PatchSearch(const Patch& patch, int* d) : m_patch(patch), m_row(patch.xm + 2), m_d(d) {}

  /// Ghosts become -1: the search does not leave the patch.
  void close_ghosts() {
    for (int i = 0; i < m_row; ++i) m_d[i] = m_d[(m_patch.ym + 1) * m_row + i] = -1;
    for (int j = 1; j <= m_patch.ym; ++j) m_d[j * m_row] = m_d[j * m_row + m_patch.xm + 1] = -1;
  }

  /// Accept the offers of the ghosts to the cells next to them.
  void collect_offers() {
    m_offers.clear();
    for (int i = 1; i <= m_patch.xm; ++i) {
      offer(i, m_row + i);
      offer((m_patch.ym + 1) * m_row + i, m_patch.ym * m_row + i);
    }
    for (int j = 1; j <= m_patch.ym; ++j) {
      offer(j * m_row, j * m_row + 1);
      offer(j * m_row + m_patch.xm + 1, j * m_row + m_patch.xm);
    }
    std::sort(m_offers.begin(), m_offers.end());
  }

  /// Search from `seeds`, whose values are 1.
  void from_seeds(const std::vector<int>& seeds) {
    m_queue.assign(seeds.begin(), seeds.end());
    for (std::size_t n = 0; n < m_queue.size(); ++n) visit(m_queue[n]);
  }

  /// Search from the offers. Two sorted queues are merged: offers not yet used, and cells reached. True if one was accepted.
  bool from_offers() {
    bool accepted = false;
    m_queue.clear();
    std::size_t head = 0;
    for (std::size_t n = 0; n < m_offers.size() || head < m_queue.size();) {
      if (n < m_offers.size() && (head == m_queue.size() || m_offers[n].value <= m_d[m_queue[head]])) {
        const Offer& o = m_offers[n++];
        if (!better(o.value, o.cell)) continue;
        accepted = true;
        m_d[o.cell] = o.value;
        visit(o.cell);
      } else {
        visit(m_queue[head++]);
      }
    }
    return accepted;
  }

private:
  struct Offer {
    int value, cell;
    bool operator<(const Offer& o) const { return value != o.value ? value < o.value : cell < o.cell; }
  };

  bool better(int value, int cell) const { return m_d[cell] == 0 || m_d[cell] > value; }

  void offer(int ghost, int cell) {
    if (m_d[ghost] > 0 && better(m_d[ghost] + 1, cell)) m_offers.push_back({m_d[ghost] + 1, cell});
  }

  void visit(int cell) {
    const int value = m_d[cell] + 1;
    for (const int neighbour : {cell - 1, cell + 1, cell - m_row, cell + m_row}) {
      if (!better(value, neighbour)) continue;
      m_d[neighbour] = value;
      m_queue.push_back(neighbour);
    }
  }

  Patch m_patch;
  int m_row;
  int* m_d;
  std::vector<int> m_queue;
  std::vector<Offer> m_offers;
};

inline DistanceReport bfs_distances(Ranks& ranks, const DistanceFields& fields, const DistanceSeeds& seeds,
                                    const DistanceMaxima& maxima) {
  const int locals = ranks.local_size();
  std::vector<std::vector<Ghosted>> ghosted(static_cast<std::size_t>(locals));
  std::vector<std::vector<PatchSearch>> searches(static_cast<std::size_t>(locals));
  for (int r = 0; r < locals; ++r) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      ghosted[r].push_back(fields[f][r]);
      searches[r].emplace_back(ranks.patch(r), fields[f][r].data());
      searches[r].back().close_ghosts();
      searches[r].back().from_seeds(seeds[f][r]);
    }
  }
  DistanceReport report;
  std::vector<char> changed(static_cast<std::size_t>(locals), 0);
  int until = ranks.decomposition().size() == 1 ? 0 : 4;
  do {
    for (; report.rounds < until; ++report.rounds) {
      ranks.update_ghosts(ghosted);
      for (int r = 0; r < locals; ++r) {
        changed[r] = 0;
        for (PatchSearch& search : searches[r]) {
          search.collect_offers();
          search.close_ghosts();
          if (search.from_offers()) changed[r] = 1;
        }
      }
    }
    until *= 2;
  } while (anything_changed(ranks, changed, maxima, report));
  return report;
}

} // namespace nunatak
