// The part of the step that CONTRIBUTING.md shows, run by its row.
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/step/hybrid.hpp"
#include "miniapp/bench/sheet.hpp"
#include "tests/kernels/cells.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace nunatak;

TEST_CASE("the surface balance of CONTRIBUTING.md follows the surface in every step") {
  const double dx = 128e3;
  const int M = synthetic::marine_points(dx);
  VirtualRanks ranks(Decomposition::make(M, M, 2, 1));
  synthetic::Sheet sheet = synthetic::make_sheet(ranks, dx, 11, 1);
  HybridOptions options;
  const SurfaceBalance& law = options.balance;
  options.balance.gradient = 1.5e-7;
  Hybrid hybrid(ranks, dx, dx, sheet.levels, options, nullptr, sheet.states, sheet.forcings);
  hybrid.diagnose();
  hybrid.advance(0.0);
  Kokkos::fence();
  const auto h = on_host(hybrid.state(1).usurf);
  const auto balance = on_host(hybrid.forcing(1).climatic_mass_balance);
  for (const auto& [j, i] : cells_of(ranks.patch(1)))
    CHECK(balance(j, i) == std::fmin(law.gradient * (h(j, i) - law.equilibrium), law.largest));
}
