// Coarse levels of kernels/multigrid/multigrid.hpp on fewer ranks: blocks of neighbouring patches
// go to the first rank of each block. The other ranks have no part of the coarser levels; they wait
// for what comes back.
//
//   +---+---+---+    2 x 2    +-------+---+    Only messages between these ranks are sent, through
//   the Ranks of all: nobody needs | 6 | 7 | 8 |   patches   |   6   | 8 |    a communicator of
//   those that go on.
//   +---+---+---+   become    +-------+---+
//   | 3 | 4 | 5 |    one:     |       |   |
//   +---+---+---+             |   0   | 2 |
//   | 0 | 1 | 2 |             |       |   |
//   +---+---+---+             +-------+---+
#pragma once

#include "kernels/grid/loggp.hpp"
#include "kernels/multigrid/halo.hpp"

#include <algorithm>
#include <cmath>

namespace nunatak {

/// Blocks of side x side patches, fewer at the ends.
inline Decomposition merged(const Decomposition& d, int side) {
  Decomposition m = d;
  const auto keep = [side](std::vector<int>& starts) {
    std::vector<int> kept;
    for (std::size_t r = 0; r + 1 < starts.size(); r += static_cast<std::size_t>(side))
      kept.push_back(starts[r]);
    kept.push_back(starts.back());
    starts = std::move(kept);
    return static_cast<int>(starts.size()) - 1;
  };
  m.px = keep(m.x), m.py = keep(m.y);
  return m;
}

/// Does one rank smooth a level of n unknown cells in less time than p ranks, each of which has so
/// many rings of ghosts? Per cycle, by the model of kernels/grid/loggp.hpp:
///
///   saved   `rounds` of messages with up to 8 neighbours: 2, of b and of the coarser x, and a
///   share of that of a matrix; 2 more
///           where patches must be merged, too
///   paid    n cells are visited, not sqrt(n/p) + rings along each axis (about half the rings are
///   smoothed, on both sides), and
///           (1 - 1/p) n cells are sent
///
/// A level has a quarter of the cells of the next finer one: if it does not pay for one level, it
/// does not for those above.
struct GatherCost {
  double rounds;
  int rings;
  double visits, bytes; ///< of a cell

  bool pays(const LogGP& machine, double n, int p) const {
    const double side = std::sqrt(n / p) + rings,
                 saved = rounds * machine.round(std::min(p - 1, 8));
    return (n - side * side) * visits * machine.visit + n * (1.0 - 1.0 / p) * bytes * machine.G <=
           saved;
  }
};

/// The side of blocks by which all patches are merged to one in the least time: large ones need few
/// rounds, small ones few messages.
inline int side_to_one(const LogGP& machine, const Decomposition& d) {
  int best = 2;
  double least = -1.0;
  for (int side = 2, enough = 0; enough == 0; side *= 2) {
    enough = side >= std::max(d.px, d.py) ? 1 : 0;
    double seconds = 0.0;
    for (Decomposition m = d; m.size() > 1; m = merged(m, side))
      seconds += machine.round(std::min(side, m.px) * std::min(side, m.py) - 1);
    if (least < 0.0 || seconds < least) best = side, least = seconds;
  }
  return best;
}

/// The way of numbers from the patches of a level to those of the same grid, merged, and back.
class Merge {
public:
  Merge() = default;
  /// Arrays lie over the patches grown by rings - 1 cells, and their ghosts: `fine_rings`, `rings`
  /// of the patches merged, which are not fewer unless one rank has all. At first all cells of a
  /// patch travel. Not collective.
  Merge(const Holders& fine, int fine_rings, const Holders& merged, int rings, int side)
      : m_gather(fine.all()), m_give_back(fine.all()) {
    const Decomposition &d = fine.decomposition(), &m = merged.decomposition();
    for (int n = 0; n < d.size(); ++n) {
      const int block = (n / d.px / side) * m.px + n % d.px / side, child = fine.member(n),
                first = merged.member(block);
      const Patch p = d.patch(n);
      const Strip owned{1, p.ym + 1, 1, p.xm + 1},
          all{1 - fine_rings, p.ym + 1 + fine_rings, 1 - fine_rings, p.xm + 1 + fine_rings};
      if (fine.has(n)) {
        const auto part = static_cast<std::size_t>(n - fine.first());
        const Patch array = grown(p, fine_rings - 1);
        m_gather.start.add(part, fine.place(n - fine.first()), first, places_in(array, p, owned));
        m_give_back.end.add(part, fine.place(n - fine.first()), first, places_in(array, p, all));
      }
      if (merged.has(block)) {
        const auto part = static_cast<std::size_t>(block - merged.first());
        const Patch array = grown(m.patch(block), rings - 1);
        m_gather.end.add(part, merged.place(block - merged.first()), child,
                         places_in(array, p, owned));
        m_give_back.start.add(part, merged.place(block - merged.first()), child,
                              places_in(array, p, all));
      }
    }
    m_gather.list();
  }
  /// From now on only unknowns travel: below[n], above[n] are 1 in those of the local patches,
  /// ghosts included.
  void keep(const std::vector<Array2<int>>& below, const std::vector<Array2<int>>& above) {
    m_gather.keep(below, above), m_give_back.keep(above, below);
  }

  /// `width` numbers of each owned cell that travels: from(patch) of those below becomes to(patch)
  /// of those merged. Communicates: a message from each patch that is not the first of its block.
  template <class F, class G> void gather(int width, const F& from, const G& to) {
    m_gather.move(width, from, to);
  }
  /// And back; give_back: with all ghosts of each patch, which can be had after keep().
  template <class F, class G> void give_back_owned(int width, const F& from, const G& to) {
    m_gather.move_back(width, from, to);
  }
  template <class F, class G> void give_back(int width, const F& from, const G& to) {
    m_give_back.move(width, from, to);
  }

private:
  Route m_gather, m_give_back;
};

} // namespace nunatak
