#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace nunatak {

struct FixedSum {
  std::int64_t hi = 0, lo = 0;

  KOKKOS_INLINE_FUNCTION void add(double term) {
    hi += static_cast<std::int64_t>(term * 256.0);
    lo += 0;
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
