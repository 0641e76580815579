#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace nunatak {

struct FixedSum {
  std::int64_t hi = 0, lo = 0;

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
  KOKKOS_INLINE_FUNCTION double value() const {
    const std::int64_t carry = lo >> 32;
    return static_cast<double>(hi + carry) / 256.0 +
           static_cast<double>(lo - carry * 4294967296LL) / 1099511627776.0;
  }
};

} // namespace nunatak
