// Shallow ice flow: constants of the exact solutions; single faces. Errors against the exact
// solutions: tests/verification/test_sia.cpp; the same bits on any decomposition:
// tests/verification/test_transport.cpp; x and y alike: tests/program/run/test_symmetry.py.
#include "kernels/cases/exact_sia.hpp"
#include "kernels/moving_ice.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

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

// --- single faces

TEST_CASE("no shearing through fronts, cliffs and shelves") {
  const auto allowed = [](int a, double h_a, int b, double h_b) {
    const auto from_to = [](int from, double h_from, int to, double h_to) {
      return shear_flux_allowed(
          from, to, surface_continues(from, h_from, to, h_to) ? h_to - h_from : surface_ends);
    };
    const bool there = from_to(a, h_a, b, h_b), back = from_to(b, h_b, a, h_a);
    REQUIRE(there == back);
    return there;
  };
  CHECK(allowed(grounded_ice, 100.0, grounded_ice, 300.0));
  CHECK(allowed(grounded_ice, 100.0, floating_ice, 50.0));
  CHECK(allowed(grounded_ice, 100.0, ice_free_land, 50.0));
  CHECK_FALSE(allowed(grounded_ice, 100.0, ice_free_land, 150.0));
  CHECK_FALSE(allowed(grounded_ice, 100.0, ice_free_ocean, 0.0));
  CHECK_FALSE(allowed(floating_ice, 50.0, floating_ice, 40.0));
  CHECK_FALSE(allowed(floating_ice, 50.0, ice_free_land, 10.0));
  CHECK_FALSE(allowed(floating_ice, 50.0, ice_free_ocean, 0.0));

  const Patch p = Decomposition::make(4, 3, 1, 1).patch(0);
  const MovingIce::Local shelf(p);
  for (const auto& [j, i] : cells_and_ghosts_of(p)) {
    shelf.b(j, i) = -900.0;
    shelf.H(j, i) = 300.0 + 7.0 * i + 5.0 * j;
    shelf.A(j, i) = ice_softness;
  }
  shelf.update(p);
  CHECK(shelf.shear(p, 1e3, 1e3) == 0.0); // nor do its faces shorten the step
}

TEST_CASE("edges: the rise to the east and to the north, or the end of the surface") {
  const Patch p = Decomposition::make(4, 3, 1, 1).patch(0);
  const MovingIce::Local s(p);
  for (const auto& [j, i] : cells_and_ghosts_of(p)) {
    // columns: grounded ice, ice, a shelf, ocean, ocean, ocean
    s.b(j, i) = i < 2 ? 10.0 * j : -900.0;
    s.H(j, i) = i < 2 ? 500.0 + 7.0 * i : i == 2 ? 300.0 + j : 0.0;
  }
  s.update(p);
  for (int j = 0; j <= p.ym + 1; ++j) {
    CHECK(s.edges.x(j, 0) == 7.0);
    CHECK(s.edges.x(j, 1) == s.h(j, 2) - s.h(j, 1)); // the grounding line
    CHECK(s.edges.x(j, 2) == surface_ends);          // the front
    CHECK(s.edges.x(j, 4) == 0.0);
    if (j > p.ym) continue;
    CHECK(s.edges.y(j, 1) == 10.0);
    CHECK(s.edges.y(j, 2) == floating_surface(301.0 + j) - floating_surface(300.0 + j));
    CHECK(s.edges.y(j, 5) == 0.0);
  }
  MeanRise mean;
  mean.add_both(s.edges.x(1, 1), s.edges.x(1, 2));
  CHECK(mean.value() == s.edges.x(1, 1));
  MeanRise none;
  none.add_both(surface_ends, surface_ends);
  CHECK(none.value() == 0.0);
}

TEST_CASE("the slope along a face is the mean of the rises on both sides of it: a twisted slab") {
  const Patch p = Decomposition::make(5, 4, 1, 1).patch(0);
  const MovingIce::Local s(p);
  for (const auto& [j, i] : cells_and_ghosts_of(p)) {
    s.b(j, i) = 2000.0 + 3.0 * i * j;
    s.H(j, i) = 1000.0;
    s.A(j, i) = 1e-24;
  }
  s.update(p);
  s.shear(p, 1e3, 2e3);
  const auto flux = [](double across, double along) {
    return -sia_diffusivity(1e-24, 1000.0, across * across + along * along) * across;
  };
  using Catch::Matchers::WithinRel;
  for (const auto& [j, i] : cells_of(p)) {
    CAPTURE(j, i);
    CHECK_THAT(s.q_x(j, i), WithinRel(flux(3e-3 * j, 1.5e-3 * (i + 0.5)), 1e-11));
    CHECK_THAT(s.q_y(j, i), WithinRel(flux(1.5e-3 * i, 3e-3 * (j + 0.5)), 1e-11));
  }
}

TEST_CASE("the flux through a face, and the largest diffusivity") {
  const Patch p = Decomposition::make(2, 1, 1, 1).patch(0);
  const MovingIce::Local s(p);
  for (const auto& [j, i] : cells_and_ghosts_of(p)) {
    s.A(j, i) = ice_softness;
    s.b(j, i) = 1.0;
    s.H(j, i) = i < 2 ? 2000.0 : 1000.0;
  }
  s.update(p);
  // slope 0.01; y-faces at i = 1: half the slope, thicker ice
  const double D = sia_diffusivity(ice_softness, 1500.0, 1e-4),
               D_y = sia_diffusivity(ice_softness, 2000.0, 0.005 * 0.005);
  CHECK(s.shear(p, 1e5, 1e5) == std::max(D, D_y));
  CHECK(s.q_x(1, 1) == D * 0.01);
  CHECK(s.q_x(1, 0) == 0.0);
  CHECK(s.q_x(1, 2) == 0.0);
}
