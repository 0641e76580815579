// Arrays of the model: Kokkos Views over the patch of a rank, with one ring of ghosts, and loops.
//
// Shape and order: (j, i) = (y, x), columns (j, i, k). An owned cell has view indices 1..ym, 1..xm;
// index 0 and ym + 1 (xm + 1) are ghosts. Labels of Views are for profilers and Kokkos' errors
// only.
//
// memory.hpp says where arrays live and how columns lie. Two rules hold for every backend:
//   - Loops are asynchronous. Host code that reads or writes an array fences first;
//     Ranks::update_ghosts does so for its caller (launch_ghosts does not). A reduction into a host
//     variable waits for everything before it.
//   - Work space that only loops touch is a View in WorkMem, which is never moved.
#pragma once

#include "kernels/grid/memory.hpp"
#include "kernels/grid/patch.hpp"

#include <string>
#include <type_traits>

namespace nunatak {

template <class T> using Array2 = Kokkos::View<T**, Kokkos::LayoutRight, Mem>; // (j, i)
template <class T> using SharedArray2 = Shared<T**>; // (j, i), also accessed by the host in place
template <class T> using Array3 = Kokkos::View<T***, ColumnLayout, Mem>; // (j, i, k)

/// A 2-D array over `patch` and its ghosts, filled with zeros. `label`: for profilers.
template <class T> Array2<T> make_array(const std::string& label, const Patch& patch) {
  return Array2<T>(label, patch.ym + 2, patch.xm + 2);
}

template <class T> SharedArray2<T> shared_array(const std::string& label, const Patch& patch) {
  return make_shared<T**>(label, patch.ym + 2, patch.xm + 2);
}

/// A 3-D array over `patch` and its ghosts with `Mz` levels, filled with zeros.
template <class T> Array3<T> make_columns(const std::string& label, const Patch& patch, int Mz) {
  return Array3<T>(label, column_layout(patch.ym + 2, patch.xm + 2, Mz));
}

/// A rectangle of view indices: rows j0..j1 - 1, columns i0..i1 - 1.
struct Cells {
  int j0, j1, i0, i1;
};
inline Cells owned_cells(const Patch& p) { return {1, p.ym + 1, 1, p.xm + 1}; }
inline Cells cells_and_ghosts(const Patch& p) { return {0, p.ym + 2, 0, p.xm + 2}; }
/// The owned cells and the ghosts to the left and below: each has its right and its upper face.
inline Cells cells_with_faces(const Patch& p) { return {0, p.ym + 1, 0, p.xm + 1}; }

// Placed before a loop of independent iterations that the compiler may vectorise; NUNATAK_LANES:
// one of a few, which GCC would rather unroll.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define NUNATAK_INDEPENDENT
#elif defined(__clang__)
#define NUNATAK_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define NUNATAK_INDEPENDENT _Pragma("GCC ivdep")
#define NUNATAK_LANES _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#else
#define NUNATAK_INDEPENDENT
#endif
#ifndef NUNATAK_LANES
#define NUNATAK_LANES NUNATAK_INDEPENDENT
#endif

/// A loop over a row of cells, on CPUs.
template <class F> struct RowLoop {
  F f;
  int i0, i1;
  KOKKOS_INLINE_FUNCTION void operator()(int j) const {
    const F g = f; // a local copy: stores of the loop cannot alias it
    NUNATAK_INDEPENDENT
    for (int i = i0; i < i1; ++i) g(j, i);
  }
  template <class T> KOKKOS_INLINE_FUNCTION void operator()(int j, T& result) const {
    const F g = f;
    T row = result;
    for (int i = i0; i < i1; ++i) g(j, i, row);
    result = row;
  }
};

/// One cell, on GPUs, where i runs over the lanes.
template <class F> struct CellLoop {
  F f;
  int i0, i1; ///< unused
  KOKKOS_INLINE_FUNCTION void operator()(int i, int j) const { f(j, i); }
  template <class T> KOKKOS_INLINE_FUNCTION void operator()(int i, int j, T& result) const {
    f(j, i, result);
  }
};

/// The functor and the range of a loop over cells: rows on CPUs, blocks of 32 x 8 cells on GPUs.
template <class F> using Loop = std::conditional_t<loops_on_host, RowLoop<F>, CellLoop<F>>;
inline auto range_of(const Cells& cells) {
  if constexpr (loops_on_host) {
    return Kokkos::RangePolicy<Exec>(cells.j0, cells.j1);
  } else {
    return Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>({cells.i0, cells.j0}, {cells.i1, cells.j1},
                                                        {32, 8});
  }
}

/// f(j, i) for all of `cells`, rows in parallel. f must not read what it writes for another cell.
template <class F> void for_each_of(const char* label, const Cells& cells, const F& f) {
  Kokkos::parallel_for(label, range_of(cells), Loop<F>{f, cells.i0, cells.i1});
}

/// The same with a reduction that does not depend on the order: f(j, i, T& result) adds to it. T()
/// is the neutral element; += of T is exact (FixedSum, integers, Largest, structs of these).
template <class T, class F> T reduce_over(const char* label, const Cells& cells, const F& f) {
  T result{};
  Kokkos::parallel_reduce(label, range_of(cells), Loop<F>{f, cells.i0, cells.i1}, result);
  return result;
}
/// The same; if `later` is allocated, the result goes there without a wait, and T() is returned.
template <class T, class F>
T reduce_over(const char* label, const Cells& cells, const Later<T>& later, const F& f) {
  if (!later.data()) return reduce_over<T>(label, cells, f);
  Kokkos::parallel_reduce(label, range_of(cells), Loop<F>{f, cells.i0, cells.i1}, later);
  return {};
}

/// The += of a struct of sums as a result of reduce_over: adds the listed members.
template <class T, class... Members>
KOKKOS_INLINE_FUNCTION T& add_each(T& sums, const T& others, Members T::*... member) {
  ((sums.*member += others.*member), ...);
  return sums;
}

/// The largest of non-negative numbers (0 if there are none), as a result of reduce_over.
struct Largest {
  double value = 0.0;
  KOKKOS_INLINE_FUNCTION void see(double x) { value = x > value ? x : value; }
  KOKKOS_INLINE_FUNCTION Largest& operator+=(const Largest& other) {
    see(other.value);
    return *this;
  }
};

/// Loop over the owned cells of a patch, f(j, i) with view indices.
template <class F> void for_each_cell(const char* label, const Patch& patch, const F& f) {
  for_each_of(label, owned_cells(patch), f);
}

/// Loop over the owned cells and all ghosts of a patch, f(j, i) with view indices.
template <class F> void for_each_cell_and_ghost(const char* label, const Patch& patch, const F& f) {
  for_each_of(label, cells_and_ghosts(patch), f);
}

/// Packs of n cells of a row from (j, i) on, for vectorised functions (widths.hpp): f(j, i, n).
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
