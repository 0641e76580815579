// Shallow ice flow on virtual ranks: constants of the exact solutions, the same bits on any
// decomposition. Errors against the exact solutions: tests/verification/test_sia.cpp. Single faces:
// test_sia_faces.cpp.
#include "kernels/cases/exact_sia.hpp"
#include "kernels/moving_ice.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

TEST_CASE("constants of the exact solutions") {
  constexpr double year = seconds_per_year;
  CHECK(std::abs(exact::Similarity{}.t0() / year - 422.45) < 0.01);
  CHECK(std::abs(exact::Similarity{5.0}.t0() / year - 15208.0) < 1.0);
  CHECK(std::abs(exact::TestA{}.H(0.0) - 3278.0) < 1.0);
  CHECK(exact::Similarity{}.alpha() == 1.0 / 9.0);
  CHECK(exact::Similarity{5.0}.alpha() == -1.0);
  CHECK(exact::Similarity{5.0}.beta() == 2.0);
}

TEST_CASE("test B: the same bits on any decomposition") {
  const exact::Similarity B;
  const int M = 31;
  const double dx = 80e3, t_end = 5000.0 * seconds_per_year;
  const auto run = [&](int px, int py) {
    MovingIce ice(Decomposition::make(M, M, px, py), dx, dx, [&](int j, int i) {
      Cell c;
      c.H = B.H(B.t0(), dx * std::hypot(i - M / 2, j - M / 2));
      c.A = ice_softness;
      return c;
    });
    int steps = 0;
    for (double t = 0.0; t < t_end; ++steps) {
      const double dt = time_step(dx, dx, ice.shear(), 0.0, 60.0 * seconds_per_year).dt;
      ice.move(dt);
      t += dt;
    }
    std::vector<double> result = ice.thickness();
    result.push_back(ice.volume());
    result.push_back(steps);
    return result;
  };
  const std::vector<double> one = run(1, 1);
  CHECK(one == run(2, 1));
  CHECK(one == run(3, 2));
  CHECK(one == run(4, 4));
  CHECK(one == run(1, 31));
}
