// Distances: both solvers equal to a breadth-first search of the whole grid, bit for bit, on any decomposition.
#include "kernels/distance.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace nunatak;

namespace {

Grid<int> search(Grid<int> d) {
  std::vector<int> queue;
  for (int n = 0; n < d.Mx * d.My; ++n) {
    if (d.values[n] == 1) queue.push_back(n);
  }
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const int j = queue[head] / d.Mx, i = queue[head] % d.Mx;
    for (const auto& [dj, di] : {std::pair{0, 1}, {0, -1}, {1, 0}, {-1, 0}}) {
      if (!d.inside(j + dj, i + di) || d(j + dj, i + di) != 0) continue;
      d(j + dj, i + di) = d(j, i) + 1;
      queue.push_back((j + dj) * d.Mx + i + di);
    }
  }
  return d;
}

/// A domain (0 and -1) with some seeds; `every`: about one domain cell in so many, none if 0.
Grid<int> with_seeds(const Grid<int>& mask, unsigned every, unsigned seed) {
  std::mt19937 random(seed);
  Grid<int> d(mask.Mx, mask.My, -1);
  for (std::size_t n = 0; n < d.values.size(); ++n) {
    if (mask.values[n] == 1) d.values[n] = every != 0 && random() % every == 0 ? 1 : 0;
  }
  return d;
}

DistanceReport solve(VirtualRanks& ranks, DistanceSolver solver, std::vector<Grid<int>>& grids) {
  DistanceFields fields;
  for (const auto& grid : grids) fields.push_back(scatter(ranks, grid));
  const DistanceReport report = Distances(ranks, solver).solve({fields});
  for (std::size_t f = 0; f < grids.size(); ++f) grids[f] = gather(ranks, fields[f]);
  return report;
}

} // namespace

TEST_CASE("a drawn case: seeds, detours, cells that no seed reaches") {
  const Grid<int> start = draw({"1..-.", //
                                "--.-.", //
                                "-....", //
                                ".----"});
  const Grid<int> expected = draw({"123-9", //
                                   "--4-8", //
                                   "-6567", //
                                   ".----"});
  for (const auto& [px, py] : decompositions(5, 4)) {
    VirtualRanks ranks(Decomposition::make(5, 4, px, py));
    for (const DistanceSolver solver : {DistanceSolver::sweep, DistanceSolver::bfs}) {
      std::vector<Grid<int>> found{start};
      solve(ranks, solver, found);
      CHECK(found[0] == expected);
    }
  }
}

TEST_CASE("both solvers equal a search of the whole grid, on any domain and decomposition") {
  for (const auto& [name, mask] : test_masks()) {
    const std::vector<Grid<int>> start = {with_seeds(mask, 50, 1), with_seeds(mask, 5, 2), with_seeds(mask, 0, 3)};
    std::vector<Grid<int>> expected;
    for (const auto& s : start) expected.push_back(search(s));
    for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
      INFO(name << " on " << px << " x " << py);
      VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, px, py));
      for (const DistanceSolver solver : {DistanceSolver::sweep, DistanceSolver::bfs}) {
        std::vector<Grid<int>> found = start;
        solve(ranks, solver, found);
        for (std::size_t f = 0; f < found.size(); ++f) CHECK(found[f] == expected[f]);
      }
    }
  }
}

TEST_CASE("a serpentine of 41 x 41 cells is 881 long") {
  Grid<int> start(41, 41, -1);
  const Grid<int> path = serpentine(41, 41);
  for (std::size_t n = 0; n < path.values.size(); ++n) start.values[n] = path.values[n] - 1;
  start(0, 0) = 1;
  for (const auto& [px, py] : decompositions(41, 41)) {
    VirtualRanks ranks(Decomposition::make(41, 41, px, py));
    for (const DistanceSolver solver : {DistanceSolver::sweep, DistanceSolver::bfs}) {
      std::vector<Grid<int>> found{start};
      solve(ranks, solver, found);
      CHECK(*std::max_element(found[0].values.begin(), found[0].values.end()) == 881);
      CHECK(found[0](40, 40) == 881);
    }
  }
}

TEST_CASE("rounds and collectives: one rank needs no ghosts; few rounds are checked once; maxima come along") {
  Grid<int> start(24, 24, 0);
  start(0, 0) = 1;
  const auto maxima = [](int local) { return std::vector<std::int64_t>{local, 5}; };
  const auto run = [&](int px, int py, DistanceSolver solver, VirtualRanks& ranks) {
    DistanceFields fields{scatter(ranks, start)};
    const DistanceReport report = Distances(ranks, solver).solve({fields, {}, maxima});
    CHECK(report.maxima == std::vector<std::int64_t>{px * py - 1, 5});
    CHECK(gather(ranks, fields[0])(23, 23) == 47);
    return report.rounds;
  };
  VirtualRanks one(Decomposition::make(24, 24, 1, 1)), four(Decomposition::make(24, 24, 2, 2)),
      many(Decomposition::make(24, 24, 6, 6)), slow(Decomposition::make(24, 24, 2, 1));
  CHECK(run(1, 1, DistanceSolver::bfs, one) == 0);
  CHECK(one.traffic().collectives == 1);
  CHECK(run(2, 2, DistanceSolver::bfs, four) == 4); // two seams, one round to see that nothing changes, checked after 4
  CHECK(four.traffic().collectives == 1);
  CHECK(run(6, 6, DistanceSolver::bfs, many) == 16); // ten seams
  CHECK(many.traffic().collectives == 3);
  CHECK(run(2, 1, DistanceSolver::sweep, slow) == 47); // one per level
  CHECK(slow.traffic().collectives == 47);
}

TEST_CASE("names of solvers; periodic grids are refused") {
  CHECK(distance_solver("sweep") == DistanceSolver::sweep);
  CHECK(distance_solver("bfs") == DistanceSolver::bfs);
  CHECK_THROWS_WITH(distance_solver("dfs"), Catch::Matchers::ContainsSubstring("dfs"));
  Decomposition d = Decomposition::make(8, 8, 2);
  d.periodic_y = true;
  VirtualRanks ranks(d);
  CHECK_THROWS_WITH(Distances(ranks, DistanceSolver::bfs), Catch::Matchers::ContainsSubstring("periodic"));
}
