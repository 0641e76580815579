// Shallow ice flow against exact solutions (kernels/cases/exact_sia.hpp): tests A, B and C of
// Bueler et al. (2005, J. Glaciol. 51), as tables of grid spacing, error, bound and order. Units:
// tests/kernels/test_sia.cpp.
//
// The mean error is over all points of the grid. The largest error sits at the margin, where the
// exact slope is infinite, and hardly converges: the gates are on the mean and on the volume.
#include "kernels/cases/exact_sia.hpp"
#include "kernels/moving_ice.hpp"
#include "verification/table.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

constexpr double year = seconds_per_year;

/// A radially symmetric ice sheet on flat land, on the square from -half_width to half_width.
struct Problem {
  std::function<double(double t, double r)>
      H; ///< exact thickness, t counted from the start of the run
  std::function<double(double t, double r)> M; ///< surface balance; empty for none
  double half_width, t_end;
};

struct Errors {
  int points = 0;              ///< along one side
  double mean = 0.0;           ///< of thickness, m
  double dome = 0.0;           ///< thickness of the dome less the exact one, m
  double volume_percent = 0.0; ///< |volume/exact - 1|
  double closure = 0.0;        ///< what the budget misses, relative to the volume
  MassBudget budget;
};

Errors run(const Problem& problem, double dx) {
  const int M = static_cast<int>(std::lround(2.0 * problem.half_width / dx)) + 1;
  const auto radius = [&](int j, int i) {
    return std::hypot(-problem.half_width + i * dx, -problem.half_width + j * dx);
  };
  MovingIce ice(Decomposition::make(M, M, 1, 1), dx, dx, [&](int j, int i) {
    Cell c; // on a bed above the sea, so that ice-free cells are land
    c.H = problem.H(0.0, radius(j, i));
    c.A = ice_softness;
    return c;
  });
  const double start = ice.volume();
  for (double t = 0.0; t < problem.t_end;) {
    const double longest = time_step(dx, dx, ice.shear(), 0.0, 60.0 * year).dt;
    const bool last = t + longest >= problem.t_end;
    if (problem.M) {
      ice.for_each([&](MovingIce::Local& s, int j, int i, int gj, int gi) {
        s.M(j, i) = problem.M(t, radius(gj, gi));
      });
    }
    ice.move(last ? problem.t_end - t : longest);
    t = last ? problem.t_end : t + longest;
  }
  Errors e;
  e.points = M;
  FixedSum exact_volume;
  ice.for_each([&](MovingIce::Local& s, int j, int i, int gj, int gi) {
    const double H = problem.H(problem.t_end, radius(gj, gi)), error = std::abs(s.H(j, i) - H);
    e.mean += error / (static_cast<double>(M) * M);
    if (radius(gj, gi) == 0.0) e.dome = s.H(j, i) - H;
    exact_volume.add(H);
  });
  e.volume_percent = 100.0 * std::abs(ice.volume() / exact_volume.value() - 1.0);
  e.closure = std::abs(ice.volume() - start - ice.budget.change()) / start;
  e.budget = ice.budget;
  return e;
}

Problem test_B() {
  const exact::Similarity B;
  return {[=](double t, double r) { return B.H(B.t0() + t, r); }, nullptr, 1200e3, 25000.0 * year};
}

struct Published { // PISM's documentation, test B after 25000 years
  double dx, volume_percent;
};
constexpr Published published[] = {
    {80e3, 0.00829}, {60e3, 0.04570}, {40e3, 0.04795}, {30e3, 0.18155}, {20e3, 0.01379}};
constexpr double last_digit = 5.1e-6; // of the volume error, %

} // namespace

TEST_CASE("test B, 25000 years: mean error and volume") {
  Table means("Test B (Halfar 1983) after 25000 years", "mean error of thickness, m");
  Table volumes("Test B: volume, which depends on sampling and conservation alone",
                "relative error of the volume, %");
  const double bounds[] = {9.53, 7.21, 4.97, 3.34, 1.72};
  std::vector<double> errors;
  for (std::size_t n = 0; n < 5; ++n) {
    const Published& row = published[n];
    const Errors e = run(test_B(), row.dx);
    means.add(e.points, row.dx / 1e3, e.mean, bounds[n]);
    volumes.add(e.points, row.dx / 1e3, e.volume_percent, row.volume_percent + last_digit);
    errors.push_back(e.mean);
    CHECK(std::abs(e.volume_percent - row.volume_percent) <= last_digit);
    CHECK(e.closure <= 1e-13);
    CHECK(e.budget.change() == 0.0);
  }
  means.check(0, 0.9);
  volumes.check(0);
  CHECK(std::log(errors.front() / errors.back()) / std::log(80.0 / 20.0) >=
        1.2); // from the coarsest to the finest grid
}

TEST_CASE("test C: growing ice, 3000 years") {
  const exact::Similarity C{5.0};
  const Problem growing{[=](double t, double r) { return C.H(C.t0() + t, r); },
                        [=](double t, double r) { return C.M(C.t0() + t, r); }, 1200e3,
                        3000.0 * year};
  Table table("Test C (lambda = 5) after 3000 years", "mean error of thickness, m");
  std::vector<double> errors;
  for (const auto& [dx, bound] : {std::pair{80e3, 24.91}, std::pair{60e3, 12.70},
                                  std::pair{40e3, 8.68}, std::pair{30e3, 5.72}}) {
    const Errors e = run(growing, dx);
    table.add(e.points, dx / 1e3, e.mean, bound);
    errors.push_back(e.mean);
    CHECK(e.closure <= 1e-13);
    CHECK(e.budget.surface.value() > 0.0);
  }
  table.check(0, 0.9);
  CHECK(std::log(errors.front() / errors.back()) / std::log(80.0 / 30.0) >= 1.2);
}

TEST_CASE("test A: steady ice, 5000 years") {
  // The balance jumps at r = L, and the grid knows L to a cell only: the ice ends at the centre of
  // the first cell outside. This moves the whole profile outwards by up to half a cell, an error of
  // first order that reaches the dome.
  const exact::TestA A;
  const Problem steady{[=](double, double r) { return A.H(r); },
                       [=](double, double r) { return A.M(r); }, 900e3, 5000.0 * year};
  Table means("Test A (Vialov 1958) after 5000 years", "mean error of thickness, m");
  Table domes("Test A: the ice stands where that of a larger disk would",
              "radius of that disk less L, in cells");
  for (const auto& [dx, bound] : {std::pair{75e3, 71.2}, std::pair{50e3, 56.6},
                                  std::pair{37.5e3, 45.3}, std::pair{25e3, 30.8}}) {
    const Errors e = run(steady, dx);
    means.add(e.points, dx / 1e3, e.mean, bound);
    // at the dome H goes like the square root of L
    const double H_dome = e.dome + A.H(0.0),
                 larger = A.L * (std::pow(H_dome / A.H(0.0), 2) - 1.0) / dx;
    domes.add(e.points, dx / 1e3, larger, 0.5);
    CHECK(larger > 0.3);
    CHECK(e.closure <= 1e-13);
    CHECK(e.budget.clipped.value() > 0.0); // outside, more melts than arrives
  }
  means.check(0, 0.5);
  domes.check(0);
}
