// The drag of the SSA's cells at a grounding line: tau_c times the grounded area, or times the
// whole cell by the mask. Exact areas of a height above flotation that is linear in x. Neighbours:
// tests/kernels/test_ssa_assembly.cpp.
#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/ssa/assembly.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <vector>

using namespace nunatak;

namespace {

/// Drag of each cell of a row, relative to tau_c times its area, for heights above flotation `F`
/// (m) of its cells.
std::vector<double> drag(const std::vector<double>& F, bool till_subgrid) {
  constexpr double spacing = 1000.0, H = 500.0, tauc = 1e5, u0 = 1e-6;
  const int M = static_cast<int>(F.size());
  Decomposition d = Decomposition::make(M, 4, 1);
  d.periodic_y = true;
  VirtualRanks ranks(d);
  const Patch p = ranks.patch(0);
  const auto array = [&p](const char* name) { return make_array<double>(name, p); };
  SsaInput in;
  in.H = array("thk"), in.h = array("usurf"), in.b = array("topg"), in.tauc = array("tauc"),
  in.hardness = array("hardav");
  in.mask = make_array<int>("mask", p);
  Kokkos::deep_copy(in.H, H);
  Kokkos::deep_copy(in.tauc, tauc);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i)
      in.b(j, i) = F[static_cast<std::size_t>(p.global_i(i))] - rho_ice / rho_water * H;
  }
  ranks.update_ghosts({{in.b}});
  update_geometry(p, in.b, in.H, in.h, in.mask);

  SsaAssembly assembly(ranks, spacing, spacing, GlenLaw{3.0, 1e-24}, TillLaw{0.0, 0.0, 1.0},
                       till_subgrid); // plastic: the drag is tau_c
  assembly.set_input({in});
  const SsaPatch& patch = assembly.patch(0);
  const auto u = array("u"), v = array("v");
  Kokkos::deep_copy(u, u0);
  const Kokkos::View<double*, Mem> force("force", 2 * static_cast<std::size_t>(patch.unknowns()));
  ssa::residual(patch, u, v, force.data());
  Kokkos::fence();
  std::vector<double> result;
  for (int n = 0; n < M; ++n)
    result.push_back((force(2 * n) + patch.load(2 * n)) / (tauc * spacing * spacing));
  return result;
}

void check(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) {
    INFO("cell " << n << ": expected " << expected[n] << ", found " << found[n]);
    CHECK(std::abs(found[n] - expected[n]) < 1e-12);
  }
}

} // namespace

TEST_CASE("drag acts on the grounded part of a cell") {
  check(drag({60.0, 30.0, -10.0, -50.0}, true),
        {1.0, 1.0, 0.25, 0.0}); // grounded up to 3/4 of the way from cell 1 to cell 2
  check(drag({60.0, 10.0, -30.0, -50.0}, true), {1.0, 0.75, 0.0, 0.0});
}

TEST_CASE("without a subgrid grounding line it acts on whole cells of the mask") {
  check(drag({60.0, 30.0, -10.0, -50.0}, false), {1.0, 1.0, 0.0, 0.0});
  check(drag({60.0, 10.0, -30.0, -50.0}, false), {1.0, 1.0, 0.0, 0.0});
}
