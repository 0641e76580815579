// Lists that may have millions of entries, for host code: a std::vector whose memory is in huge
// pages where the system has them, and is not touched before it is written. A page of 4 kB that is
// touched for the first time costs as much as writing it ten times.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace nunatak {

template <class T> struct LargeAllocator {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{1} << 21; ///< a huge page, bytes

  LargeAllocator() = default;
  template <class U> LargeAllocator(const LargeAllocator<U>&) {}
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T), whole = (bytes + page - 1) / page * page;
    void* const p = bytes < 2 * page ? std::malloc(bytes) : std::aligned_alloc(page, whole);
    if (p == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * page) madvise(p, whole, MADV_HUGEPAGE); // advice: it may be refused
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) { std::free(p); }
  template <class U> void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  } // resize() writes no zeros
  template <class U, class... Args> void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  template <class U> bool operator==(const LargeAllocator<U>&) const { return true; }
  template <class U> bool operator!=(const LargeAllocator<U>&) const { return false; }
};

/// What resize() adds has no values yet, where T is a number or an aggregate of numbers.
template <class T> using LargeList = std::vector<T, LargeAllocator<T>>;

} // namespace nunatak
