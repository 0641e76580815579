// The patches of a level of kernels/multigrid/multigrid.hpp, which ranks have them, and their
// ghosts: several rings, so that a level needs fewer exchanges. What a rank computes in its ghosts
// is what their owner computes, bit by bit.
//
//   3 3 3 3 3 3 3 3     o: owned, 1, 2, 3: rings. A loop that needs neighbours is right in one ring
//   3 2 2 2 2 2 2 3     less than what it reads: after one exchange of b with three rings the
//   smoother 3 2 1 1 1 1 2 3     of degree 2 (first step, second step, residual) is right in rings
//   3, 2 and 1, 3 2 1 o o 1 2 3     and the last one is what the restriction needs. 3 2 1 o o 1 2 3
//   3 2 1 1 1 1 2 3
#pragma once

#include "kernels/grid/halo_strips.hpp"
#include "kernels/multigrid/route.hpp"

namespace nunatak {

/// The patches of a level: patch n lies on rank member(n) of `all`.
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
  int local_size() const {
    return m_locals;
  } ///< patches of this process; 0: it has no part in the level
  int first() const { return m_first; }
  Patch patch(int local) const { return m_decomposition.patch(m_first + local); }
  const std::vector<int>& members() const { return m_members; }
  int member(int n) const { return m_members[static_cast<std::size_t>(n)]; }
  Ranks& all() const { return *m_all; }
  int place(int local) const {
    return member(m_first + local) - m_all->first();
  } ///< among the local ranks of all()
  bool has(int n) const { return n >= m_first && n < m_first + m_locals; }

private:
  Ranks* m_all;
  Decomposition m_decomposition;
  std::vector<int> m_members;
  int m_first = 0, m_locals = 0;
};

/// `p` and what of the domain is at most `rings` cells away.
inline Patch grown(const Patch& p, int rings) {
  const int x = std::max(p.xs - rings, 0), y = std::max(p.ys - rings, 0);
  return {p.Mx,
          p.My,
          x,
          y,
          std::min(p.xs + p.xm + rings, p.Mx) - x,
          std::min(p.ys + p.ym + rings, p.My) - y};
}

/// A strip at one end of a message that goes in direction (dx, dy), `more` cells wider against that
/// direction.
inline Strip widened(Strip s, int dx, int dy, int more) {
  if (dy == 1) s.j0 -= more;
  if (dy == -1) s.j1 += more;
  if (dx == 1) s.i0 -= more;
  if (dx == -1) s.i1 += more;
  return s;
}

/// The cells of a strip of `p` (view indices) in an array over `array` and its ghosts, in raster
/// order.
inline std::vector<int> places_in(const Patch& array, const Patch& p, const Strip& s) {
  std::vector<int> places;
  for (int j = s.j0; j < s.j1; ++j) {
    for (int i = s.i0; i < s.i1; ++i) {
      const int row = p.global_j(j) - array.ys + 1, column = p.global_i(i) - array.xs + 1;
      if (row >= 0 && row <= array.ym + 1 && column >= 0 && column <= array.xm + 1)
        places.push_back(row * (array.xm + 2) + column);
    }
  }
  return places;
}

/// Has each patch at least so many cells along an axis that is cut?
inline bool patches_have(const Decomposition& d, int cells) {
  const auto wide = [cells](const std::vector<int>& starts) {
    for (std::size_t r = 1; starts.size() > 2 && r < starts.size(); ++r) {
      if (starts[r] - starts[r - 1] < cells) return false;
    }
    return true;
  };
  return wide(d.x) && wide(d.y);
}

/// `rings` rings of ghosts around the patches of `level`, which have at least so many cells along
/// an axis that is cut; one ring where it is periodic. Arrays lie over grown(patch, rings - 1) and
/// its ghosts.
inline Route halo(const Holders& level, int rings) {
  const Decomposition& d = level.decomposition();
  Route route(level.all(), d.size() == 1);
  for (int n = 0; n < level.local_size(); ++n) {
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

} // namespace nunatak
