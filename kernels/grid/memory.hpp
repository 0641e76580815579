// Where arrays (array.hpp) live, which side can access them, and how the levels of a column lie.
//
// By default both sides access an array: on a CPU it is ordinary memory, on a GPU managed memory,
// which the driver migrates page by page. With -DNUNATAK_DEVICE_MEMORY=ON an array (Mem) is in
// device memory only:
//   - Host code takes a copy (on_host) and copies back what it has written (to_loops). Without the
//     option on_host returns the array itself and to_loops does nothing.
//   - What host and loops both access in place, such as lists and the codes of PICO, is declared
//     shared (SharedMem, shared_array).
// On a CPU the option compiles what a GPU runs. By labels in SharedMem ("shared: ...")
// tests/kernels/as_if_gpu.cpp detects forbidden host accesses to other Views.
#pragma once

#include <Kokkos_Core.hpp>

#include <string>
#include <type_traits>

namespace nunatak {

using Exec = NUNATAK_EXEC_SPACE; // chosen at build time (CMake: NUNATAK_BACKEND)
using WorkMem = Exec::memory_space;

#ifdef NUNATAK_DEVICE_MEMORY
constexpr bool device_memory = true;
#else
constexpr bool device_memory = false;
#endif
/// True if loops are those of a CPU.
constexpr bool loops_on_host =
    !device_memory && Kokkos::SpaceAccessibility<Kokkos::HostSpace, WorkMem>::accessible;
#ifdef KOKKOS_ENABLE_SERIAL
constexpr bool one_thread = std::is_same_v<Exec, Kokkos::Serial>;
#else
constexpr bool one_thread = false;
#endif
/// Memory accessible to both sides; of arrays; of the host, accessible to loops.
using SharedMem = std::conditional_t<loops_on_host, WorkMem, Kokkos::SharedSpace>;
using Mem = std::conditional_t<device_memory, WorkMem, SharedMem>;
using PinnedMem = std::conditional_t<loops_on_host, WorkMem, Kokkos::SharedHostPinnedSpace>;

inline std::string shared_label(const std::string& label) {
  return device_memory ? "shared: " + label : label;
}

/// A View in SharedMem, filled with zeros.
template <class Data> using Shared = Kokkos::View<Data, Kokkos::LayoutRight, SharedMem>;
template <class Data, class... Extents>
Shared<Data> make_shared(const std::string& label, Extents... extents) {
  return Shared<Data>(shared_label(label), static_cast<std::size_t>(extents)...);
}

/// A number, or a struct of numbers, that a loop leaves for the host (reduce_over). Initially 0.
template <class T> using Later = Kokkos::View<T, Kokkos::LayoutRight, PinnedMem>;
template <class T> Later<T> make_later(const std::string& label) {
  return Later<T>(shared_label(label));
}

/// The values of an array for the host: a copy, after all loops, or, if accessible, the array
/// itself.
template <class View> auto on_host(const View& a) {
  if constexpr (device_memory) {
    const Kokkos::View<typename View::non_const_data_type, typename View::array_layout, SharedMem>
        copy(Kokkos::view_alloc(shared_label(a.label()), Kokkos::WithoutInitializing), a.layout());
    Kokkos::deep_copy(copy, a);
    return copy;
  } else {
    return a;
  }
}
/// Copies what the host has written into on_host(a) back to a.
template <class View, class Copy> void to_loops(const View& a, const Copy& on_host) {
  if constexpr (device_memory) Kokkos::deep_copy(a, on_host);
}

/// On a CPU: prefetches n values soon accessed in an order that hardware does not predict.
template <class T> KOKKOS_FORCEINLINE_FUNCTION void prefetch(const T* first, int n = 1) {
  constexpr int step = 64 / sizeof(T);
  if constexpr (loops_on_host) {
    for (int k = 0; k < n; k += step) __builtin_prefetch(first + k);
  }
}

/// True if levels of a column are separate maps (GPUs); on CPUs a column is contiguous.
constexpr bool levels_apart = !loops_on_host;
using ColumnLayout = std::conditional_t<levels_apart, Kokkos::LayoutStride, Kokkos::LayoutRight>;
inline ColumnLayout column_layout(int rows, int columns, int levels) {
  if constexpr (levels_apart)
    return ColumnLayout(rows, columns, columns, 1, levels, rows * columns);
  else
    return ColumnLayout(rows, columns, levels);
}

/// The levels of the column of a cell, bottom first, by [k].
template <class T> struct LevelsApart {
  T* first;
  std::ptrdiff_t step;
  KOKKOS_INLINE_FUNCTION T& operator[](int k) const { return first[k * step]; }
};
template <class T> using LevelsOf = std::conditional_t<levels_apart, LevelsApart<T>, T*>;
template <class View> KOKKOS_INLINE_FUNCTION auto levels_of_cell(const View& a, int j, int i) {
  using T = const typename View::value_type;
  if constexpr (levels_apart)
    return LevelsApart<T>{&a(j, i, 0), static_cast<std::ptrdiff_t>(a.stride(2))};
  else
    return static_cast<T*>(&a(j, i, 0));
}

} // namespace nunatak
