// Exact sums, which do not depend on the order of the terms, hence not on the number of ranks or
// threads.
//
// Each term is rounded once to a multiple of 2^-40 (about 1e-12) and then added as an integer,
// exactly. A sum is two 64-bit integers, high and low words of 32 bits: any MPI sum of int64 adds
// them, in any order, with the same result. Range: |term| < 2^62 2^-40 = 4e6, at most 2^31 terms.
// Choose the unit so that terms fit: metres, kelvin, g/kg, dbar.
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace nunatak {

/// Also a result of parallel_reduce, which adds by +=.
struct FixedSum {
  std::int64_t hi = 0; ///< in units of 2^-8
  std::int64_t lo = 0; ///< in units of 2^-40, each term adds less than 2^32

  KOKKOS_INLINE_FUNCTION void add(double term) {
    const double scaled = std::floor(term * 1099511627776.0 + 0.5), word = 4294967296.0;
    const double high = std::floor(scaled / word);
    hi += static_cast<std::int64_t>(high);
    lo += static_cast<std::int64_t>(scaled - high * word);
  }

  KOKKOS_INLINE_FUNCTION FixedSum& operator+=(const FixedSum& other) {
    hi += other.hi;
    lo += other.lo;
    return *this;
  }

  /// The sum as a double, rounded once.
  KOKKOS_INLINE_FUNCTION double value() const {
    const std::int64_t carry = lo >> 32;
    return static_cast<double>(hi + carry) / 256.0 +
           static_cast<double>(lo - carry * 4294967296LL) / 1099511627776.0;
  }
};

} // namespace nunatak
