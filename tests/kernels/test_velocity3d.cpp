// Velocities at every level: the profile of shearing, its means, incompressibility, ice margins.
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/ice/velocity3d.hpp"
#include "tests/kernels/cells.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::abs(b);
}

/// A smooth ice cap with margin, shelf and sliding velocity; its 3-D velocity on virtual ranks.
struct Case {
  VirtualRanks ranks;
  Levels levels = make_levels(4000.0, 21, LevelSpacing::quadratic);
  std::vector<Array2<double>> H, h, b, A, u_b, v_b, m;
  std::vector<Array2<int>> mask;
  std::vector<HorizontalVelocity> out;
  std::vector<Array3<double>> w;
  std::vector<Edges> edges;
  double dx = 20e3, dy = 25e3;

  template <class F> Case(Decomposition d, const F& fill) : ranks(std::move(d)) {
    std::vector<std::vector<Ghosted>> first, second;
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      for (auto* list : {&H, &h, &b, &A, &u_b, &v_b, &m})
        list->push_back(make_array<double>("a", p));
      mask.push_back(make_array<int>("mask", p));
      out.push_back(HorizontalVelocity::make(p, levels.size()));
      w.push_back(make_columns<double>("w", p, levels.size()));
      Kokkos::deep_copy(A[r], ice_softness);
      for (const auto& [j, i] : cells_of(p)) {
        fill(dx * p.global_i(i), dy * p.global_j(j), b[r](j, i), H[r](j, i), u_b[r](j, i),
             v_b[r](j, i), m[r](j, i));
      }
      first.push_back({b[r], H[r]});
      second.push_back({out[r].u, out[r].v});
    }
    ranks.update_ghosts(first);
    for (int r = 0; r < ranks.local_size(); ++r) {
      update_geometry(ranks.patch(r), b[r], H[r], h[r], mask[r]);
      edges.emplace_back(ranks.patch(r));
      update_edges(ranks.patch(r), h[r], mask[r], edges[r]);
      horizontal_velocity(ranks.patch(r), dx, dy, levels, edges[r], H[r], mask[r], A[r], u_b[r],
                          v_b[r], out[r]);
    }
    ranks.update_ghosts(second);
    for (int r = 0; r < ranks.local_size(); ++r)
      vertical_velocity(ranks.patch(r), dx, dy, levels, H[r], mask[r], m[r], out[r], w[r]);
  }
};

} // namespace

TEST_CASE("levels: ends, spacing, ice in a column, refusals") {
  const Levels equal = make_levels(4000.0, 5, LevelSpacing::equal),
               quadratic = make_levels(4000.0, 5, LevelSpacing::quadratic);
  CHECK(equal.z_host == std::vector<double>{0.0, 1000.0, 2000.0, 3000.0, 4000.0});
  CHECK(quadratic.z_host == std::vector<double>{0.0, 437.5, 1250.0, 2437.5, 4000.0});
  CHECK(levels_in_ice(equal.z, 0.0) == 1);
  CHECK(levels_in_ice(equal.z, 1000.0) == 1);
  CHECK(levels_in_ice(equal.z, 1000.1) == 2);
  CHECK(levels_in_ice(equal.z, 9000.0) == 5);
  CHECK_THROWS(make_levels(4000.0, 1, LevelSpacing::equal));
  CHECK_THROWS(make_levels(0.0, 5, LevelSpacing::equal));
}

TEST_CASE("a slab on a slope: profile, means and heating are those of laminar flow") {
  const double H = 1000.0, slope = 0.004, u_b = 3e-6;
  Case slab(Decomposition::make(5, 4, 1, 1),
            [&](double x, double, double& b, double& thk, double& u, double& v, double&) {
              b = 3000.0 - slope * x, thk = H, u = u_b, v = -1e-6;
            });
  const double tau_b = rho_ice * gravity * H * slope,
               deformation = 2.0 * ice_softness * tau_b * tau_b * tau_b * H;
  const HorizontalVelocity& o = slab.out[0];
  const int j = 2, i = 3;
  for (int k = 0; k < slab.levels.size(); ++k) {
    const double z = std::min(slab.levels.z_host[k], H), depth = 1.0 - z / H;
    CHECK(close(o.u(j, i, k), u_b + deformation / 4.0 * (1.0 - std::pow(depth, 4)), 1e-12));
    CHECK(o.v(j, i, k) == -1e-6);
    CHECK(std::abs(o.heating(j, i) * std::pow(H - z, 4) -
                   2.0 * ice_softness * std::pow(tau_b * depth, 4)) <= 1e-15);
    CHECK(slab.w[0](j, i, k) == 0.0); // no divergence
  }
  CHECK(close(o.u_surface(j, i), u_b + deformation / 4.0, 1e-12));
  CHECK(close(o.u_mean(j, i), u_b + deformation / 5.0, 1e-12));
  CHECK(o.v_mean(j, i) == -1e-6);
}

TEST_CASE("sliding that spreads sinks: w = w_b - z (u_x + v_y)") {
  const double rate = 1e-10;
  Case shelf(Decomposition::make(6, 6, 1, 1),
             [&](double x, double y, double& b, double& H, double& u, double& v, double& m) {
               b = -2000.0, H = 800.0, u = rate * x, v = 0.5 * rate * y, m = 4e-8;
             });
  for (int k = 0; k < shelf.levels.size(); ++k) {
    const double z = std::min(shelf.levels.z_host[k], 800.0);
    CHECK(std::abs(shelf.w[0](3, 3, k) - (-4e-8 - 1.5 * rate * z)) <= 1e-21);
    CHECK(shelf.out[0].u(3, 3, k) == shelf.u_b[0](3, 3)); // a shelf slides as a block
  }
  CHECK(shelf.out[0].heating(3, 3) == 0.0);
}

TEST_CASE("gradients ignore the cliff at a front; ice-free cells do not move") {
  const auto fill = [](double x, double, double& b, double& H, double& u, double& v, double&) {
    b = -300.0, H = x < 50e3 ? 1500.0 - 0.001 * x : 0.0, u = 1e-6, v = 0.0;
  };
  Case marine(Decomposition::make(6, 3, 1, 1), fill);
  const HorizontalVelocity& o = marine.out[0];
  REQUIRE(marine.mask[0](2, 3) == grounded_ice);
  REQUIRE(marine.mask[0](2, 4) == ice_free_ocean);
  const double tau =
      rho_ice * gravity * marine.H[0](2, 3) * 0.001; // the slope inland, not the cliff
  const double expected = 1e-6 + 2.0 * ice_softness * std::pow(tau, 3) * marine.H[0](2, 3) / 4.0;
  CHECK(close(o.u_surface(2, 3), expected, 1e-9));
  CHECK(o.u(2, 4, 0) == 0.0);
  CHECK(o.u_surface(2, 4) == 0.0);
  marine.mask[0](2, 3) = ice_free_land,
                    marine.H[0](2, 3) = 0.0; // the ice is gone: so is its velocity
  for (int step = 0; step < 2; ++step) {
    horizontal_velocity(marine.ranks.patch(0), marine.dx, marine.dy, marine.levels, marine.edges[0],
                        marine.H[0], marine.mask[0], marine.A[0], marine.u_b[0], marine.v_b[0], o);
    vertical_velocity(marine.ranks.patch(0), marine.dx, marine.dy, marine.levels, marine.H[0],
                      marine.mask[0], marine.m[0], o, marine.w[0]);
    for (int k = 0; k < marine.levels.size(); ++k)
      CHECK((o.u(2, 3, k) == 0.0 && o.v(2, 3, k) == 0.0 && marine.w[0](2, 3, k) == 0.0));
    CHECK(o.heating(2, 3) == 0.0);
  }
}
