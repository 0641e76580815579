// Mass transport: budgets that close to rounding on coasts drawn by lot, positivity at any velocity
// and any step. An exact solution: test_marine.cpp. Single cells: tests/kernels/test_transport.cpp.
// The whole program: tests/program/run/test_verification.py.
#include "kernels/moving_ice.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace nunatak;

namespace {

/// Cells drawn by lot: `speed` is the largest sliding velocity (m s-1), `ice` the share with ice.
struct Lottery {
  unsigned seed;
  double speed, ice, lowest_bed = -900.0;
  bool sources = true, shearing = true;

  Cell operator()(int j, int i) const {
    std::mt19937 generator(seed * 1000003u + static_cast<unsigned>(j) * 1009u +
                           static_cast<unsigned>(i));
    generator.discard(8);
    const auto random = [&] { return static_cast<double>(generator()) / 4294967296.0; };
    Cell c;
    c.b = lowest_bed + 1000.0 * random();
    c.H = random() < ice ? 1000.0 * random() : 0.0;
    c.u = speed * (2.0 * random() - 1.0), c.v = speed * (2.0 * random() - 1.0);
    if (sources) c.M = 1e-6 * (random() - 0.6), c.m = 2e-6 * (random() - 0.2);
    if (shearing) c.A = ice_softness * random();
    return c;
  }
};

/// What the volume misses after the steps so far, relative to the largest term.
double closure(MovingIce& ice, double start) {
  const MassBudget& b = ice.budget;
  double scale = std::max(start, ice.volume());
  for (const FixedSum* term : {&b.surface, &b.basal, &b.calved, &b.edge, &b.clipped}) {
    scale = std::max(scale, std::abs(term->value()));
  }
  return std::abs(ice.volume() - start - b.change()) / scale;
}

} // namespace

TEST_CASE("the budget closes on any coast, with the same bits on any decomposition") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const Lottery lottery{seed, 2e-4 * seed, 0.7};
    const auto run = [&](int px, int py) {
      MovingIce ice(Decomposition::make(23, 19, px, py), 500.0, 400.0, lottery);
      const double before = ice.volume();
      // ice that stands at the edge of the domain with a velocity into it enters: few steps
      for (int n = 0; n < 30; ++n) ice.step(2e5);
      CAPTURE(seed, px, py);
      CHECK(closure(ice, before) <= 1e-13);
      std::vector<double> result = ice.thickness();
      for (const FixedSum& term : {ice.budget.surface, ice.budget.basal, ice.budget.calved,
                                   ice.budget.edge, ice.budget.clipped}) {
        CHECK(term.value() != 0.0);
        result.push_back(term.value());
      }
      return result;
    };
    const std::vector<double> one = run(1, 1);
    CHECK(one == run(2, 1));
    CHECK(one == run(3, 2));
    CHECK(one == run(23, 19));
  }
}

TEST_CASE("no thickness is ever negative, whatever the velocity and however long the step") {
  // Courant numbers from 0.1 to 1e9. Without sources only rounding may be clipped.
  for (const double courant : {0.1, 1.0, 10.0, 1e3, 1e6, 1e9}) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      for (const bool sources : {false, true}) {
        Decomposition d = Decomposition::make(17, 15, 2, 2);
        d.periodic_x = d.periodic_y = true; // nothing enters: the volume has a bound
        const double dx = 1000.0, dt = 1e7;
        MovingIce ice(d, dx, dx, Lottery{seed, courant * dx / dt, 0.6, -900.0, sources});
        const double before = ice.volume();
        CAPTURE(courant, seed, sources);
        for (int n = 0; n < 10; ++n) {
          ice.step(dt);
          int bad = 0;
          for (const double H : ice.thickness()) bad += H >= 0.0 && H < 1e6 ? 0 : 1;
          REQUIRE(bad == 0);
        }
        CHECK(closure(ice, before) <= 1e-13);
        if (!sources) CHECK(ice.budget.clipped.value() <= 1e-13 * before);
      }
    }
  }
}
