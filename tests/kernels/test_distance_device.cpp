// Distances by tiles: the bits of the level sweeps, on any domain and decomposition.
#include "kernels/distance/device/distance.hpp"
#include "kernels/distance/sweep.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace nunatak;

namespace {

/// Fields with seeds in one domain cell of 50, in one of 5, and in none.
std::vector<Grid<int>> three_fields(const Grid<int>& mask) {
  std::vector<Grid<int>> fields;
  for (const unsigned every : {50u, 5u, 0u}) {
    std::mt19937 random(every + 1);
    fields.emplace_back(mask.Mx, mask.My, -1);
    for (std::size_t n = 0; n < mask.values.size(); ++n) {
      if (mask.values[n] == 1)
        fields.back().values[n] = every != 0 && random() % every == 0 ? 1 : 0;
    }
  }
  return fields;
}

enum class By { levels, tiles };

DistanceReport solve(VirtualRanks& ranks, By by, std::vector<Grid<int>>& grids,
                     const DistanceMaxima& maxima = {}) {
  DistanceFields fields;
  for (const auto& grid : grids) {
    fields.push_back(scatter(ranks, grid));
    for (const Array2<int>& d :
         fields.back()) { // ghosts are work space: what they hold does not matter
      for (std::size_t i = 0; i < d.extent(1); ++i) d(0, i) = d(d.extent(0) - 1, i) = 1;
      for (std::size_t j = 0; j < d.extent(0); ++j) d(j, 0) = d(j, d.extent(1) - 1) = 1;
    }
  }
  const DistanceReport report = by == By::levels
                                    ? sweep_distances(ranks, fields, maxima)
                                    : DeviceDistances(ranks).solve({fields, {}, maxima});
  for (std::size_t f = 0; f < grids.size(); ++f) grids[f] = gather(ranks, fields[f]);
  return report;
}

void check_against_levels(const std::string& name, const std::vector<Grid<int>>& start) {
  const int Mx = start[0].Mx, My = start[0].My;
  VirtualRanks one(Decomposition::make(Mx, My, 1, 1));
  std::vector<Grid<int>> expected = start;
  solve(one, By::levels, expected);
  for (const auto& [px, py] : decompositions(Mx, My)) {
    INFO(name << " on " << px << " x " << py);
    VirtualRanks ranks(Decomposition::make(Mx, My, px, py));
    std::vector<Grid<int>> found = start;
    solve(ranks, By::tiles, found);
    for (std::size_t f = 0; f < found.size(); ++f) CHECK(found[f] == expected[f]);
  }
}

} // namespace

TEST_CASE("tiles give the distances of the level sweeps, on any domain and decomposition") {
  for (const auto& [name, mask] : test_masks()) check_against_levels(name, three_fields(mask));
}

TEST_CASE("grids of several tiles a patch, and of a tile and a bit") {
  for (const auto& [Mx, My] : {std::pair{32, 32}, {33, 31}, {64, 65}, {131, 70}}) {
    const std::string size = std::to_string(Mx) + " x " + std::to_string(My);
    for (const double p : {0.6, 0.7, 1.0})
      check_against_levels(size, three_fields(random_mask(Mx, My, p, 5)));
    std::vector<Grid<int>> path(1, serpentine(Mx, My));
    for (int& d : path[0].values) d -= 1;
    path[0](0, 0) = 1;
    check_against_levels("serpentine of " + size, path);
  }
}

TEST_CASE("rounds, messages and collectives of the tiles") {
  Grid<int> start(24, 24, 0);
  start(0, 0) = 1;
  const auto maxima = [](int local) { return std::vector<std::int64_t>{local, 5}; };
  const auto run = [&](int px, int py, VirtualRanks& ranks) {
    std::vector<Grid<int>> found{start, start};
    const DistanceReport report = solve(ranks, By::tiles, found, maxima);
    CHECK(report.maxima == std::vector<std::int64_t>{px * py - 1, 5});
    for (const Grid<int>& d : found) CHECK(d(23, 23) == 47);
    return report.rounds;
  };
  VirtualRanks one(Decomposition::make(24, 24, 1, 1)), four(Decomposition::make(24, 24, 2, 2)),
      many(Decomposition::make(24, 24, 6, 6));
  CHECK(run(1, 1, one) == 0);
  CHECK(one.traffic().collectives == 1);
  CHECK(one.traffic().messages == 0);
  CHECK(run(2, 2, four) == 4);
  CHECK(four.traffic().collectives == 1);
  CHECK(four.traffic().messages == 4 * 8);           // rounds, pairs of neighbours (both ways)
  CHECK(four.traffic().bytes == 4 * 8 * 2 * 12 * 4); // two fields of 12 border cells
  CHECK(run(6, 6, many) == 16);
  CHECK(many.traffic().collectives == 3);
}
