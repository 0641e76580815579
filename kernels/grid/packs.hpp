// Loops over packs of cells of a row, for functions that take several cells at once (widths.hpp).
// See array.hpp.
#pragma once

#include "kernels/grid/array.hpp"

namespace nunatak {

/// What a loop over packs of cells of a row does with one of them: f(j, i, n), n cells from (j, i)
/// on.
constexpr int cells_at_once = loops_on_host ? 64 : 1;
template <class F> struct PackLoop {
  F f;
  int i0, i1;
  KOKKOS_INLINE_FUNCTION int first(int pack) const { return i0 + cells_at_once * pack; }
  KOKKOS_INLINE_FUNCTION int size(int i) const {
    return i1 - i < cells_at_once ? i1 - i : cells_at_once;
  }
  KOKKOS_INLINE_FUNCTION void operator()(int j, int pack) const {
    f(j, first(pack), size(first(pack)));
  }
  template <class T> KOKKOS_INLINE_FUNCTION void operator()(int j, int pack, T& result) const {
    f(j, first(pack), size(first(pack)), result);
  }
};
inline Cells packs_in(const Cells& cells) {
  return {cells.j0, cells.j1, 0, (cells.i1 - cells.i0 + cells_at_once - 1) / cells_at_once};
}

/// for_each_of and reduce_over with packs of cells.
template <class F> void for_each_pack(const char* label, const Cells& cells, const F& f) {
  for_each_of(label, packs_in(cells), PackLoop<F>{f, cells.i0, cells.i1});
}
template <class T, class F>
T reduce_over_packs(const char* label, const Cells& cells, const Later<T>& later, const F& f) {
  return reduce_over<T>(label, packs_in(cells), later, PackLoop<F>{f, cells.i0, cells.i1});
}

} // namespace nunatak
