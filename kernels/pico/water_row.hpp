// Sums of what PICO reads of the water and the ice, many cells at once, without a branch; on a CPU compiled by itself (rows.cpp),
// for AVX2 and AVX-512, too, and the processor chooses. Neighbours: melt.hpp has the loops.
#pragma once

#include "kernels/grid/sums.hpp"
#include "kernels/grid/widths.hpp"

#include <cstdint>

namespace nunatak::pico {

constexpr double largest_term = 1e5; ///< of m, K, g kg-1; inside the range of FixedSum

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION int add_usable(const double* x, int n, FixedSum& sum) {
  constexpr std::uint64_t no_sign = ~std::uint64_t{0} >> 1;
  const double largest = largest_term; // bit_cast takes a reference, and a constant has no address on a device
  const auto limit = Kokkos::bit_cast<std::uint64_t>(largest);
  std::uint64_t beyond = 0; // the highest bit: a number is not below the limit, or is none
  for (int k = 0; k < n; ++k) beyond |= limit - 1 - (Kokkos::bit_cast<std::uint64_t>(x[k]) & no_sign);
  if (beyond >> 63 == 0) {
    sum.add(x, n);
    return 0;
  }
  int unusable = 0;
  for (int k = 0; k < n; ++k) {
    if (Kokkos::fabs(x[k]) < largest_term) // false for NaN
      sum.add(x[k]);
    else
      unusable += 1;
  }
  return unusable;
}
} // namespace detail

/// Adds those of n numbers that are smaller than largest_term; returns how many are not, NaN among them.
NUNATAK_WIDE(int, add_usable, (const double* x, int n, FixedSum& sum), (x, n, sum))

} // namespace nunatak::pico
