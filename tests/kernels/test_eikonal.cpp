// Distances in metres: one solution for every order and decomposition, and its convergence to exact
// distances.
#include "kernels/distance/eikonal.hpp"
#include "tests/kernels/distance_case.hpp"
#include "tests/kernels/errors.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <queue>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

/// 1 seeds, 0 domain, -1 outside -> metres.
Grid<double> metres_of(const Grid<int>& start, double dx, double dy, int px = 1, int py = 1) {
  VirtualRanks ranks(Decomposition::make(start.Mx, start.My, px, py));
  MetreFields metres(1);
  for (const int r : ranks.locals())
    Kokkos::deep_copy(metres[0].emplace_back(shared_array<double>("metres", ranks.patch(r))), 7.0);
  solve_eikonal(ranks, dx, dy, {scatter(ranks, start)}, metres);
  return gather(ranks, metres[0]);
}

/// The same equations solved in another way: the cell with the smallest value is final, one after
/// the other.
Grid<double> in_order_of_value(const Grid<int>& start, double dx, double dy) {
  Grid<double> u(start.Mx, start.My, not_reached);
  Grid<char> final(start.Mx, start.My, 0);
  using Trial = std::pair<double, int>;
  std::priority_queue<Trial, std::vector<Trial>, std::greater<Trial>> trials;
  for (int n = 0; n < start.Mx * start.My; ++n) {
    if (start.values[n] == 1) u.values[n] = 0.0, trials.push({0.0, n});
  }
  const auto known = [&](int j, int i) {
    return u.inside(j, i) && final(j, i) ? u(j, i) : not_reached;
  };
  while (!trials.empty()) {
    const int cell = trials.top().second, cj = cell / u.Mx, ci = cell % u.Mx;
    trials.pop();
    if (final(cj, ci)) continue;
    final(cj, ci) = 1;
    for (const auto& [dj, di] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
      const int j = cj + dj, i = ci + di;
      if (!u.inside(j, i) || start(j, i) != 0 || final(j, i)) continue;
      u(j, i) = upwind_distance(std::min(known(j, i - 1), known(j, i + 1)), dx,
                                std::min(known(j - 1, i), known(j + 1, i)), dy);
      trials.push({u(j, i), j * u.Mx + i});
    }
  }
  return u;
}

/// Largest error over the domain on n x n cells of a square of 1 m; exact(x, y) is 0 at seeds,
/// negative outside.
template <class Exact> double error(int n, const Exact& exact) {
  Grid<int> start(n, n);
  const double h = 1.0 / n;
  const auto at = [&](int j, int i) { return exact((i + 0.5) * h, (j + 0.5) * h); };
  for (const auto& [j, i] : points_of(n, n))
    start(j, i) = at(j, i) < 0.0 ? -1 : at(j, i) == 0.0 ? 1 : 0;
  const Grid<double> u = metres_of(start, h, h);
  double largest = 0.0;
  for (const auto& [j, i] : points_of(n, n)) {
    if (start(j, i) >= 0) largest = larger_error(largest, u(j, i) - at(j, i));
  }
  return largest;
}

} // namespace

TEST_CASE("the upwind value is larger than what it depends on, rounding included") {
  std::mt19937 random(3);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  int wrong = 0;
  for (int n = 0; n < 20000; ++n) {
    const double h = n % 2 == 0 ? 1.0 : 0.3 + uniform(), k = n % 2 == 0 ? 1.0 : 0.3 + uniform(),
                 a = 1e3 * uniform();
    double b = a + 1.5 * h * uniform(); // and close to where the second argument stops to count:
    for (int step = n % 16; step < 8; ++step)
      b = std::nextafter(step % 8 == n % 16 ? a + h : b, n % 3 == 0 ? 0.0 : 1e9);
    const double u = upwind_distance(a, h, b, k), alone = upwind_distance(a, h, not_reached, k);
    wrong += u > a && u <= alone ? 0 : 1;
    wrong += b < u || u == alone ? 0 : 1;
    wrong += u == upwind_distance(b, k, a, h) || a == b ? 0 : 1;
    wrong += u == upwind_distance(a, h, std::max(b, u), k) || b < u ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(upwind_distance(2.0, 3.0, not_reached, 1.0) == 5.0);
  CHECK(upwind_distance(not_reached, 3.0, not_reached, 1.0) == not_reached);
  CHECK(std::abs(upwind_distance(0.0, 3.0, 0.0, 4.0) - 2.4) <
        1e-15); // the height of the triangle 3, 4, 5
}

TEST_CASE("one solution: the same bits in order of values and by sweeps, on any grid") {
  for (const auto& [name, mask] : test_masks()) {
    for (const auto& [dx, dy] : {std::pair{1000.0, 1000.0}, {700.0, 1900.0}}) {
      const Grid<int> start = with_seeds(mask, dx == 1000.0 ? 60 : 9, 1);
      const Grid<double> expected = in_order_of_value(start, dx, dy);
      for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
        INFO(name << " on " << px << " x " << py);
        CHECK(metres_of(start, dx, dy, px, py) == expected);
      }
    }
  }
}

TEST_CASE("one solution on 32 x 32 ranks: open water, obstacles, a serpentine", "[many]") {
  const Grid<int> path = with_seed_at_corner(serpentine(65, 65));
  Grid<int> open(80, 70);
  open(33, 41) = 1;
  for (const Grid<int>& start : {open, with_seeds(random_mask(80, 70, 0.8, 5), 500, 2), path})
    CHECK(metres_of(start, 0.1, 0.1, 32, 32) == in_order_of_value(start, 0.1, 0.1));
  CHECK(metres_of(path, 1.0, 1.0, 32, 32)(64, 64) > 33 * 63 + 64); // corners are cut, walls are not
}

TEST_CASE("a straight front is exact; walls; cells that no seed reaches") {
  Grid<int> start(6, 5);
  for (int j = 0; j < 5; ++j) start(j, 0) = 1, start(j, 4) = -1;
  const Grid<double> u = metres_of(start, 250.0, 40.0, 3, 2);
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < 4; ++i) CHECK(u(j, i) == 250.0 * i);
    CHECK(u(j, 4) == not_reached);
    CHECK(u(j, 5) == not_reached);
  }
}

TEST_CASE("first order: distance to a point, to a disc, around a corner") {
  const auto point = [](double x, double y) { // the cell in the middle; n is odd
    const double r = std::hypot(x - 0.5, y - 0.5);
    return r < 1e-12 ? 0.0 : r;
  };
  const auto disc = [](double x, double y) {
    return std::max(std::hypot(x - 0.5, y - 0.5) - 0.2, 0.0);
  };
  //    . . . . .   The wall is x > X, y < Y. The seed is the first cell of the coarsest grid:
  //    . . C # #   all grids have a cell there. Where the wall hides it, the path goes by the
  //    s . . # #   corner C = (X, Y).
  const auto corner = [](double x, double y) {
    const double X = 0.5, Y = 0.6, seed = 0.5 / 45.0;
    if (x > X + 1e-9 && y < Y) return -1.0;
    const double r = std::hypot(x - seed, y - seed);
    if (r < 1e-12) return 0.0;
    const bool seen = x <= X || (x - seed) * (Y - seed) <= (y - seed) * (X - seed);
    return seen ? r : std::hypot(X - seed, Y - seed) + std::hypot(x - X, y - Y);
  };
  struct Row {
    int n;
    double point, disc, corner; // bounds of the error, m
  };
  const std::vector<Row> table = {{45, 0.0235, 0.02223, 0.0423},
                                  {135, 0.0105, 0.00741, 0.0188},
                                  {405, 0.00441, 0.00234, 0.00794}};
  Row before{};
  for (const Row& row : table) {
    const Row found{row.n, error(row.n, point), error(row.n, disc), error(row.n, corner)};
    INFO(row.n << " cells: point " << found.point << ", disc " << found.disc << ", corner "
               << found.corner);
    CHECK(found.point < row.point);
    CHECK(found.disc < row.disc);
    CHECK(found.corner < row.corner);
    if (before.n >
        0) { // orders: h log h behind a point, where the curvature of the front is not bounded
      CHECK(std::log(before.point / found.point) / std::log(3.0) > 0.73);
      CHECK(std::log(before.disc / found.disc) / std::log(3.0) > 0.99);
      CHECK(std::log(before.corner / found.corner) / std::log(3.0) > 0.73);
    }
    before = found;
  }
}

TEST_CASE("distances in cells, as PICO takes them") {
  // metres / 1000, by hand:    2     2.55  3.25  4.05     steps along the grid:  3 4 5 6
  //                            1     1.71  2.55  3.44                            2 3 4 5
  //                            0     1     2     3                               1 2 3 4
  const Grid<int> start = draw({"1...-.", "....--", "....-."}),
                  expected = draw({"1234-.", "2344--", "3445-."});
  for (const auto& [px, py] : decompositions(6, 3)) {
    VirtualRanks ranks(Decomposition::make(6, 3, px, py));
    const DistanceFields fields{scatter(ranks, start), scatter(ranks, Grid<int>(6, 3, -1))};
    const auto maxima = [&](int r) {
      int largest = 0;
      const Patch p = ranks.patch(r);
      for (const auto& [j, i] : cells_of(p)) largest = std::max(largest, fields[0][r](j, i));
      return std::vector<std::int64_t>{largest, r};
    };
    const DistanceReport report = eikonal_distances(ranks, 1000.0, 1000.0, {fields, {}, maxima});
    CHECK(gather(ranks, fields[0]) == expected);
    CHECK(gather(ranks, fields[1]) == Grid<int>(6, 3, -1));
    CHECK(report.maxima == std::vector<std::int64_t>{5, px * py - 1});
    CHECK(report.rounds % 4 == 0);
    CHECK((report.rounds == 0) == (px * py == 1));
    CHECK(ranks.traffic().collectives == std::max(report.rounds / 4, 1));
  }
}

TEST_CASE("distances that 31 bits do not hold are refused, on every rank") {
  const Grid<int> start = draw({"1...", "...."}); // the farthest cell: about 3.7 cells
  for (const auto& [px, py] : decompositions(4, 2)) {
    VirtualRanks ranks(Decomposition::make(4, 2, px, py));
    const auto solve = [&](double unit) {
      eikonal_distances(ranks, 1e6, 1e6, {{scatter(ranks, start)}, {}, {}}, unit);
    };
    CHECK_NOTHROW(solve(0.002));
    CHECK_THROWS_WITH(solve(0.001), ContainsSubstring("expected at most 2147483646 units") &&
                                        ContainsSubstring("-fmm_unit"));
  }
}

TEST_CASE("cells are visited in the order of their values: hardly any twice") {
  const Grid<int> start = with_seeds(random_mask(201, 201, 0.8, 5), 40000, 3);
  const std::int64_t domain = std::count(start.values.begin(), start.values.end(), 0);
  VirtualRanks ranks(Decomposition::make(201, 201, 1));
  const std::vector<Array2<int>> local = scatter(ranks, start);
  bool changed = false;
  Grid<double> metres(203, 203);
  EikonalPatch patch(ranks.patch(0), 1.0, 1.0, local[0].data(), &metres(0, 0));
  CHECK(patch.relax(changed) <
        domain * 11 / 10); // sweeps over rows and columns: 5 times the domain
  CHECK(changed);
}

TEST_CASE("what cannot be solved is refused") {
  Decomposition d = Decomposition::make(8, 8, 2);
  VirtualRanks ranks(d);
  CHECK_THROWS_WITH(solve_eikonal(ranks, 1.0, 0.0, {}, {}), ContainsSubstring("dy > 0"));
  d.periodic_x = true;
  VirtualRanks around(d);
  CHECK_THROWS_WITH(solve_eikonal(around, 1.0, 1.0, {}, {}), ContainsSubstring("periodic"));
}
