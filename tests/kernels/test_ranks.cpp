// Decomposition, ghost exchange and collectives on virtual ranks; sums that do not depend on order.
#include "kernels/fixed_sum.hpp"
#include "kernels/virtual_ranks.hpp"
#include "tests/kernels/ghost_checks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <random>

using namespace nunatak;

TEST_CASE("every cell is owned once") {
  for (int ranks : {1, 2, 3, 4, 6, 7, 12}) {
    const Decomposition d = Decomposition::make(13, 17, ranks);
    std::vector<int> owners(13 * 17, 0);
    for (int r = 0; r < d.size(); ++r) {
      const Patch p = d.patch(r);
      REQUIRE(p.cells() > 0);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) owners[static_cast<std::size_t>(p.cell(j, i))] += 1;
      }
    }
    for (int n : owners) CHECK(n == 1);
  }
}

TEST_CASE("a grid too small for the ranks is refused with both numbers") {
  REQUIRE_THROWS_WITH(Decomposition::make(2, 2, 5),
                      Catch::Matchers::ContainsSubstring("2 x 2") && Catch::Matchers::ContainsSubstring("5"));
}

TEST_CASE("ghosts hold the neighbour's cells, with and without periodicity") {
  for (int px : {1, 2, 3, 5}) {
    for (int py : {1, 2, 4}) {
      for (int periodic = 0; periodic < 4; ++periodic) {
        Decomposition d = Decomposition::make(11, 9, px, py);
        d.periodic_x = (periodic & 1) != 0;
        d.periodic_y = (periodic & 2) != 0;
        VirtualRanks ranks(d);
        check_ghosts(ranks);
      }
    }
  }
}

TEST_CASE("one message per neighbour, whatever the number of arrays") {
  VirtualRanks ranks(Decomposition::make(12, 12, 3, 3));
  check_ghosts(ranks);
  CHECK(ranks.traffic().messages == 4 * 3 + 4 * 5 + 8);
}

TEST_CASE("fixed-point sums are the same in any order and accurate") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-3000.0, 5000.0);
  std::vector<double> terms(100000);
  for (double& t : terms) t = uniform(random);
  long double exact = 0.0L;
  FixedSum forward, backward;
  for (double t : terms) forward.add(t), exact += t;
  for (auto t = terms.rbegin(); t != terms.rend(); ++t) backward.add(*t);
  CHECK(forward.value() == backward.value());
  CHECK(std::abs(forward.value() / static_cast<double>(exact) - 1.0) <= 2.3e-16); // the last bit of a double
  FixedSum negative;
  negative.add(-0.75);
  CHECK(negative.value() == -0.75);
}
