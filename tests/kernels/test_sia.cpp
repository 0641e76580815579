// Shallow ice flow on virtual ranks: constants of the exact solutions, the same bits on any
// decomposition; single faces. Errors against the exact solutions: tests/verification/test_sia.cpp.
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

// --- single faces: where there is no flux, symmetry of the axes

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
}

TEST_CASE(
    "edges: the rise to the east and to the north, ghosts included, or the end of the surface") {
  const Patch p = Decomposition::make(4, 3, 1, 1).patch(0);
  const auto b = make_array<double>("b", p), H = make_array<double>("H", p),
             h = make_array<double>("h", p);
  const auto mask = make_array<int>("mask", p);
  for (int j = 0; j <= p.ym + 1; ++j) {
    for (int i = 0; i <= p.xm + 1; ++i) // columns: grounded ice, ice, a shelf, ocean, ocean, ocean
      b(j, i) = i < 2 ? 10.0 * j : -900.0, H(j, i) = i < 2    ? 500.0 + 7.0 * i
                                                     : i == 2 ? 300.0 + j
                                                              : 0.0;
  }
  update_geometry(p, b, H, h, mask);
  const Edges edges(p);
  update_edges(p, h, mask, edges);
  for (int j = 0; j <= p.ym + 1; ++j) {
    CHECK(edges.x(j, 0) == 7.0);
    CHECK(edges.x(j, 1) == h(j, 2) - h(j, 1)); // the grounding line
    CHECK(edges.x(j, 2) == surface_ends);      // the front
    CHECK(edges.x(j, 4) == 0.0);
    if (j > p.ym) continue;
    CHECK(edges.y(j, 1) == 10.0);
    CHECK(edges.y(j, 2) == floating_surface(301.0 + j) - floating_surface(300.0 + j));
    CHECK(edges.y(j, 5) == 0.0);
  }
  MeanRise mean;
  mean.add_both(edges.x(1, 1), edges.x(1, 2));
  CHECK(mean.value() == edges.x(1, 1));
  MeanRise none;
  none.add_both(surface_ends, surface_ends);
  CHECK(none.value() == 0.0);
}

TEST_CASE("the slope along a face is the mean of the rises on both sides of it: a twisted slab") {
  const Patch p = Decomposition::make(5, 4, 1, 1).patch(0);
  const auto b = make_array<double>("b", p), H = make_array<double>("H", p),
             h = make_array<double>("h", p), A = make_array<double>("A", p),
             q_x = make_array<double>("q_x", p), q_y = make_array<double>("q_y", p);
  const auto mask = make_array<int>("mask", p);
  for (int j = 0; j <= p.ym + 1; ++j) {
    for (int i = 0; i <= p.xm + 1; ++i)
      b(j, i) = 2000.0 + 3.0 * i * j, H(j, i) = 1000.0, A(j, i) = 1e-24;
  }
  update_geometry(p, b, H, h, mask);
  const Edges edges(p);
  update_edges(p, h, mask, edges);
  sia_fluxes(p, 1e3, 1e3, edges, H, mask, A, q_x, q_y);
  const auto flux = [](double across, double along) {
    return -SiaDiffusivity{}(1e-24, 1000.0, across * across + along * along) * across;
  };
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      CHECK_THAT(q_x(j, i), Catch::Matchers::WithinRel(flux(3e-3 * j, 3e-3 * (i + 0.5)), 1e-11));
      CHECK_THAT(q_y(j, i), Catch::Matchers::WithinRel(flux(3e-3 * i, 3e-3 * (j + 0.5)), 1e-11));
    }
  }
}

TEST_CASE("x and y are treated alike: a transposed sheet has transposed fluxes") {
  const int n = 7;
  const Patch p = Decomposition::make(n, n, 1, 1).patch(0);
  const auto fluxes = [&](bool transpose, Array2<double> q_x, Array2<double> q_y) {
    auto b = make_array<double>("b", p), H = make_array<double>("H", p),
         h = make_array<double>("h", p), A = make_array<double>("A", p);
    auto mask = make_array<int>("mask", p);
    for (int j = 0; j < n + 2; ++j) {
      for (int i = 0; i < n + 2; ++i) {
        const int a = transpose ? i : j, c = transpose ? j : i;
        b(j, i) = -900.0 + 150.0 * ((5 * a + 3 * c) % 8),
             H(j, i) = 200.0 * ((2 * a * a + 7 * c) % 9), A(j, i) = 1e-24 * (1 + (a + c) % 3);
      }
    }
    update_geometry(p, b, H, h, mask);
    const Edges edges(p);
    update_edges(p, h, mask, edges);
    return transpose ? sia_fluxes(p, 2e4, 1e4, edges, H, mask, A, q_x, q_y)
                     : sia_fluxes(p, 1e4, 2e4, edges, H, mask, A, q_x, q_y);
  };
  auto q_x = make_array<double>("q_x", p), q_y = make_array<double>("q_y", p),
       r_x = make_array<double>("r_x", p), r_y = make_array<double>("r_y", p);
  CHECK(fluxes(false, q_x, q_y) == fluxes(true, r_x, r_y));
  int wrong = 0, zero = 0, other = 0;
  for (int j = 0; j <= n; ++j) {
    for (int i = 0; i <= n; ++i) {
      wrong += (j > 0 && q_x(j, i) != r_y(i, j)) || (i > 0 && q_y(j, i) != r_x(i, j)) ? 1 : 0;
      if (j > 0) (q_x(j, i) == 0.0 ? zero : other) += 1;
    }
  }
  CHECK(wrong == 0);
  CHECK(zero > 5); // fronts, shelves and cliffs are among the faces
  CHECK(other > 20);
}

TEST_CASE("the flux through a face, and the largest diffusivity") {
  const Patch p = Decomposition::make(2, 1, 1, 1).patch(0);
  auto h = make_array<double>("h", p), H = make_array<double>("H", p),
       A = make_array<double>("A", p);
  auto q_x = make_array<double>("q_x", p), q_y = make_array<double>("q_y", p);
  auto mask = make_array<int>("mask", p);
  Kokkos::deep_copy(A, ice_softness);
  Kokkos::deep_copy(mask, static_cast<int>(grounded_ice));
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 4; ++i) H(j, i) = h(j, i) = i < 2 ? 2000.0 : 1000.0;
  }
  const double D = SiaDiffusivity{}(ice_softness, 1500.0, 1e-4); // slope 0.01
  const double D_y = SiaDiffusivity{}(
      ice_softness, 2000.0, 0.005 * 0.005); // y-faces at i = 1: half the slope, thicker ice
  const Edges edges(p);
  update_edges(p, h, mask, edges);
  CHECK(sia_fluxes(p, 1e5, 1e5, edges, H, mask, A, q_x, q_y) == std::max(D, D_y));
  CHECK(q_x(1, 1) == D * 0.01);
  CHECK(q_x(1, 0) == 0.0);
  CHECK(q_x(1, 2) == 0.0);
}
