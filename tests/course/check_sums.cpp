// Lab 5: sums of FixedSum have the same bits on any number of ranks and in any order, and are
// accurate.
#include "kernels/grid/sums.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace nunatak;

namespace {

std::vector<double> some_terms(double low, double high) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> terms(64 * 64);
  for (double& term : terms) term = uniform(random);
  return terms;
}

/// The sum over a grid of 64 x 64 cells on p x p ranks, by the sum of integers that MPI has, too.
double sum_on(int p, const std::vector<double>& terms) {
  VirtualRanks ranks(Decomposition::make(64, 64, p, p));
  std::vector<std::vector<std::int64_t>> words;
  for (int r = 0; r < ranks.local_size(); ++r) {
    FixedSum mine;
    const Patch patch = ranks.patch(r);
    for (int j = 1; j <= patch.ym; ++j) {
      for (int i = 1; i <= patch.xm; ++i)
        mine.add(terms[static_cast<std::size_t>(patch.cell(j, i))]);
    }
    words.push_back({mine.hi, mine.lo});
  }
  ranks.sum(words);
  return FixedSum{words[0][0], words[0][1]}.value();
}

} // namespace

TEST_CASE("lab 5: equal bits on 1 to 4096 ranks") {
  const std::vector<double> terms = some_terms(-3000.0, 5000.0);
  const double one = sum_on(1, terms);
  for (const int p : {2, 3, 4, 8, 16, 32, 64}) {
    CAPTURE(p * p);
    CHECK(sum_on(p, terms) == one);
  }
}

TEST_CASE("lab 5: equal bits in any order") {
  std::vector<double> terms = some_terms(-1.0, 1.0);
  const double one = sum_on(1, terms);
  std::mt19937_64 random(6);
  for (int repetition = 0; repetition < 10; ++repetition) {
    std::shuffle(terms.begin(), terms.end(), random);
    CHECK(sum_on(4, terms) == one);
  }
}

TEST_CASE("lab 5: each term is rounded once, to the nearest multiple of 2^-40, halves up") {
  for (const double term :
       {1.0, -0.75, 1.0 / 3.0, -1.0 / 3.0, 3e6, -3e6, 0.9 / 1099511627776.0, -0.9 / 1099511627776.0,
        -0.5 / 1099511627776.0, 0.5 / 1099511627776.0, 1.5 / 1099511627776.0}) {
    CAPTURE(term);
    FixedSum sum;
    sum.add(term);
    CHECK(sum.value() == std::floor(term * 1099511627776.0 + 0.5) / 1099511627776.0);
    CHECK((sum.lo >= 0 && sum.lo < 4294967296));
  }
}

TEST_CASE("lab 5: a million of the largest terms do not overflow") {
  FixedSum sum;
  for (int n = 0; n < 1000000; ++n) sum.add(4e6 - 0.5);
  CHECK(sum.value() == 1e6 * (4e6 - 0.5));
}
