// A union-find over integers by loops on the execution space, with atomics: the result does not
// depend on the order of the joins. Used by ssa/unknowns.hpp.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/atomics.hpp"

namespace nunatak {

/// Disjoint sets of integers. The root of a set is its smallest member; parents are smaller.
struct Forest {
  Kokkos::View<int*, WorkMem> parents;

  KOKKOS_INLINE_FUNCTION int& parent(int c) const { return parents(c); }
  /// The root of the set of c. Parents are replaced by grandparents; other threads may do the same.
  KOKKOS_INLINE_FUNCTION int root(int c) const {
    int up = atomic_load(&parent(c));
    while (up != c) {
      const int further = atomic_load(&parent(up));
      if (further != up) atomic_store(&parent(c), further);
      c = up;
      up = further;
    }
    return c;
  }
  /// Only a current root gets a new parent; otherwise the join is retried from its root.
  KOKKOS_INLINE_FUNCTION void join(int a, int b) const {
    a = root(a);
    b = root(b);
    while (a != b) {
      const int larger = Kokkos::max(a, b), smaller = Kokkos::min(a, b);
      const int found = Kokkos::atomic_compare_exchange(&parent(larger), larger, smaller);
      if (found == larger) return;
      a = root(found);
      b = smaller;
    }
  }
};

} // namespace nunatak
