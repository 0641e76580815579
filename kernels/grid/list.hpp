// Lists of things that the host or loops make and loops read: a std::vector in memory that both sides can reach (memory.hpp).
// What resize() adds has no values yet where loops run on a GPU.
#pragma once

#include "kernels/grid/array.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace nunatak {

template <class T> struct MemAllocator {
  using value_type = T;
  MemAllocator() = default;
  template <class U> MemAllocator(const MemAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(Kokkos::kokkos_malloc<SharedMem>("list", n * sizeof(T))); }
  void deallocate(T* p, std::size_t) { Kokkos::kokkos_free<SharedMem>(p); }
  template <class U> void construct(U* p) { ::new (static_cast<void*>(p)) U; } // resize() writes no zeros: a loop will fill it
  template <class U, class... Args> void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  template <class U> bool operator==(const MemAllocator<U>&) const { return true; }
  template <class U> bool operator!=(const MemAllocator<U>&) const { return false; }
};

template <class T> using List = std::vector<T, std::conditional_t<loops_on_host, std::allocator<T>, MemAllocator<T>>>;

/// f(thing) for each of a list, in parallel.
template <class T, class F> struct ListLoop {
  const T* list;
  F f;
  KOKKOS_INLINE_FUNCTION void operator()(int n) const { f(list[n]); }
};
template <class T, class F> void for_each_in(const char* label, const List<T>& list, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(list.size())), ListLoop<T, F>{list.data(), f});
}

/// f(n) for each place n of a list, in parallel.
template <class T, class F> void for_each_place(const char* label, const List<T>& list, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(list.size())), f);
}

} // namespace nunatak
