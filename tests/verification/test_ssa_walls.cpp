// The SSA between staircase walls: plug flow in a channel that crosses the grid at an angle. The
// walls are then no line of cells but steps, as the edge of a shelf mostly is, and the error is of
// first order. Errors of the speed in the middle, with bounds; docs/notes/ssa-and-pism.md compares
// them with those of a stencil on cell faces, and says what they mean for Antarctica.
#include "kernels/cases/exact_ssa.hpp"
#include "ssa_problem.hpp"

#include <catch2/catch_test_macros.hpp>

#include <petscsys.h>

#include <algorithm>
#include <cmath>

using namespace nunatak;

namespace {

/// Relative error of the speed in the middle of a channel. The grid is periodic, the channel
/// endless; the level a i + b j of a cell is its distance from the wall, here for (a, b) = (1, 1)
/// and a width of 3 levels:
///
///    0 # # 1 2      #  wall, velocity 0; the exact walls run through the outermost wall cells
///    # # 1 2 #
///    # 1 2 # #      The surface is a plane that falls along the channel and jumps at the edges of
///    1 2 # # #      the grid. It is not differenced there: each edge lies between grounded and
///    2 # # # 1      floating ice (no drag on either). The load is that of the plane everywhere.
double channel_error(int a, int b, int width) {
  using exact::PlugFlow;
  const double slant = std::hypot(a, b), dx = 2.0 * PlugFlow::L * slant / width;
  const int M = width + 2 * (a + b);
  SsaProblem p(M, M, dx, dx, true, true);
  p.fill([&](int j, int i, int gj, int gi) {
    const int level = (a * gi + b * gj) % M;
    p.in.H(j, i) = PlugFlow::h0, p.in.hardness(j, i) = PlugFlow::B, p.in.b(j, i) = -1e5;
    p.in.h(j, i) = -PlugFlow::slope * (b * gi - a * gj) * dx / slant;
    p.in.mask(j, i) = (2 * gi < M) == (2 * gj < M) ? grounded_ice : floating_ice;
    p.in.fixed(j, i) = level == 0 || level >= width ? 1 : 0;
  });
  const SsaReport& report = p.solve({});
  const double fastest = p.maximum([&](int j, int i, int, int) {
    return std::max(0.0, (b * p.u(j, i) - a * p.v(j, i)) / slant);
  });
  const double error = fastest / PlugFlow::u(0.0) - 1.0;
  PetscPrintf(
      MPI_COMM_WORLD,
      "channel (%d, %d), %.1f cells wide: relative error in the middle %+.4f; %d steps, %.3f s\n",
      a, b, width / slant, error, report.steps, report.seconds_total);
  return std::abs(error);
}

} // namespace

TEST_CASE("plug flow between staircase walls: first order") {
  CHECK(channel_error(1, 1, 12) < 0.175);
  CHECK(channel_error(1, 1, 24) < 0.090);
  CHECK(channel_error(1, 1, 48) < 0.045);
  CHECK(channel_error(1, 2, 18) < 0.097);
  CHECK(channel_error(1, 2, 36) < 0.047);
  CHECK(channel_error(1, 2, 72) < 0.023);
}
