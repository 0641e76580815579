// Distances: all solvers equal to a breadth-first search of the whole grid, bit for bit, on any
// decomposition.
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a drawn case: seeds, detours, cells that no seed reaches") {
  const Grid<int> start = draw({"1..-.", //
                                "--.-.", //
                                "-....", //
                                ".----"});
  const Grid<int> expected = draw({"123-9", //
                                   "--4-8", //
                                   "-6567", //
                                   ".----"});
  REQUIRE(search(start) == expected);
  check_solvers(step_counters(), {start});
}

TEST_CASE("all solvers equal a search of the whole grid, on any domain and decomposition") {
  for (const auto& [name, mask] : test_masks()) {
    INFO(name);
    check_solvers(step_counters(), three_fields(mask));
  }
}

TEST_CASE("rounds, messages and collectives of a square; maxima come along") {
  Grid<int> start(24, 24, 0);
  start(0, 0) = 1;
  const auto maxima = [](int local) { return std::vector<std::int64_t>{local, 5}; };
  struct Expected {
    int px, py;
    std::string solver;
    std::int64_t rounds, messages, collectives, lagged;
  };
  const std::vector<Expected> cases = {
      {2, 1, "sweep", 47, 2 * 47, 47, 0}, // one round per level
      {1, 1, "bfs", 0, 0, 1, 0},
      {2, 2, "bfs", 3, 12 * 3, 3, 0},     // two boundaries, one round to see that nothing changes
      {6, 6, "bfs", 11, 220 * 11, 11, 0}, // ten boundaries
      {1, 1, "buckets", 0, 0, 1, 0},      // the maxima
      {2, 2, "buckets", 3, 8 * 3, 2, 2},
      {6, 6, "buckets", 13, 120 * 13, 2, 4}, // lag 3: looked at after rounds 4, 7, 10, 13
  };
  for (const Expected& e : cases) {
    INFO(e.solver << " on " << e.px << " x " << e.py);
    VirtualRanks ranks(Decomposition::make(24, 24, e.px, e.py));
    const DistanceFields fields{scatter(ranks, start)};
    const DistanceReport report = Distances(ranks, e.solver).solve({fields, {}, maxima});
    CHECK(report.maxima == std::vector<std::int64_t>{e.px * e.py - 1, 5});
    CHECK(gather(ranks, fields[0])(23, 23) == 47);
    CHECK(report.rounds == e.rounds);
    CHECK(ranks.traffic().exchanges == e.rounds);
    CHECK(ranks.traffic().messages == e.messages);
    CHECK(ranks.traffic().collectives == e.collectives);
    CHECK(ranks.traffic().lagged == e.lagged);
  }
}

TEST_CASE("names of solvers; periodic grids are refused") {
  for (const DistanceSolver& solver : distance_solvers())
    CHECK(&distance_solver(solver.name) == &solver);
  CHECK_THAT(names_of(distance_solvers()), ContainsSubstring("sweep|bfs|buckets|fmm"));
  CHECK_THROWS_WITH(distance_solver("dfs"), ContainsSubstring("dfs"));
  Decomposition d = Decomposition::make(8, 8, 2);
  d.periodic_y = true;
  VirtualRanks ranks(d);
  CHECK_THROWS_WITH(Distances(ranks, "bfs"), ContainsSubstring("periodic"));
}
