// Mass transport on a few cells: upwind fluxes, positivity, fixed front, sources, walls; the time
// step. Budgets, random fields and test N: tests/verification/test_transport.cpp.
#include "kernels/moving_ice.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

/// A row of cells, one rank.
MovingIce row(int M, const std::function<Cell(int)>& at) {
  return MovingIce(Decomposition::make(M, 1, 1, 1), 1.0, 1.0, [&](int, int i) { return at(i); });
}

const double sea = -1000.0; // a bed on which 100 m of ice float

} // namespace

TEST_CASE("upwind: ice moves by u dt/dx of the upwind cell") {
  MovingIce ice =
      row(4, [](int i) { return Cell{1.0, i == 1 ? 100.0 : 0.0, 0.25, 0.0, 0.0, 0.0}; });
  ice.step(1.0);
  CHECK(ice.thickness() == std::vector<double>{0.0, 75.0, 25.0, 0.0});
  ice.step(1.0); // the face between cells 2 and 3 has ice on its left only: its velocity is that of
                 // cell 2
  CHECK(ice.thickness() == std::vector<double>{0.0, 56.25, 37.5, 6.25});
}

TEST_CASE("a step far too long empties a cell and no more") {
  MovingIce ice(Decomposition::make(5, 5, 1, 1), 1.0, 1.0, [](int j, int i) {
    return Cell{1.0, i == 2 && j == 2 ? 100.0 : 0.0, 3.0, 1.0, 0.0, 0.0};
  });
  const MassBudget b = ice.step(1.0); // 300 m and 100 m ask to leave
  const std::vector<double> H = ice.thickness();
  CHECK(H[12] == 0.0);
  CHECK(H[13] == 75.0);
  CHECK(H[17] == 25.0);
  CHECK(b.clipped.value() == 0.0);
  CHECK(ice.volume() == 100.0);
}

TEST_CASE("the front is fixed: ice that slides into the ocean has calved") {
  MovingIce ice = row(
      4, [](int i) { return Cell{sea, i < 2 ? 100.0 : 0.0, i < 2 ? 0.25 : -7.0, 0.0, 0.5, 0.0}; });
  const MassBudget b = ice.step(1.0); // cell 0 also receives 25 m through the edge of the domain
  CHECK(ice.thickness() == std::vector<double>{100.5, 100.5, 0.0, 0.0});
  CHECK(b.calved.value() == 25.0);
  CHECK(b.edge.value() == 25.0);
  CHECK(b.surface.value() == 1.0); // snow on the ocean does not count
}

TEST_CASE("sources take what is there; the rest is counted") {
  MovingIce ice = row(4, [](int i) {
    return i == 0 ? Cell{1.0, 10.0, 0.0, 0.0, -12.0, 99.0}
           // grounded: no basal melt, 2 m more asked for than there is
           : i == 1 ? Cell{1.0, 0.0, 0.0, 0.0, -1.0, 0.0}  // bare land: nothing to melt
           : i == 2 ? Cell{sea, 100.0, 0.0, 0.0, 1.0, 3.0} // shelf
                    : Cell{1.0, 0.0, 0.0, 0.0, 4.0, 0.0};  // snow on bare land
  });
  const MassBudget b = ice.step(1.0);
  CHECK(ice.thickness() == std::vector<double>{0.0, 0.0, 98.0, 4.0});
  CHECK(b.surface.value() == -12.0 + 1.0 + 4.0);
  CHECK(b.basal.value() == 3.0);
  CHECK(b.clipped.value() == 2.0);
}

TEST_CASE("no ice slides up a wall of rock or from a shelf onto land") {
  MovingIce wall = row(2, [](int i) {
    return i == 0 ? Cell{1.0, 50.0, 0.5, 0.0, 0.0, 0.0} : Cell{60.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  });
  wall.step(1.0);
  CHECK(wall.thickness()[1] == 0.0);
  MovingIce beach = row(2, [](int i) {
    return i == 0 ? Cell{sea, 500.0, 0.5, 0.0, 0.0, 0.0} : Cell{1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  });
  beach.step(1.0);
  CHECK(beach.thickness()[1] == 0.0);
}

TEST_CASE("time step: the tightest limit, named") {
  CHECK(time_step(1e3, 1e3, 0.0, 0.0, 7.0).dt == 7.0);
  CHECK(time_step(1e3, 1e3, 0.0, 0.0, 7.0).limit == StepLimit::dt_max);
  CHECK(time_step(1e3, 2e3, 10.0, 0.0, 1e9).dt == 0.24 / (10.0 * (1e-6 + 0.25e-6)));
  CHECK(time_step(1e3, 2e3, 10.0, 0.0, 1e9).limit == StepLimit::diffusion);
  CHECK(time_step(1e3, 1e3, 1e-3, 0.5, 1e9).dt == 2.0);
  CHECK(time_step(1e3, 1e3, 1e-3, 0.5, 1e9).limit == StepLimit::advection);
  VirtualRanks ranks(Decomposition::make(4, 4, 2, 2));
  std::vector<std::vector<double>> values{{0.0, 1.5}, {-0.0, 1.25}, {3e-300, 0.0}, {0.0, 1.0}};
  max_over_ranks(ranks, values);
  CHECK(values[1] == std::vector<double>{3e-300, 1.5});
}
