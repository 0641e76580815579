// The distance solver that CONTRIBUTING.md shows, registered by its row.
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

TEST_CASE("the solver of CONTRIBUTING.md is in the table and equals a search of the grid") {
  CHECK_THAT("|" + names_of(distance_solvers()) + "|",
             Catch::Matchers::ContainsSubstring("|relax|"));
  CHECK(distance_solver("relax").counts_steps);
  for (const auto& [name, mask] : test_masks()) {
    INFO(name);
    check_solvers({"relax"}, three_fields(mask));
  }
}
