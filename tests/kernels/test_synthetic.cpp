// Initial states without files: the continent of any seed and resolution; dome, shelf, stream.
#include "kernels/cases/continent.hpp"
#include "kernels/ice/geometry.hpp"
#include "tests/kernels/errors.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>

#include <set>

using namespace nunatak;

namespace {

/// A continent sampled on M x M points.
struct Sampled {
  int M;
  double dx;
  std::vector<synthetic::Site> site;
  std::vector<int> type;

  Sampled(std::uint64_t seed, int M_) : M(M_), dx(2.0 * synthetic::marine_half_width / (M_ - 1)) {
    const synthetic::Continent continent(seed);
    for (const auto& [j, i] : points_of(M, M)) {
      site.push_back(continent.at(-synthetic::marine_half_width + i * dx,
                                  -synthetic::marine_half_width + j * dx));
      type.push_back(cell_type(site.back().b, site.back().H));
    }
  }

  int count(int t) const { return static_cast<int>(std::count(type.begin(), type.end(), t)); }
};

} // namespace

TEST_CASE("the hash is the published one, noise is bounded and smooth") {
  CHECK(hash64(0) == 0xe220a8397b1dcdafULL); // the first number of SplitMix64 from seed 0
  double largest = 0.0, jump = 0.0;
  for (int n = 0; n < 20000; ++n) {
    const double x = -1e6 + 97.0 * n, y = 3e5 - 31.0 * n, value = noise(7, x, y, 100e3);
    largest = larger_error(largest, value);
    jump = larger_error(jump, noise(7, x + 1.0, y, 100e3) - value);
  }
  CHECK(largest <= 1.0);
  CHECK(largest > 0.5);
  CHECK(jump <= 1.875 * 2.0 / 100e3); // the steepest slope of the quintic between -1 and 1
}

TEST_CASE("angles, sines and distances are those of the C library, but for the last bits") {
  double most = 0.0;
  for (int n = -20000; n <= 20000; ++n) {
    const double a = 1e-3 * n, x = 2e6 * std::cos(a), y = 2e6 * std::sin(a);
    for (const double misses :
         {synthetic::sine(a) - std::sin(a), synthetic::cosine(a) - std::cos(a),
          synthetic::angle(x, y) - std::atan2(y, x), synthetic::length(x, y) / 2e6 - 1.0})
      most = larger_error(most, misses);
  }
  CHECK(most < 2e-15);
  for (const double x : {-1.0, 0.0, 1.0}) {
    for (const double y : {-1.0, 0.0, 1.0})
      CHECK(std::abs(synthetic::angle(x, y) - std::atan2(y, x)) < 1e-15);
  }
}

TEST_CASE("marine at 16 km: a plausible ice sheet, for several seeds", "[many]") {
  for (const std::uint64_t seed : {0, 1, 2, 3, 4, 5}) {
    const Sampled s(seed, 381);
    CAPTURE(seed);

    Grid<int> types(s.M, s.M);
    types.values = s.type;
    const auto grounded_parts =
        flood_fill(types, [](int t) { return t == grounded_ice || t == ice_free_land; });
    const auto water =
        flood_fill(types, [](int t) { return t == floating_ice || t == ice_free_ocean; });
    const auto floating = flood_fill(types, [](int t) { return t == floating_ice; });
    const auto open = flood_fill(types, [](int t) { return t == ice_free_ocean; });
    const int ocean_water = water.number.values[0];
    std::set<int> shelves;
    int thickest = 0, thinnest_shelf = 10000, thickest_shelf = 0;
    for (int n = 0; n < s.M * s.M; ++n) {
      const int H = static_cast<int>(s.site[n].H);
      thickest = std::max(thickest, H);
      if (s.type[n] != floating_ice || water.number.values[n] != ocean_water) continue;
      if (floating.cells[floating.number.values[n] - 1] >= 3)
        shelves.insert(floating.number.values[n]); // slivers do not count
      thinnest_shelf = std::min(thinnest_shelf, H), thickest_shelf = std::max(thickest_shelf, H);
    }
    CHECK(shelves.size() >= 20);
    CHECK(grounded_parts.cells.size() >= 1 + 10); // the continent and ice rises
    CHECK(open.cells.size() >= 1 + 3);            // the ocean and holes
    CHECK(water.cells.size() >= 1 + 3);           // the ocean with its shelves, and lakes
    CHECK(thickest >= 2900);
    CHECK(thickest <= 4300);
    CHECK(thinnest_shelf >= 200);
    CHECK(thickest_shelf <= 1300);
    CHECK(s.count(grounded_ice) >= 35000);
    CHECK(s.count(floating_ice) >= 3500);
    CHECK(s.count(ice_free_land) >= 20); // nunataks

    // the sea at the edges of the domain is deep; the continental shelf is there
    int edge_ice = 0, continental_shelf = 0;
    std::set<int> basins;
    double stress = 0.0;
    for (const auto& [j, i] : points_of(s.M, s.M)) {
      const int n = j * s.M + i;
      const synthetic::Site& site = s.site[n];
      basins.insert(site.basin);
      if (s.type[n] == ice_free_ocean && site.b > -800.0) continental_shelf += 1;
      if (i == 0 || j == 0 || i == s.M - 1 || j == s.M - 1) {
        edge_ice += s.type[n] == ice_free_ocean && site.b < -2500.0 ? 0 : 1;
        continue;
      }
      if (s.type[n] != grounded_ice || s.type[n + 1] != grounded_ice) continue;
      const double slope =
          (surface(s.site[n + 1].b, s.site[n + 1].H) - surface(site.b, site.H)) / s.dx;
      stress =
          std::max(stress, rho_ice * gravity * 0.5 * (site.H + s.site[n + 1].H) * std::abs(slope));
    }
    CHECK(edge_ice == 0);
    CHECK(continental_shelf >= 5000);
    CHECK(basins == [] {
      std::set<int> all;
      for (int b = 1; b <= synthetic::Continent::basins; ++b) all.insert(b);
      return all;
    }());
    CHECK(stress <= 250e3); // Pa: no wild first steps
  }
}

TEST_CASE("forcing is plausible everywhere") {
  const Sampled s(1, 96);
  for (const synthetic::Site& site : s.site) {
    const auto within = [](double least, double value, double most) {
      return least <= value && value <= most;
    };
    REQUIRE(within(0.03, site.M * seconds_per_year, 0.53));
    REQUIRE(within(210.0, site.T_s, 265.0));
    REQUIRE(within(0.04, site.G, 0.09));
    REQUIRE(within(271.0, site.theta_ocean, 274.0));
    REQUIRE(within(34.0, site.salinity_ocean, 35.0));
  }
}

TEST_CASE("resolution samples one continent; seeds make different ones") {
  const Sampled coarse(1, 191), fine(1, 381), other(2, 191);
  const auto area = [](const Sampled& s, int t) { return s.count(t) * s.dx * s.dx; };
  CHECK(std::abs(area(coarse, floating_ice) / area(fine, floating_ice) - 1.0) <= 0.05);
  CHECK(std::abs(area(coarse, grounded_ice) / area(fine, grounded_ice) - 1.0) <= 0.01);
  int different = 0;
  for (std::size_t n = 0; n < coarse.type.size(); ++n)
    different += coarse.type[n] != other.type[n] ? 1 : 0;
  CHECK(different > 1000);
}

TEST_CASE("dome, shelf, stream") {
  CHECK(synthetic::dome(0.0, 0.0).H == 3600.0);
  CHECK(synthetic::dome(800e3, 0.0).H == 0.0);
  CHECK(cell_type(synthetic::dome(800e3, 0.0).b, 0.0) == ice_free_land);
  CHECK(std::abs(synthetic::shelf(0.0, 0.0).H - 600.0) <= 1e-9);
  CHECK(synthetic::shelf(500e3, 0.0).H == 0.0);
  const synthetic::Site front = synthetic::shelf(499e3, 0.0);
  CHECK(cell_type(front.b, front.H) == floating_ice);
  // C = 2.45e-18 in the papers' digits
  const double Q0 = 600.0 * 300.0 / seconds_per_year;
  CHECK(std::abs((std::pow(front.H, -4) - std::pow(600.0, -4)) * Q0 / (4.0 * 499e3) - 2.45e-18) <=
        0.005e-18);
  const synthetic::Site up = synthetic::stream(0.0, 1e4), down = synthetic::stream(1e4, -1e4);
  CHECK(std::abs(up.b + up.H - down.b - down.H - 10.0) <= 1e-9);
  CHECK(synthetic::stream_yield_stress(0.0) == 0.0);
  CHECK(std::abs(synthetic::stream_yield_stress(-40e3) - 910.0 * 9.81 * 2.0) <= 1e-9);
}
