// Before a function whose loops are vectorised: it is compiled three times, for AVX2 and AVX-512, too, and the processor
// chooses, where the compiler can do that. The bits must not depend on the width.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__AVX2__)
#define NUNATAK_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define NUNATAK_WIDTHS
#endif
