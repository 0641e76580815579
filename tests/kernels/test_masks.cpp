// The masks of kernels/cases/masks.hpp: what their names promise, at every size.
#include "kernels/cases/masks.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <numeric>

using namespace nunatak;

namespace {

int neighbours(const Grid<int>& g, int j, int i) {
  int n = 0;
  for (const auto& [dj, di] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}})
    n += g.inside(j + dj, i + di) && g(j + dj, i + di) == 1;
  return n;
}

/// Cells that can be reached from (j, i) within the mask.
int reached(const Grid<int>& g, int j, int i) {
  const FloodFill c = flood_fill(g, [](int v) { return v == 1; });
  return c.number(j, i) == 0 ? 0 : c.cells[c.number(j, i) - 1];
}

/// One path from (0, 0), one cell wide: two ends, other cells have two neighbours, all joined.
bool is_path(const Grid<int>& g) {
  const int cells = static_cast<int>(std::count(g.values.begin(), g.values.end(), 1));
  int ends = 0, joints = 0;
  for (const auto& [j, i] : points_of(g.Mx, g.My)) {
    if (g(j, i) != 1) continue;
    ends += neighbours(g, j, i) == 1;
    joints += neighbours(g, j, i) == 2;
  }
  if (cells == 1) return g(0, 0) == 1;
  return neighbours(g, 0, 0) == 1 && ends == 2 && joints == cells - 2 && reached(g, 0, 0) == cells;
}

Grid<int> shelves(int Mx, int My, std::uint64_t seed, double roughness) {
  return grid_of(Mx, My, masks::Shelves(Mx, My, seed, roughness));
}

} // namespace

TEST_CASE("as drawn") {
  CHECK(serpentine(5, 4) == draw({"11111", "....1", "11111", "1...."}));
  CHECK(comb(5, 3) == draw({"1.1.1", "1.1.1", "11111"}));
  CHECK(checkerboard(5, 3) == draw({".1.1.", "1.1.1", ".1.1."}));
  CHECK(spiral(7, 7) == draw({"1111111", //
                              "......1", //
                              "11111.1", //
                              "1...1.1", //
                              "1.111.1", //
                              "1.....1", //
                              "1111111"}));
  CHECK(spiral(9, 5) == draw({"111111111", //
                              "........1", //
                              "1111111.1", //
                              "1.......1", //
                              "111111111"}));
  CHECK(spiral(6, 6) == draw({"111111", //
                              ".....1", //
                              "1111.1", //
                              "1..1.1", //
                              "1....1", //
                              "111111"}));
  CHECK(spiral(4, 4) == draw({"1111", "...1", "1..1", "1111"}));
}

TEST_CASE("serpentine and spiral are one path at every size") {
  for (int Mx = 1; Mx <= 16; ++Mx) {
    for (int My = 1; My <= 16; ++My) {
      INFO(Mx << " x " << My);
      CHECK(is_path(spiral(Mx, My)));
      if (Mx >= 3) CHECK(is_path(serpentine(Mx, My)));
    }
  }
  CHECK(is_path(spiral(41, 41)));
  CHECK(reached(spiral(41, 41), 0, 0) == 881);
  CHECK(reached(serpentine(41, 41), 0, 0) == 881);
}

TEST_CASE("percolation: a fraction p, another for every seed, the same cells in every grid") {
  const auto mask = [](double p, std::uint64_t seed, int M) {
    return grid_of(M, M, [=](int j, int i) { return masks::percolation(p, seed, j, i); });
  };
  const Grid<int> a = mask(0.3, 1, 200), b = mask(0.3, 2, 200), smaller = mask(0.3, 1, 50);
  CHECK(std::abs(std::count(a.values.begin(), a.values.end(), 1) - 12000) <
        400); // 4.4 standard deviations
  CHECK(std::abs(std::inner_product(a.values.begin(), a.values.end(), b.values.begin(), 0) - 3600) <
        260);
  for (int j = 0; j < 50; ++j) CHECK(std::equal(&smaller(j, 0), &smaller(j, 0) + 50, &a(j, 0)));
  CHECK(mask(0.0, 1, 50) == Grid<int>(50, 50, 0));
  CHECK(mask(1.0, 1, 50) == Grid<int>(50, 50, 1));
  CHECK(masks::random_of_cell(1, 3, 4) != masks::random_of_cell(1, 4, 3));
}

TEST_CASE("shelves: land in the middle, ocean around it, shelves, ice rises and islands between") {
  using masks::Shelves;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    for (const double roughness : {0.0, 0.5, 1.0}) {
      const Grid<int> g = shelves(240, 240, seed, roughness);
      INFO("seed " << seed << ", roughness " << roughness);
      std::map<int, int> cells;
      for (const int v : g.values) cells[v] += 1;
      CHECK(cells.size() == 3);
      CHECK(cells[Shelves::grounded] > 5000);
      CHECK(cells[Shelves::floating] > 800);
      CHECK(cells[Shelves::ocean] > 15000);
      CHECK(g(120, 120) == Shelves::grounded);
      for (const auto& [j, i] : {std::pair{0, 0}, {0, 239}, {239, 0}, {239, 239}})
        CHECK(g(j, i) == Shelves::ocean);
      // some land is not joined to the continent
      const Grid<int> land =
          grid_of(240, 240, [&](int j, int i) { return g(j, i) == Shelves::grounded; });
      CHECK(reached(land, 120, 120) < cells[Shelves::grounded]);
      CHECK(reached(land, 120, 120) > 0.9 * cells[Shelves::grounded]);
    }
  }
  CHECK_FALSE(shelves(240, 240, 1, 0.5) == shelves(240, 240, 2, 0.5));
}

TEST_CASE("shelves: the longer side counts, and a finer grid samples the same continent") {
  const Grid<int> coarse = shelves(81, 61, 7, 0.5), fine = shelves(243, 183, 7, 0.5);
  for (const auto& [j, i] : points_of(81, 61))
    CHECK(coarse(j, i) == fine(3 * j + 1, 3 * i + 1)); // its middle cell
}
