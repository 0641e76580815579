// The SSA on a small marine ice sheet with everything in it: mirrored or transposed, it flows the
// same; and without a load nothing moves. Neighbours: test_ssa_exact.cpp, test_ssa_shelf.cpp; the
// same bits on any ranks, no ice, no convergence: tests/kernels/test_ssa_newton.cpp.
#include "ssa_problem.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

/// A small marine ice sheet with a shelf, an ice rise, an iceberg, bare rock and a one-cell-wide
/// tongue. `flip`: bit 0 mirrors x, bit 1 mirrors y, bit 2 exchanges x and y.
SsaProblem little_antarctica(int flip, double tolerance) {
  const int M = 24;
  SsaProblem p(M, M, 20e3, 20e3, false, false);
  p.fill([&](int j, int i, int gj, int gi) {
    int a = (flip & 1) != 0 ? M - 1 - gi : gi, c = (flip & 2) != 0 ? M - 1 - gj : gj;
    if ((flip & 4) != 0) std::swap(a, c);
    const double x = a - 10.0, y = c - 11.3, r = std::sqrt(x * x + 1.2 * y * y);
    double b = 300.0 - 90.0 * r + 40.0 * std::sin(0.9 * a), H = r < 9.0 ? 1800.0 - 150.0 * r : 0.0;
    if (a == 14 && c == 14) b = -60.0;                        // an ice rise
    if (a == 9 && c == 12) b = 2900.0, H = 0.0;               // a nunatak
    if (c == 11 && a >= 19 && a <= 21) H = 250.0, b = -900.0; // a tongue
    if ((a == 1 || a == 2) && c == 22) H = 200.0, b = -900.0; // an iceberg
    p.set(j, i, b, H);
    p.in.tauc(j, i) = 0.3 * rho_ice * gravity * H * 0.15;
    p.in.hardness(j, i) = 2.0e8;
  });
  SsaOptions options;
  options.tolerance = tolerance;
  p.solve(options);
  return p;
}

} // namespace

TEST_CASE("mirrored and transposed ice sheets have mirrored and transposed velocities") {
  SsaProblem p = little_antarctica(0, 1e-10);
  CHECK(p.report.excluded_cells == 2);
  CHECK(p.report.final_residual <= 1e-10 * p.report.load_norm);
  const std::vector<double> u0 = p.gather(p.u), v0 = p.gather(p.v);
  const double speed = year * *std::max_element(u0.begin(), u0.end());
  CHECK(speed > 20.0);
  for (int flip = 1; flip < 8; ++flip) {
    SsaProblem q = little_antarctica(flip, 1e-10);
    const int M = q.patch.Mx;
    const double difference = year * q.maximum([&](int j, int i, int gj, int gi) {
      int a = (flip & 1) != 0 ? M - 1 - gi : gi, c = (flip & 2) != 0 ? M - 1 - gj : gj;
      double u = (flip & 1) != 0 ? -q.u(j, i) : q.u(j, i),
             v = (flip & 2) != 0 ? -q.v(j, i) : q.v(j, i);
      if ((flip & 4) != 0) std::swap(a, c), std::swap(u, v);
      const auto n = static_cast<std::size_t>(c * M + a);
      return larger_error(std::abs(u - u0[n]), v - v0[n]);
    });
    CHECK(difference < 1e-6 * speed);
  }
}

TEST_CASE("ice of constant thickness on a flat bed does not move") {
  SsaProblem p(8, 8, 1e4, 1e4, true, true);
  p.fill([&](int j, int i, int, int) {
    p.in.H(j, i) = 1000.0, p.in.h(j, i) = 1100.0, p.in.b(j, i) = 100.0, p.in.tauc(j, i) = 1e4,
              p.in.hardness(j, i) = 2e8;
  });
  p.solve({});
  CHECK(p.maximum([&](int j, int i, int, int) {
    return std::abs(p.u(j, i)) + std::abs(p.v(j, i));
  }) == 0.0);
}
