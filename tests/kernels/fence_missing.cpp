// For the test of as_if_gpu.cpp: a loop, and then the host reads what it wrote; with an argument it
// fences before.
#include "kernels/grid/array.hpp"

int main(int argc, char**) {
  const Kokkos::ScopeGuard kokkos;
  const Kokkos::View<int*, nunatak::Mem> numbers("numbers", 3000);
  Kokkos::parallel_for(
      "squares", Kokkos::RangePolicy<nunatak::Exec>(0, 3000),
      KOKKOS_LAMBDA(int n) { numbers(n) = n * n; });
  if (argc > 1) Kokkos::fence();
  return numbers(2000) == 4000000 ? 0 : 1;
}
