// Sums of doubles of any size that do not depend on the order of the terms, hence not on ranks,
// threads or vector width: one pass and one reduction (Demmel and Nguyen 2015, Parallel
// reproducible summation, IEEE Trans. Comput. 64: their indexed sum, with integer bins). FixedSum
// (sums.hpp) serves quantities of known size.
//
// The bins are the same for all sums: bin b counts units of 2^(32 b). A term is split from the top:
// a bin takes the term rounded to its units and passes the exact remainder to the bin below. Three
// bins are kept, down from the lowest one in which every term counts less than 2^30 units; the rest
// is dropped from every term alike. The error before the final rounding is below n 2^-63 max|term|,
// less than that of a plain sum, n 2^-53 sum|term|, except under massive cancellation.
//
// Range: |term| < 2^989 and at most 2^31 terms; a larger term, an infinity or NaN makes the value
// NaN. What is below 2^-993 counts as 0.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/widths.hpp"

#include <cmath>
#include <cstdint>

namespace nunatak {

/// Also the element of a reduction: no pointers; += in any order and grouping.
struct ReproducibleSum {
  static constexpr int kept = 3, width = 32;
  /// Values of `top`: no term except 0 yet; no number (see Range above).
  static constexpr std::int64_t none = -32, not_a_number = 31;

  std::int64_t top = none;    ///< the highest bin kept
  std::int64_t bins[kept]{0}; ///< of bins top, top - 1, top - 2

  KOKKOS_INLINE_FUNCTION ReproducibleSum& operator+=(const ReproducibleSum& other) {
    raise(other.top);
    const std::int64_t down = top - other.top;
    for (std::int64_t k = down; k < kept; ++k) bins[k] += other.bins[k - down];
    return *this;
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION void add(const F& term, std::int64_t first, std::int64_t last) {
    if (top == not_a_number || add_to_bins(term, first, last)) return;
    double least = 0.0, most = 0.0;
    bool numbers = true;
    for (std::int64_t n = first; n < last; ++n) {
      const double x = term(n);
      least = x < least ? x : least;
      most = x > most ? x : most;
      numbers = numbers && x == x;
    }
    if (numbers && least == 0.0 && most == 0.0) return;
    std::int64_t bin = none + kept;
    while (bin < not_a_number && !(holds(bin, least) && holds(bin, most))) ++bin;
    raise(numbers ? bin : not_a_number);
    if (top != not_a_number) add_to_bins(term, first, last);
  }

  /// The sum as a double, within one unit in the last place of the bins.
  double value() const {
    if (top == none) return 0.0;
    if (top == not_a_number) return std::nan("");
    std::int64_t b[kept];
    const auto carry = [&](std::int64_t sign) {
      for (int k = 0; k < kept; ++k) b[k] = sign * bins[k];
      for (int k = kept - 1; k > 0; --k) {
        b[k - 1] += b[k] >> width;
        b[k] &= 0xffffffff;
      }
    };
    carry(1);
    const double sign = b[0] < 0 ? -1.0 : 1.0;
    if (b[0] < 0) carry(-1);
    const double low = static_cast<double>(b[1]) * 4294967296.0 + static_cast<double>(b[2]);
    return sign * std::ldexp(static_cast<double>(b[0]) * 18446744073709551616.0 + low,
                             static_cast<int>(width * (top - kept + 1)));
  }

private:
  static constexpr std::uint64_t half = 1ULL << 30; ///< a bin takes -half..half - 1 units of a term

  KOKKOS_INLINE_FUNCTION static std::uint64_t bits(double x) {
    return Kokkos::bit_cast<std::uint64_t>(x);
  }
  /// (rounded - round) in units, modulo 2^64; out of range for infinities and NaN.
  KOKKOS_INLINE_FUNCTION static std::uint64_t units(double rounded, double round) {
    return bits(rounded) - bits(round);
  }
  /// 1.5 2^52 units of bin b: a sum with it is rounded to units, whose number is in the low bits.
  KOKKOS_INLINE_FUNCTION static double rounder(std::int64_t b) {
    return 1.5 * Kokkos::bit_cast<double>((width * b + 52 + 1023) << 52);
  }
  KOKKOS_INLINE_FUNCTION static bool holds(std::int64_t b, double x) {
    return units(x + rounder(b), rounder(b)) + half < 2 * half;
  }

  /// Adds like add(), unless the kept bins cannot hold a term: then it returns false and adds
  /// nothing. The compiler vectorises it: sums of integers may be reordered.
  template <class F>
  KOKKOS_INLINE_FUNCTION bool add_to_bins(const F& term, std::int64_t first, std::int64_t last) {
    if (top == none) return false;
    const double round[kept] = {rounder(top), rounder(top - 1), rounder(top - 2)};
    std::uint64_t sums[kept] = {}, seen = 0; // modulo 2^64, also for negative numbers
    for (std::int64_t n = first; n < last; ++n) {
      const double x = term(n);
      const double y0 = x + round[0];
      const double rest = x - (y0 - round[0]);
      const double y1 = rest + round[1];
      const double y2 = (rest - (y1 - round[1])) + round[2];
      seen |= units(y0, round[0]) + half;
      sums[0] += units(y0, round[0]);
      sums[1] += units(y1, round[1]);
      sums[2] += units(y2, round[2]);
    }
    if (seen >= 2 * half) return false;
    for (int k = 0; k < kept; ++k) bins[k] += static_cast<std::int64_t>(sums[k]);
    return true;
  }

  /// Keeps the bins from `bin` downwards, if it is above `top`.
  KOKKOS_INLINE_FUNCTION void raise(std::int64_t bin) {
    if (bin <= top) return;
    const std::int64_t down = bin - top;
    for (std::int64_t k = kept - 1; k >= 0; --k) bins[k] = k >= down ? bins[k - down] : 0;
    top = bin;
  }
};

template <int N> struct ReproducibleSums {
  ReproducibleSum of[N];
  KOKKOS_INLINE_FUNCTION ReproducibleSums& operator+=(const ReproducibleSums& other) {
    for (int k = 0; k < N; ++k) of[k] += other.of[k];
    return *this;
  }
};

/// Adds a block of terms to one sum after another. On a CPU a block is as long as a cache allows,
/// and prepare(n) is called for all of its terms first; on a GPU it is the work of one thread.
template <int N, class Terms, class Prepare> struct BlockOfSums {
  static constexpr std::int64_t length = loops_on_host ? 2048 : 32;
  Terms terms;
  Prepare prepare;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t b, ReproducibleSums<N>& result) const {
    const std::int64_t first = b * length, end = first + length < count ? first + length : count;
    if constexpr (loops_on_host) {
      const auto all = [this, first, end](ReproducibleSums<N>& sums) {
        for (std::int64_t n = first; n < end; ++n) prepare(n);
        add<0>(first, end, sums);
      };
      widely(all, result);
    } else {
      add<0>(first, end, result);
    }
  }
  template <int K>
  KOKKOS_INLINE_FUNCTION void add(std::int64_t first, std::int64_t last,
                                  ReproducibleSums<N>& result) const {
    if constexpr (K < N) {
      result.of[K].add([this](std::int64_t n) { return terms.template term<K>(n); }, first, last);
      add<K + 1>(first, last, result);
    }
  }
};

struct Prepared {
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {}
};
/// The sums of terms.term<K>(n), n = 0..count - 1, for K = 0..N - 1.
template <int N, class Terms, class Prepare = Prepared>
ReproducibleSums<N> sums_reproducibly(const char* label, std::int64_t count, const Terms& terms,
                                      const Prepare& prepare = {}) {
  using Block = BlockOfSums<N, Terms, Prepare>;
  const Kokkos::RangePolicy<Exec> blocks(0, (count + Block::length - 1) / Block::length);
  ReproducibleSums<N> sums;
  Kokkos::parallel_reduce(label, blocks, Block{terms, prepare, count}, sums);
  return sums;
}

/// Terms of N dot products of lists of pairs: a_K(2n) b_K(2n) + a_K(2n + 1) b_K(2n + 1).
template <class Real, int N> struct DotProducts {
  const Real* of[N][2];
  template <int K> KOKKOS_INLINE_FUNCTION double term(std::int64_t n) const {
    const Real *a = of[K][0] + 2 * n, *b = of[K][1] + 2 * n;
    return static_cast<double>(a[0]) * static_cast<double>(b[0]) +
           static_cast<double>(a[1]) * static_cast<double>(b[1]);
  }
};

} // namespace nunatak
