// The distance solver that CONTRIBUTING.md shows, built from that text and registered by the row
// that it shows.
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

TEST_CASE("the solver of CONTRIBUTING.md is in the words and finds what a search of the whole grid "
          "finds") {
  CHECK_THAT("|" + distance_solver_names("|") + "|", Catch::Matchers::ContainsSubstring("|relax|"));
  CHECK(distance_solver("relax").counts_steps);
  for (const auto& [name, mask] : test_masks()) {
    const std::vector<Grid<int>> start = {with_seeds(mask, 50, 1), with_seeds(mask, 5, 2),
                                          with_seeds(mask, 0, 3)};
    for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
      INFO(name << " on " << px << " x " << py);
      VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, px, py));
      std::vector<Grid<int>> found = start;
      solve(ranks, "relax", found);
      for (std::size_t f = 0; f < found.size(); ++f) CHECK(found[f] == search(start[f]));
    }
  }
}
