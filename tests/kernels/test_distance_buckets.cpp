// Distances by buckets: many ranks, exact counts of small cases, the form of a message.
#include "kernels/distance/boundary.hpp"
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <array>

using namespace nunatak;

TEST_CASE("32 x 32 ranks, and ranks of one cell, equal a search of the whole grid") {
  for (const auto& [Mx, My, px, py] :
       {std::array{97, 83, 32, 32}, {33, 150, 32, 32}, {32, 32, 32, 32}, {40, 3, 40, 3}}) {
    for (const double p : {0.5, 0.6, 0.7, 1.0}) {
      INFO("p = " << p);
      const Grid<int> mask = random_mask(Mx, My, p, static_cast<unsigned>(Mx + My));
      check_solvers({"bfs", "buckets"}, three_fields(mask, 300, 30), px, py);
    }
  }
}

TEST_CASE("fields with different domains; given members; one object for several domains") {
  VirtualRanks ranks(Decomposition::make(20, 16, 5, 4));
  Distances distances(ranks, "buckets");
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const Grid<int> west = with_seeds(random_mask(20, 16, 0.7, seed), 20, seed);
    Grid<int> east = with_seeds(random_mask(20, 16, 0.7, seed + 10), 20, seed), middle = west;
    for (const auto& [j, i] : points_of(20, 16)) {
      if (i < 8) east(j, i) = -1;
      if (i < 4 || i >= 12) middle(j, i) = -1;
    }
    DistanceProblem problem;
    for (const Grid<int>& g : {middle, east}) problem.fields.push_back(scatter(ranks, g));
    if (seed % 2 == 0) {
      for (int r = 0; r < 20; ++r) problem.members.push_back(r % 5 > 0);
    }
    const std::int64_t collectives = ranks.traffic().collectives;
    distances.solve(problem);
    CHECK(gather(ranks, problem.fields[0]) == search(middle));
    CHECK(gather(ranks, problem.fields[1]) == search(east));
    CHECK(ranks.traffic().collectives - collectives == (seed % 2 == 0 ? 0 : 1));
  }
}

TEST_CASE("counts of a row of cells on ranks side by side") {
  struct Expected {
    const char* what;
    std::string cells, found;
    int px;
    std::int64_t rounds, messages, bytes, lagged;
  };
  // each with one collective, the members; a message has a header, and three words for each run
  for (const Expected& e :
       {Expected{"one message each way, and an empty one until the maximum has come", "1.......",
                 "12345678", 2, 2, 4, 2 * 4 * 4, 1},
        {"the domain ends at the boundary: the left patch has nothing to show", "1..-....",
         "123-....", 2, 2, 2, 4 * 4, 1},
        {"ranks without cells of the domain send nothing", "1...----....", "1234----....", 3, 2, 0,
         0, 1},
        {"two ranks that have parts of the domain: the third gets nothing", "----1...1---",
         "----12321---", 3, 2, 4, 2 * 4 * 4, 1},
        {"one member", "-----1..----", "-----123----", 3, 0, 0, 0, 0},
        {"no member", "------------", "------------", 3, 0, 0, 0, 0},
        {"no seeds", "............", "............", 3, 2, 8, 4 * 4 * 4, 1}}) {
    INFO(e.what);
    VirtualRanks ranks(Decomposition::make(static_cast<int>(e.cells.size()), 1, e.px, 1));
    const DistanceFields fields{scatter(ranks, draw({e.cells}))};
    const DistanceReport report = Distances(ranks, "buckets").solve({fields});
    CHECK(gather(ranks, fields[0]) == draw({e.found}));
    CHECK(report.rounds == e.rounds);
    CHECK(ranks.traffic().messages == e.messages);
    CHECK(ranks.traffic().bytes == e.bytes);
    CHECK(ranks.traffic().lagged == e.lagged);
    CHECK(ranks.traffic().collectives == 1);
  }
}

TEST_CASE("counts: a path that goes to and fro over a boundary") {
  const Grid<int> path = draw({"1...", // the boundary is in the middle
                               "---.", //
                               "....", //
                               ".---", //
                               "....", //
                               "---.", //
                               "....", //
                               ".---", //
                               "...."});
  VirtualRanks ranks(Decomposition::make(4, 9, 2, 1));
  const DistanceFields fields{scatter(ranks, path)};
  const DistanceReport report = Distances(ranks, "buckets").solve({fields});
  CHECK(gather(ranks, fields[0]) == search(path));
  CHECK(gather(ranks, fields[0])(8, 3) == 24);
  CHECK(report.rounds == 6); // five crossings, and one round until the maximum has come
  CHECK(ranks.traffic().lagged == 5);
  CHECK(ranks.traffic().messages == 12);
  CHECK(ranks.traffic().bytes == 4 * (2 * (1 + 5 * 3) + 4 * 4)); // five runs each; then one
}

TEST_CASE("a boundary sends only what is of use to the other side, and sends it once") {
  const Patch p{2, 4, 0, 0, 1, 4};
  Array2<int> d = make_array<int>("d", p);
  const std::vector<int> mine = {9, 6, 2, -1};
  for (int j = 1; j <= 4; ++j) d(j, 1) = mine[j - 1];
  std::vector<PatchWave> waves{{p, d.data()}};
  DistanceBoundary boundary(p, 1, 0, 1, 1);
  std::vector<int> words;
  boundary.write_all(waves, words);
  // the case that is drawn in distance/boundary.hpp: two runs, up and down
  CHECK(boundary.read({2, 0, 3 * 2 + 2, 5, 2, 3 * 2, 8}, waves) == 4);
  CHECK(boundary.open(waves));
  boundary.write_better(waves, words);
  CHECK(words.empty()); // 2 was shown
  CHECK(waves[0].from_offers() == 1);
  CHECK(d(1, 1) == 6);
  boundary.write_better(waves, words);
  CHECK(words.empty()); // 6 + 1 is no use to 5
  d(2, 1) = 4;
  boundary.write_better(waves, words);
  CHECK(words == std::vector<int>{1, 1, 3 * 1 + 1, 4});
  boundary.write_better(waves, words);
  CHECK(words.empty());
}
