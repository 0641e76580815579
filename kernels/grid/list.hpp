// Lists: a std::vector in memory that host and loops reach (List; memory.hpp), or of the host alone
// (LargeList); in huge pages where the system offers them, untouched until written (a first touch
// of a 4 kB page costs ten times its write). Scans compute positions of cells in a list.
#pragma once

#include "kernels/grid/array.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace nunatak {

/// resize() leaves new elements uninitialised if T is a number or an aggregate of numbers.
/// `for_loops`: loops access the memory, too.
template <class T, bool for_loops> struct ListAllocator {
  using value_type = T;
  template <class U> struct rebind { using other = ListAllocator<U, for_loops>; };
  static constexpr bool managed = for_loops && !std::is_same_v<SharedMem, Kokkos::HostSpace>;
  static constexpr std::size_t page = std::size_t{1} << 21; ///< a huge page, bytes

  ListAllocator() = default;
  template <class U> ListAllocator(const ListAllocator<U, for_loops>&) {}
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T), whole = (bytes + page - 1) / page * page;
    if constexpr (managed) return static_cast<T*>(Kokkos::kokkos_malloc<SharedMem>("list", bytes));
    void* const p = bytes < 2 * page ? std::malloc(bytes) : std::aligned_alloc(page, whole);
    if (p == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * page) madvise(p, whole, MADV_HUGEPAGE); // a hint: it may fail
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t) {
    if constexpr (managed)
      Kokkos::kokkos_free<SharedMem>(p);
    else
      std::free(p);
  }
  template <class U> void construct(U* p) { ::new (static_cast<void*>(p)) U; }
  template <class U, class... Args> void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  template <class U> bool operator==(const ListAllocator<U, for_loops>&) const { return true; }
  template <class U> bool operator!=(const ListAllocator<U, for_loops>&) const { return false; }
};
template <class T> using LargeList = std::vector<T, ListAllocator<T, false>>;
template <class T> using List = std::vector<T, ListAllocator<T, true>>;

/// f(element) for each element of a list, in parallel.
template <class T, class F> struct ListLoop {
  const T* list;
  F f;
  KOKKOS_INLINE_FUNCTION void operator()(int n) const { f(list[n]); }
};
template <class T, class F> void for_each_in(const char* label, const List<T>& list, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(list.size())),
                       ListLoop<T, F>{list.data(), f});
}

/// f(n) for each position n of a list, in parallel.
template <class T, class F>
void for_each_place(const char* label, const List<T>& list, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(list.size())), f);
}

/// Prefix sum over first..end - 1: f(n, T& before, bool last) adds its contribution to that of all
/// smaller numbers (T: see reduce_over) and may use it where `last` is set; it may also be called
/// without. The sum goes into `total`, if given, without a wait. A single CPU thread makes one pass
/// over the numbers; Kokkos' scan makes two.
template <class T, class F>
void scan_range(const char* label, int first, int end, const F& f, const Later<T>& total = {}) {
  if constexpr (loops_on_host) {
    if (Exec().concurrency() == 1) {
      const auto once = [=](int) {
        T before{};
        for (int n = first; n < end; ++n) f(n, before, true);
        if (total.data() != nullptr) total() = before;
      };
      return Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, 1), once);
    }
  }
  if (first == end) { // on a GPU Kokkos' scan leaves the total as it was
    if (total.data() != nullptr)
      Kokkos::parallel_for(
          label, Kokkos::RangePolicy<Exec>(0, 1), KOKKOS_LAMBDA(int) { total() = T{}; });
  } else if (total.data() != nullptr)
    Kokkos::parallel_scan(label, Kokkos::RangePolicy<Exec>(first, end), f, total);
  else
    Kokkos::parallel_scan(label, Kokkos::RangePolicy<Exec>(first, end), f);
}

/// The body of a scan: a row of cells on CPUs, one cell on GPUs.
template <class T, class F> struct ScanLoop {
  using value_type = T;
  F f;
  Cells cells;
  KOKKOS_INLINE_FUNCTION void operator()(int n, T& before, bool last) const {
    if constexpr (loops_on_host) {
      const F g = f;
      T row = before;
      for (int i = cells.i0; i < cells.i1; ++i) g(n, i, row, last);
      before = row;
    } else {
      const int width = cells.i1 - cells.i0;
      f(cells.j0 + n / width, cells.i0 + n % width, before, last);
    }
  }
};

/// Positions of cells in a list in raster order: f and `total` as in scan_range.
template <class T, class F>
void scan_over(const char* label, const Cells& cells, const Later<T>& total, const F& f) {
  const int rows = cells.j1 - cells.j0;
  const int iterations = loops_on_host ? rows : rows * (cells.i1 - cells.i0);
  const int first = loops_on_host ? cells.j0 : 0;
  scan_range(label, first, first + iterations, ScanLoop<T, F>{f, cells}, total);
}

} // namespace nunatak
