// Sums and maxima over all ranks of what a loop has found on each of them: exact, the same on any
// number of ranks.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/grid/sums.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace nunatak {

/// The sum over all ranks of things made of nothing but FixedSums and int64s: parts[local] -> the
/// total. One collective.
template <class T> T sum_over_ranks(Ranks& ranks, const std::vector<T>& parts) {
  static_assert(sizeof(T) % sizeof(std::int64_t) == 0 && std::is_trivially_copyable_v<T>,
                "T is made of 64-bit integers");
  std::vector<std::vector<std::int64_t>> words(
      parts.size(), std::vector<std::int64_t>(sizeof(T) / sizeof(std::int64_t)));
  for (std::size_t r = 0; r < parts.size(); ++r) std::memcpy(words[r].data(), &parts[r], sizeof(T));
  ranks.sum(words);
  T total;
  std::memcpy(static_cast<void*>(&total), words[0].data(), sizeof(T));
  return total;
}

/// The bits of a double that is not negative, as an integer: they have the same order.
inline std::int64_t ordered_bits(double x) {
  x += 0.0; // no negative zero
  std::int64_t n = 0;
  std::memcpy(&n, &x, sizeof n);
  return n;
}
inline double from_ordered_bits(std::int64_t n) {
  double x = 0.0;
  std::memcpy(&x, &n, sizeof x);
  return x;
}

/// Element-wise maximum over all ranks of numbers that are not negative: values[local], equal
/// sizes. One collective.
inline void max_over_ranks(Ranks& ranks, std::vector<std::vector<double>>& values) {
  std::vector<std::vector<std::int64_t>> bits(values.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (double x : values[r]) bits[r].push_back(ordered_bits(x));
  }
  ranks.max(bits);
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (std::size_t n = 0; n < values[r].size(); ++n) values[r][n] = from_ordered_bits(bits[r][n]);
  }
}

} // namespace nunatak
