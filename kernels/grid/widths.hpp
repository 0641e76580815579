// Functions whose loops are vectorised: on a CPU also compiled for AVX2 and AVX-512, chosen at run
// time, if the compiler supports that. The bits must not depend on the width.
//
//   namespace detail { KOKKOS_FORCEINLINE_FUNCTION void f(int n, double* x) { ... } }
//   NUNATAK_WIDE(void, f, (int n, double* x), (n, x))    f(n, x) does detail::f(n, x)
//
// The file that compiles it defines NUNATAK_COMPILES_WIDE and includes the header. On a GPU it is
// inline, with n = 1 per thread. For templates: widely(f, x) does f(x), compiled for AVX2, too.
#pragma once

#include <Kokkos_Core.hpp>

// Disabled by NUNATAK_ONE_WIDTH (test kernels.bits_narrow: the compiler's default width) and under
// the thread sanitizer, which does not survive the resolvers that run before it has started.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__) &&     \
    !defined(__AVX2__) && !defined(__SANITIZE_THREAD__) && !defined(NUNATAK_ONE_WIDTH)
#define NUNATAK_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#define NUNATAK_AVX2 __attribute__((target("avx2"), flatten))
#else
#define NUNATAK_WIDTHS
#endif

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
#define NUNATAK_WIDE(result, name, parameters, arguments)                                          \
  KOKKOS_INLINE_FUNCTION result name parameters { return detail::name arguments; }
#elif defined(NUNATAK_COMPILES_WIDE)
#define NUNATAK_WIDE(result, name, parameters, arguments)                                          \
  NUNATAK_WIDTHS result name parameters { return detail::name arguments; }
#else
#define NUNATAK_WIDE(result, name, parameters, arguments) result name parameters;
#endif

namespace nunatak {

#ifdef NUNATAK_AVX2
template <class F, class X> NUNATAK_AVX2 void with_avx2(const F& f, X& x) { f(x); }
#endif
template <class F, class X> void widely(const F& f, X& x) {
#ifdef NUNATAK_AVX2
  if (__builtin_cpu_supports("avx2")) return with_avx2(f, x);
#endif
  f(x);
}

} // namespace nunatak
