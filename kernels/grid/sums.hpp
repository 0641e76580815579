// Exact sums, independent of the order of the terms, hence of the number of ranks and threads.
//
// Each term is rounded once to a multiple of 2^-40 (about 1e-12) and added as an integer, exactly.
// A sum is two 64-bit integers in units 2^32 apart, for any MPI sum of int64. Range: |term| < 2^62
// 2^-40 = 4e6, at most 2^31 terms; += carries, so that any number of sums may be added. Choose
// fitting units: metres, kelvin, g/kg, dbar.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace nunatak {

/// Also a result of parallel_reduce, which adds by +=.
struct FixedSum {
  std::int64_t hi = 0; ///< in units of 2^-8
  std::int64_t lo = 0; ///< in units of 2^-40, each term adds less than 2^32

  KOKKOS_INLINE_FUNCTION void add(double term) {
    // lab 5 begin: round once, add the two words | stub: throw "lab 5: not written yet";
    const double t = term * 1099511627776.0 + 0.5; // 2^40
    auto n = static_cast<std::int64_t>(t);
    if (static_cast<double>(n) > t) n -= 1; // floor(t), without a call
    hi += n >> 32;
    lo += n & 0xffffffffLL;
    // lab 5 end
  }

  /// The same for n terms, vectorised: adding 1.5 2^52 rounds to an integer in the low bits.
  KOKKOS_FORCEINLINE_FUNCTION void add(const double* terms, int n) {
    constexpr double round = 6755399441055744.0;
    const auto bits = [](double x) { return Kokkos::bit_cast<std::uint64_t>(x); };
    std::uint64_t any = 0, high = 0, low = 0; // modulo 2^64
    for (int k = 0; k < n; ++k) any |= bits(terms[k]) << 1;
    if (any == 0) return;
    for (int k = 0; k < n; ++k) {
      const double t = terms[k] * 1099511627776.0 + 0.5, h = terms[k] * 256.0 + round;
      const double rest = t - (h - round) * 4294967296.0, l = rest + round; // exact
      high += bits(h) - bits(round);
      low += bits(l) - bits(round) - (bits(rest - (l - round)) >> 63); // floor(rest)
    }
    hi += static_cast<std::int64_t>(high);
    lo += static_cast<std::int64_t>(low);
  }

  KOKKOS_INLINE_FUNCTION FixedSum& operator+=(const FixedSum& other) {
    hi += other.hi;
    lo += other.lo;
    hi += lo >> 32;
    lo &= 0xffffffffLL;
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
