// Sums that do not depend on the order: orders and groupings, the error, the edges.
#include "kernels/grid/reproducible_sum.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using nunatak::ReproducibleSum;

namespace {

std::vector<double> random_terms(int n, int exponents, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  std::uniform_int_distribution<int> exponent(-exponents, exponents);
  std::vector<double> terms;
  for (int k = 0; k < n; ++k) terms.push_back(std::ldexp(mantissa(random), exponent(random)));
  return terms;
}

void add(ReproducibleSum& sum, const std::vector<double>& terms, int first, int last) {
  sum.add([&](std::int64_t n) { return terms[n]; }, first, last);
}

// in pieces of up to `piece` terms, each a sum of its own
double sum_in_pieces(const std::vector<double>& terms, int piece, bool backwards) {
  std::vector<ReproducibleSum> sums;
  const int n = static_cast<int>(terms.size());
  for (int first = 0; first < n; first += piece) {
    sums.emplace_back();
    add(sums.back(), terms, first, std::min(first + piece, n));
  }
  if (backwards) std::reverse(sums.begin(), sums.end());
  ReproducibleSum sum;
  for (const ReproducibleSum& s : sums) sum += s;
  return sum.value();
}

struct Listed {
  Kokkos::View<double*, nunatak::Mem> list;
  template <int> KOKKOS_INLINE_FUNCTION double term(std::int64_t n) const { return list(n); }
};

// by a loop of the backend
double sum_by_loop(const std::vector<double>& terms) {
  const Listed listed{Kokkos::View<double*, nunatak::Mem>("terms", terms.size())};
  std::copy(terms.begin(), terms.end(), listed.list.data());
  const auto count = static_cast<std::int64_t>(terms.size());
  return nunatak::sums_reproducibly<1>("test", count, listed).of[0].value();
}

double sum_of(const std::vector<double>& terms) {
  return sum_in_pieces(terms, static_cast<int>(terms.size()) + 1, false);
}

} // namespace

TEST_CASE("a reproducible sum has the same bits in any order and grouping") {
  for (const int exponents : {0, 20, 40, 100, 480}) {
    std::vector<double> terms = random_terms(10007, exponents, 1);
    const double sum = sum_of(terms);
    std::mt19937_64 random(2);
    for (const int piece : {1, 2, 3, 4, 7, 64, 511, 5000}) {
      CAPTURE(exponents, piece);
      CHECK(sum_in_pieces(terms, piece, false) == sum);
      CHECK(sum_in_pieces(terms, piece, true) == sum);
      std::shuffle(terms.begin(), terms.end(), random);
      CHECK(sum_of(terms) == sum);
    }
    CHECK(sum_by_loop(terms) == sum);
  }
}

TEST_CASE("a reproducible sum is closer than its bound") {
  for (const int exponents : {0, 3, 20, 100}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      const std::vector<double> terms = random_terms(1000, exponents, seed);
      std::vector<double> sorted = terms; // of one exponent range long double is exact enough
      std::sort(sorted.begin(), sorted.end(),
                [](double a, double b) { return std::abs(a) < std::abs(b); });
      long double exact = 0.0L;
      for (const double term : sorted) exact += term;
      const double largest = std::abs(sorted.back()), sum = sum_of(terms);
      CAPTURE(exponents, seed);
      CHECK(std::abs(static_cast<double>(sum - exact)) <=
            std::ldexp(std::abs(sum), -53) +
                static_cast<double>(terms.size()) * std::ldexp(largest, -63));
    }
  }
}

TEST_CASE("a reproducible sum of what cancels is what is left") {
  CHECK(sum_of({1e16, 1.0, -1e16}) == 1.0);
  CHECK(sum_of({1.0, 1e-18, -1.0}) == std::ldexp(std::round(std::ldexp(1e-18, 64)), -64));
  CHECK(sum_of({-3.0, -5.0, 1.0}) == -7.0);
  CHECK(sum_of({-0x1p60, 1.0}) == -0x1p60 + 1.0);
  CHECK(sum_of({0x1.fffffffffffffp-1, 0x1p-53}) == 1.0);
  std::vector<double> terms = random_terms(5000, 30, 7);
  const std::size_t n = terms.size();
  for (std::size_t k = 0; k < n; ++k) terms.push_back(-terms[k]);
  CHECK(sum_of(terms) == 0.0);
}

TEST_CASE("the edges of a reproducible sum") {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(sum_of({}) == 0.0);
  CHECK(sum_of({0.0, -0.0}) == 0.0);
  CHECK(sum_of({std::numeric_limits<double>::denorm_min()}) == 0.0);
  CHECK(sum_of({1e-280, 2e-280}) == 3e-280);
  CHECK(sum_of({0x1p988, 0x1p988}) == 0x1p989);
  for (const double bad : {infinity, -infinity, nan, 0x1p990, std::numeric_limits<double>::max()}) {
    CAPTURE(bad);
    CHECK(std::isnan(sum_of({1.0, bad, 2.0, 3.0, 4.0})));
    CHECK(std::isnan(sum_in_pieces({1.0, 2.0, bad, 3.0}, 1, true)));
  }
  for (int e = -920; e < 989; ++e) {
    for (const double x : {std::ldexp(1.0, e), std::ldexp(-0x1.fffffffffffffp-1, e)}) {
      CAPTURE(x);
      CHECK(sum_of({x}) == x);
      CHECK(sum_in_pieces({x, 0x1p-900, x}, 1, false) == sum_of({0x1p-900, x, x}));
    }
  }
}

TEST_CASE("a reproducible sum of many equal terms does not overflow") {
  ReproducibleSum sum, one;
  const std::vector<double> terms(1 << 20, 0x1.fffffffffffffp30);
  add(one, terms, 0, 1 << 20);
  for (int k = 0; k < 2048; ++k) sum += one;
  CHECK(sum.value() == std::ldexp(0x1.fffffffffffffp30, 31));
}
