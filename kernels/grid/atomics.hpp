// Atomic operations on integers. Kokkos' own lock even with a single thread, and on CPUs their
// loads and stores start with a plain read, which the thread sanitizer reports as a race.
#pragma once

#include "kernels/grid/memory.hpp"

namespace nunatak {

template <class T> KOKKOS_INLINE_FUNCTION T atomic_load(const T* at) {
  if constexpr (loops_on_host)
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  else
    return Kokkos::atomic_load(at);
}
template <class T> KOKKOS_INLINE_FUNCTION void atomic_store(T* at, T n) {
  if constexpr (loops_on_host)
    __atomic_store_n(at, n, __ATOMIC_RELAXED);
  else
    Kokkos::atomic_store(at, n);
}
template <class T> KOKKOS_INLINE_FUNCTION void atomic_add(T* at, T n) {
  if constexpr (one_thread)
    *at += n;
  else
    Kokkos::atomic_add(at, n);
}

} // namespace nunatak
