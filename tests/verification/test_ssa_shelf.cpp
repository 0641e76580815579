// Van der Veen's shelf with a calving front (kernels/cases/exact_ssa.hpp): against the exact
// solution and against the closed form of the discrete one. The front lies on cell faces; the last
// row of cells is free of ice. Neighbours: test_ssa_exact.cpp; test_ssa_symmetry.cpp (shelves that
// flow in all directions).
//
// The discrete solution in closed form. Between points i and i + 1 the scheme has the load 1/2 rho'
// g H_i H_(i+1) (driving stress with the cell's own H; the sum from the front telescopes) and the
// mean thickness (H_i + H_(i+1))/2, so that
//
//   u_(i+1) - u_i = dx C h^3,   1/h = (1/H_i + 1/H_(i+1))/2   (the harmonic mean),
//
// where the exact solution has the integral of C H^3. Taylor: h^3 exceeds the mean of H^3 by dx^2
// (H^2 H''/4 - H H'^2), which is dx^2 H H'^2/4 for this profile (H H'' = 5 H'^2). Summed from the
// grounding line, where H' is H0' and nearly all of it arises:
//
//   error = dx^2 C H0^2 |H0'|/28,  second order; the front adds none.
#include "kernels/cases/exact_ssa.hpp"
#include "ssa_problem.hpp"
#include "table.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;
using exact::VanDerVeen;

namespace {

constexpr double length = 500e3;

/// The discrete solution: speed at the icy points, m s-1.
std::vector<double> discrete_speed(int M) {
  const double dx = length / (M - 1);
  std::vector<double> u{VanDerVeen::u0};
  for (int n = 1; n < M - 1; ++n) {
    const double H = VanDerVeen::H((n - 1) * dx), H1 = VanDerVeen::H(n * dx),
                 harmonic = 2.0 * H * H1 / (H + H1);
    u.push_back(u.back() + dx * VanDerVeen::C() * harmonic * harmonic * harmonic);
  }
  return u;
}

} // namespace

TEST_CASE("van der Veen's shelf: a calving front") {
  Table max_error("SSA, van der Veen's shelf with a calving front, n = 3", "max error of u, m/a"),
      mean_error("SSA, van der Veen's shelf", "mean error of u, m/a"),
      discrete("SSA, van der Veen's shelf beside the closed form of its discrete solution",
               "max difference of u, m/a");
  for (const int M : grids<int>({201, 401, 801})) {
    const double dx = length / (M - 1);
    SsaProblem p(M, 4, dx, dx, false, true);
    p.fill([&](int j, int i, int, int gi) {
      p.set(j, i, -2000.0, gi == M - 1 ? 0.0 : VanDerVeen::H(gi * dx));
      p.in.hardness(j, i) = VanDerVeen::B;
      if (gi == 0) p.fix(j, i, VanDerVeen::u0, 0.0);
    });
    SsaOptions options;
    options.tolerance = 1e-11;
    options.epsilon *= 0.01; // the exact solution has none
    p.solve(options);
    const auto error = [&](int j, int i, int, int gi) {
      return gi == M - 1 ? 0.0 : p.u(j, i) - VanDerVeen::u(gi * dx);
    };
    const double slope0 = VanDerVeen::C() * std::pow(VanDerVeen::H0, 4.0) /
                          VanDerVeen::u0, // |H'| at the grounding line
        predicted =
            year * dx * dx * VanDerVeen::C() * VanDerVeen::H0 * VanDerVeen::H0 * slope0 / 28.0;
    max_error.add(M, dx / 1e3, year * p.maximum(error), 1.01 * predicted);
    mean_error.add(M, dx / 1e3, year * p.sum(error) / (4.0 * (M - 1)), predicted);
    const std::vector<double> u = discrete_speed(M);
    discrete.add(M, dx / 1e3, year * p.maximum([&](int j, int i, int, int gi) {
      return gi == M - 1 ? p.u(j, i) : p.u(j, i) - u[static_cast<std::size_t>(gi)];
    }),
                 1e-6);
    CHECK(year * p.maximum([&](int j, int i, int, int) { return p.v(j, i); }) < 1e-7);
  }
  max_error.check(mpi_rank(), 1.9);
  mean_error.check(mpi_rank(), 1.9);
  discrete.check(mpi_rank());
}
