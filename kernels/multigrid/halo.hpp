// The patches of a level of multigrid.hpp: owners, ghosts, and merging onto fewer ranks.
//
// Ghosts are several rings, so that a level needs fewer exchanges. Ghost values are computed
// redundantly, bit by bit as by their owner.
//
//   3 3 3 3 3 3 3 3     o: owned, 1, 2, 3: rings. A loop that needs neighbours is valid in one ring
//   3 2 2 2 2 2 2 3     less than what it reads: with b and x in three rings the smoother of degree
//   3 2 1 1 1 1 2 3     2 (first step, second step, residual) is valid in rings 2, 1 and 0, so that
//   3 2 1 o o 1 2 3     it needs no exchange.
//   3 2 1 o o 1 2 3
//   3 2 1 1 1 1 2 3
//
// Coarse levels on fewer ranks: blocks of neighbouring patches go to the first rank of each block.
// The other ranks wait for the solution.
//
//   +---+---+---+    2 x 2    +-------+---+    Only messages between these ranks are sent, through
//   | 6 | 7 | 8 |   patches   |   6   | 8 |    the Ranks of all: no communicator of the remaining
//   +---+---+---+   become    +-------+---+    ranks is made.
//   | 3 | 4 | 5 |    one:     |       |   |
//   +---+---+---+             |   0   | 2 |
//   | 0 | 1 | 2 |             |       |   |
//   +---+---+---+             +-------+---+
#pragma once

#include "kernels/grid/halo_strips.hpp"
#include "kernels/multigrid/route.hpp"

#include <algorithm>

namespace nunatak {

/// The patches of a level: patch n is on rank member(n) of `all`.
class Holders {
public:
  /// `members`: ascending. `all` must outlive this object.
  Holders(Ranks& all, Decomposition decomposition, std::vector<int> members)
      : m_all(&all), m_decomposition(std::move(decomposition)), m_members(std::move(members)) {
    const auto position = [this](int rank) {
      return static_cast<int>(std::lower_bound(m_members.begin(), m_members.end(), rank) -
                              m_members.begin());
    };
    m_first = position(all.first());
    m_locals = position(all.first() + all.local_size()) - m_first;
  }

  const Decomposition& decomposition() const { return m_decomposition; }
  int local_size() const { return m_locals; } ///< on this process; 0: not involved
  int first() const { return m_first; }
  Turns locals() const { return {*m_all, m_locals, 0, m_members.data() + m_first}; }
  Patch patch(int local) const { return m_decomposition.patch(m_first + local); }
  const std::vector<int>& members() const { return m_members; }
  int member(int n) const { return m_members[n]; }
  Ranks& all() const { return *m_all; }
  /// Index among the local ranks of all().
  int place(int local) const { return member(m_first + local) - m_all->first(); }
  bool has(int n) const { return n >= m_first && n < m_first + m_locals; }

private:
  Ranks* m_all;
  Decomposition m_decomposition;
  std::vector<int> m_members;
  int m_first = 0, m_locals = 0;
};

/// `p` extended by up to `rings` cells within the domain.
inline Patch grown(const Patch& p, int rings) {
  const int x = std::max(p.xs - rings, 0), y = std::max(p.ys - rings, 0);
  return {p.Mx,
          p.My,
          x,
          y,
          std::min(p.xs + p.xm + rings, p.Mx) - x,
          std::min(p.ys + p.ym + rings, p.My) - y};
}

/// A strip at the end of a message in direction (dx, dy), `more` cells wider in the opposite one.
inline Strip widened(Strip s, int dx, int dy, int more) {
  if (dy == 1) s.j0 -= more;
  if (dy == -1) s.j1 += more;
  if (dx == 1) s.i0 -= more;
  if (dx == -1) s.i1 += more;
  return s;
}

/// The positions of a strip of `p` (view indices) in an array over `array`, in raster order.
inline std::vector<int> places_in(const Patch& array, const Patch& p, const Strip& s) {
  std::vector<int> places;
  for (int j = s.j0; j < s.j1; ++j) {
    for (int i = s.i0; i < s.i1; ++i) {
      const int row = p.global_j(j) - array.ys + 1, column = p.global_i(i) - array.xs + 1;
      if (row >= 0 && row <= array.ym + 1 && column >= 0 && column <= array.xm + 1)
        places.push_back(row * row_length(array) + column);
    }
  }
  return places;
}

/// True if each patch has at least `cells` cells along every axis that is cut.
inline bool patches_have(const Decomposition& d, int cells) {
  const auto wide = [cells](const std::vector<int>& starts) {
    for (std::size_t r = 1; starts.size() > 2 && r < starts.size(); ++r) {
      if (starts[r] - starts[r - 1] < cells) return false;
    }
    return true;
  };
  return wide(d.x) && wide(d.y);
}

/// Exchange of `rings` rings of ghosts around the patches of `level`, which have at least as many
/// cells along an axis that is cut. Arrays cover grown(patch, rings - 1) and its ghosts.
inline Route halo(const Holders& level, int rings) {
  const Decomposition& d = level.decomposition();
  Route route(level.all(), d.size() == 1);
  for (const int n : level.locals()) {
    const Patch p = level.patch(n), array = grown(p, rings - 1);
    for_each_message(d, level.first() + n, [&](int dx, int dy, int to, int from) {
      const Strip owned = widened(owned_strip(p, dx, dy), dx, dy, rings - 1);
      const Strip ghosts = widened(ghost_strip(p, -dx, -dy), dx, dy, rings - 1);
      const auto at = static_cast<std::size_t>(n);
      if (to >= 0)
        route.start.add(at, level.place(n), level.member(to), places_in(array, p, owned));
      if (from >= 0)
        route.end.add(at, level.place(n), level.member(from), places_in(array, p, ghosts));
    });
  }
  route.list();
  return route;
}

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
  m.px = keep(m.x);
  m.py = keep(m.y);
  return m;
}

/// Moves values from the patches of a level to the merged patches of the same grid, and back.
class Merge {
public:
  Merge() = default;
  /// Arrays cover patches grown by `fine_rings` - 1 (merged ones: `rings` - 1) cells, and their
  /// ghosts. Initially all cells of a patch are sent. Not collective.
  Merge(const Holders& fine, int fine_rings, const Holders& merged, int rings, int side)
      : m_gather(fine.all()), m_give_back(fine.all()) {
    const Decomposition &d = fine.decomposition(), &m = merged.decomposition();
    for (int n = 0; n < d.size(); ++n) {
      const int block = (n / d.px / side) * m.px + n % d.px / side;
      const int child = fine.member(n);
      const int first = merged.member(block);
      const Patch p = d.patch(n);
      const Strip owned{1, p.ym + 1, 1, p.xm + 1};
      const Strip all{1 - fine_rings, p.ym + 1 + fine_rings, 1 - fine_rings, p.xm + 1 + fine_rings};
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
  /// Restricts messages to unknowns: 1 in below[n], above[n], which include ghosts.
  void keep(const std::vector<Array2<int>>& below, const std::vector<Array2<int>>& above) {
    m_gather.keep(below, above);
    m_give_back.keep(above, below);
  }

  /// Moves `width` values per owned cell from from(patch) below to to(patch) of the merged patches,
  /// CellValues. Communicates: a message from each patch that is not the first of its block.
  template <class F, class G> void gather(int width, const F& from, const G& to) {
    m_gather.move(width, from, to);
  }
  /// The reverse; give_back includes all ghosts of each patch, after keep() only.
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
