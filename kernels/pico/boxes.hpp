// How many boxes a shelf has, and which of them a cell is in. Pointwise; nothing is communicated.
// Reese et al. (2018), The Cryosphere 12, 1969, equations (9) to (11).
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>

namespace nunatak::pico {

/// n = 1 + round(sqrt(d / d_max) (n_max - 1)); d: largest distance to the grounding line on this
/// shelf, d_max: on all shelves. 1 if there is no grounding line at all (d_max = 0).
inline int number_of_boxes(int d, int d_max, int n_max) {
  if (d_max <= 0) return 1;
  return 1 + static_cast<int>(std::round(std::sqrt(static_cast<double>(d) / d_max) * (n_max - 1)));
}

/// Box k of n, where (n - k)/n <= (1 - r)^2 <= (n - k + 1)/n, r = d_gl / (d_gl + d_cf); on ties the
/// larger k. Then min(k, d_gl). In integers, hence exact: the largest k with n d_cf^2 <= (n - k +
/// 1) (d_gl + d_cf)^2.
///
///   d_gl  1 2 3 4 5        0: a cell that no grounding line or no front reaches has no box.
///   d_cf  5 4 3 2 1
///   box   1 2 3 3 3   (n = 3)
KOKKOS_INLINE_FUNCTION int box_of(int d_gl, int d_cf, int n) {
  if (d_gl <= 0 || d_cf <= 0) return 0;
  const std::int64_t whole = static_cast<std::int64_t>(d_gl + d_cf) * (d_gl + d_cf);
  const std::int64_t part = static_cast<std::int64_t>(d_cf) * d_cf * n;
  const std::int64_t above = (part + whole - 1) / whole; // n - k + 1 >= this, part > 0
  const int k = static_cast<int>(n + 1 - above);
  return k < d_gl ? k : d_gl;
}

} // namespace nunatak::pico
