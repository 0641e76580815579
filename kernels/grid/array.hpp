// Arrays of the model: Kokkos Views over one rank's patch of the grid, with one ring of ghosts.
//
// Shape and order: (j, i) = (y, x), columns (j, i, k) contiguous in z. An owned cell has view indices 1..ym, 1..xm; index 0
// and ym + 1 (xm + 1) are ghosts. The label of a View is for profilers and for errors of Kokkos only: names in files are given
// with the View, never taken from it. This is the only file that knows which Kokkos backend was chosen.
//
// Where arrays live: host code reads and writes some of them (the ghost exchange, labels, files), so their memory is one that
// both sides can reach. On a CPU it is the memory; for a GPU it is memory that the driver moves to the side that touches it, page
// by page. Two rules follow, and hold for every backend:
//   - A loop returns before it is done. Host code that reads or writes an array fences first; Ranks::update_ghosts does it for
//     its caller, and a reduction into a host variable has waited for all that came before it.
//   - What only loops use (work space of an algorithm) is a View in WorkMem, which is never moved.
#pragma once

#include "kernels/grid/patch.hpp"

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

namespace nunatak {

using Exec = NUNATAK_EXEC_SPACE; // the execution space chosen at build time (CMake: NUNATAK_BACKEND)
using WorkMem = Exec::memory_space;

/// Do loops run in the host's memory? (A CPU: yes.)
constexpr bool loops_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, WorkMem>::accessible;
using Mem = std::conditional_t<loops_on_host, WorkMem, Kokkos::SharedSpace>; ///< see above

template <class T> using Array2 = Kokkos::View<T**, Kokkos::LayoutRight, Mem>;  // (j, i)
template <class T> using Array3 = Kokkos::View<T***, Kokkos::LayoutRight, Mem>; // (j, i, k)

/// Four numbers that are multiplied and added together, in one register where the compiler is told how.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
template <class Real> struct FourNumbers {
  typedef Real type __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));
};
template <class Real> using Four = typename FourNumbers<Real>::type;
#else
template <class Real> struct Four {
  Real n[4];
  KOKKOS_INLINE_FUNCTION Real operator[](int m) const { return n[m]; }
  KOKKOS_INLINE_FUNCTION Four operator*(const Four& o) const {
    return {n[0] * o.n[0], n[1] * o.n[1], n[2] * o.n[2], n[3] * o.n[3]};
  }
  KOKKOS_INLINE_FUNCTION Four& operator+=(const Four& o) {
    for (int m = 0; m < 4; ++m) n[m] += o.n[m];
    return *this;
  }
};
#endif

/// A 2-D array over `patch` and its ghosts, filled with zeros. `label`: for profilers.
template <class T> Array2<T> make_array(const std::string& label, const Patch& patch) {
  return Array2<T>(label, patch.ym + 2, patch.xm + 2);
}

/// A 3-D array over `patch` and its ghosts with `Mz` levels, filled with zeros.
template <class T> Array3<T> make_columns(const std::string& label, const Patch& patch, int Mz) {
  return Array3<T>(label, patch.ym + 2, patch.xm + 2, Mz);
}

/// Loop over the owned cells of a patch, f(j, i) with view indices. `label` names the loop in profiles.
template <class F> void for_each_cell(const char* label, const Patch& patch, const F& f) {
  Kokkos::parallel_for(label, Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>({1, 1}, {patch.ym + 1, patch.xm + 1}), f);
}

/// Loop over the owned cells and all ghosts of a patch, f(j, i) with view indices.
template <class F> void for_each_cell_and_ghost(const char* label, const Patch& patch, const F& f) {
  Kokkos::parallel_for(label, Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>>({0, 0}, {patch.ym + 2, patch.xm + 2}), f);
}

} // namespace nunatak
