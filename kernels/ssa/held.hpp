// Which ice of one rank's patch is held, by loops (ssa/unknowns.hpp says by what): a union-find of
// the ice that does not hold itself, in which set 0 is held. In most solves all ice is held, and
// all else is made meanwhile as if it were.
//
// Nothing is communicated; assembly.hpp exchanges ghosts of the marks where ice is held from beyond
// a seam.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/ssa/unknowns.hpp"

namespace nunatak::ssa {

/// Marks the ice inside the domain, in owned cells and ghosts.
inline void mark_ice(const SsaPatch& p, const Decomposition& d) {
  const auto ice = p.ice, mask = p.input.mask;
  const auto tauc = p.input.tauc;
  const Fixed fixed(p);
  const Patch patch = p.patch;
  const bool periodic_x = d.periodic_x, periodic_y = d.periodic_y;
  for_each_cell_and_ghost(
      "ssa: ice", patch, KOKKOS_LAMBDA(int j, int i) {
        const int gi = patch.global_i(i), gj = patch.global_j(j), type = mask(j, i);
        const bool inside = (periodic_x || (gi >= 0 && gi < patch.Mx)) &&
                            (periodic_y || (gj >= 0 && gj < patch.My));
        const bool holds = fixed(j, i) || (type == grounded_ice && tauc(j, i) > 0.0);
        ice(j, i) = !inside || !icy(type) ? no_ice : holds ? held : loose;
      });
}

/// A cell and its neighbours, as the union-find sees them.
struct Sets {
  Forest sets;
  Array2<int> ice;
  int rows, columns;
  explicit Sets(const SsaPatch& p)
      : sets(p.sets), ice(p.ice), rows(p.patch.ym + 2), columns(p.patch.xm + 2) {}

  KOKKOS_INLINE_FUNCTION int of(int j, int i) const { return j * columns + i + 1; }
  KOKKOS_INLINE_FUNCTION bool is(int what, int j, int i) const {
    return j >= 0 && i >= 0 && j < rows && i < columns && ice(j, i) == what;
  }
  KOKKOS_INLINE_FUNCTION bool beside_held(int j, int i) const {
    for (int n = 0; n < 9; ++n) {
      if (is(held, j + n / 3 - 1, i + n % 3 - 1)) return true;
    }
    return false;
  }
  /// The set that a cell begins with: what holds it, or the loose cell to the left or below.
  KOKKOS_INLINE_FUNCTION void begin(int j, int i) const {
    int parent = of(j, i);
    if (ice(j, i) != loose) {
      parent = ice(j, i) == held ? 0 : -1;
    } else if (beside_held(j, i)) {
      parent = 0;
    } else if (is(loose, j, i - 1)) {
      parent = of(j, i - 1);
    } else if (is(loose, j - 1, i)) {
      parent = of(j - 1, i);
    }
    sets.parent(of(j, i)) = parent;
  }
  /// A loose cell joins those to the left and below that are not joined without it.
  KOKKOS_INLINE_FUNCTION void join(int j, int i) const {
    const bool left = is(loose, j, i - 1), below = is(loose, j - 1, i);
    if (left) sets.join(of(j, i), of(j, i - 1));
    if (below && !left) sets.join(of(j, i), of(j - 1, i));
    if (!below && !left && is(loose, j - 1, i - 1)) sets.join(of(j, i), of(j - 1, i - 1));
    if (!below && is(loose, j - 1, i + 1)) sets.join(of(j, i), of(j - 1, i + 1));
  }
  KOKKOS_INLINE_FUNCTION bool is_held(int j, int i) const { return sets.root(of(j, i)) == 0; }
};

/// f(n) for each owned cell and ghost, n = j (xm + 2) + i. Not by for_each_of, whose cells are
/// independent of each other.
template <class F> void for_each_place(const char* label, const SsaPatch& p, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(p.ice.size())), f);
}

/// Joins the loose ice, in owned cells and ghosts.
inline void join_loose(const SsaPatch& p) {
  const Sets sets(p);
  for_each_cell_and_ghost(
      "ssa: sets of ice", p.patch, KOKKOS_LAMBDA(int j, int i) { sets.begin(j, i); });
  for_each_place(
      "ssa: join ice", p, KOKKOS_LAMBDA(int n) {
        if (sets.ice.data()[n] == loose) sets.join(n / sets.columns, n % sets.columns);
      });
}

/// Counts into p.counts: `all_held`: unknowns as if all ice were held.
inline void count(const SsaPatch& p, bool all_held) {
  const Sets sets(p);
  const auto ice = p.ice, unknown = p.unknown;
  const Fixed fixed(p);
  reduce_over<Counts>(
      "ssa: count", owned_cells(p.patch), p.counts, KOKKOS_LAMBDA(int j, int i, Counts& counts) {
        const bool is_loose = ice(j, i) == loose && !sets.is_held(j, i);
        const int is_unknown =
            ice(j, i) != no_ice && (all_held || !is_loose) && !fixed(j, i) ? 1 : 0;
        counts.loose += is_loose ? 1 : 0;
        counts.unknowns += is_unknown;
        counts.changed += is_unknown != unknown(j, i) ? 1 : 0;
      });
}

/// Loose ice of which it is known what holds it is held from now on; with `exclude` the rest is no
/// ice.
inline void settle(const SsaPatch& p, bool exclude) {
  const Sets sets(p);
  for_each_place(
      "ssa: held ice", p, KOKKOS_LAMBDA(int n) {
        int& ice = sets.ice.data()[n];
        if (ice != loose) return;
        if (sets.sets.root(n + 1) == 0)
          ice = held;
        else if (exclude)
          ice = no_ice;
      });
}

/// After an exchange of ghosts: takes over what other ranks hold, and undoes the rest (a ghost
/// beyond the edge of the domain has become a copy of an owned cell).
inline void take_ghosts(const SsaPatch& p) {
  const Sets sets(p);
  for_each_place(
      "ssa: ice of other ranks", p, KOKKOS_LAMBDA(int n) {
        int& ice = sets.ice.data()[n];
        if (atomic_load(&sets.sets.parent(n + 1)) < 0)
          ice = no_ice;
        else if (ice == held)
          sets.sets.join(n + 1, 0);
      });
}

} // namespace nunatak::ssa
