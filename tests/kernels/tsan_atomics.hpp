// Read before every source under the thread sanitizer (preset tsan): Kokkos::atomic_load and atomic_store of integers as the
// compiler has them. Those of Kokkos 4.7 read the word as if nobody else wrote it, and then compare and exchange it until nobody
// has: the sanitizer would report the first half of it everywhere, and could not tell it from a race of ours.
#pragma once

namespace desul::Impl {
template <class Order, class Scope> int host_atomic_load(const int* from, Order, Scope) {
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}
template <class Order, class Scope> void host_atomic_store(int* to, int value, Order, Scope) {
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
}
} // namespace desul::Impl
