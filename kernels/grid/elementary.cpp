// Arrays of exponentials: see elementary.hpp. Compiled twice where the compiler can choose at run time: the bits do not depend on
// the width.
#include "kernels/grid/elementary.hpp"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__AVX2__)
#define NUNATAK_WIDTHS __attribute__((target_clones("avx2", "default")))
#else
#define NUNATAK_WIDTHS
#endif

namespace nunatak::elementary {

#if !(defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL))
NUNATAK_WIDTHS void exp(int n, double* x) {
  for (int k = 0; k < n; ++k) x[k] = detail::exp(x[k], 0.0);
}
#endif

} // namespace nunatak::elementary
