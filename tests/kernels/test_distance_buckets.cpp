// Distances by buckets: many ranks, exact counts of small cases, the forms of a message.
#include "kernels/distance/boundary.hpp"
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

/// The distances of drawn rows on `px` ranks side by side, and what was sent.
struct Row {
  Row(const std::string& cells, int px)
      : ranks(Decomposition::make(static_cast<int>(cells.size()), 1, px, 1)) {
    const DistanceFields fields{scatter(ranks, draw({cells}))};
    report = Distances(ranks, "buckets").solve({fields});
    found = gather(ranks, fields[0]);
  }
  VirtualRanks ranks;
  DistanceReport report;
  Grid<int> found;
};

} // namespace

TEST_CASE("32 x 32 ranks, and ranks of one cell, equal a search of the whole grid") {
  for (const auto& [Mx, My, px, py] :
       {std::array{97, 83, 32, 32}, {33, 150, 32, 32}, {32, 32, 32, 32}, {40, 3, 40, 3}}) {
    for (const double p : {0.5, 0.6, 0.7, 1.0}) {
      INFO("p = " << p << ", " << Mx << " x " << My << " cells on " << px << " x " << py);
      const Grid<int> mask = random_mask(Mx, My, p, static_cast<unsigned>(Mx + My));
      const std::vector<Grid<int>> start = {with_seeds(mask, 300, 1), with_seeds(mask, 30, 2),
                                            with_seeds(mask, 0, 3)};
      VirtualRanks ranks(Decomposition::make(Mx, My, px, py));
      for (const char* solver : {"bfs", "buckets"}) {
        std::vector<Grid<int>> found = start;
        solve(ranks, solver, found);
        for (std::size_t f = 0; f < found.size(); ++f) CHECK(found[f] == search(start[f]));
      }
    }
  }
}

TEST_CASE(
    "fields with different domains; members told by the caller; one object for several domains") {
  VirtualRanks ranks(Decomposition::make(20, 16, 5, 4));
  Distances distances(ranks, "buckets");
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const Grid<int> west = with_seeds(random_mask(20, 16, 0.7, seed), 20, seed);
    Grid<int> east = with_seeds(random_mask(20, 16, 0.7, seed + 10), 20, seed), middle = west;
    for (int j = 0; j < 16; ++j) {
      for (int i = 0; i < 20; ++i) {
        if (i < 8) east(j, i) = -1;
        if (i < 4 || i >= 12) middle(j, i) = -1;
      }
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

TEST_CASE("serpentines of many lengths") {
  for (const auto& [Mx, My] : {std::pair{1, 1}, {2, 3}, {7, 7}, {9, 30}, {64, 21}}) {
    const Grid<int> start = with_seed_at_corner(serpentine(Mx, My));
    const int length = (My + 1) / 2 * Mx + My / 2;
    for (const auto& [px, py] : decompositions(Mx, My)) {
      VirtualRanks ranks(Decomposition::make(Mx, My, px, py));
      std::vector<Grid<int>> found{start};
      solve(ranks, "buckets", found);
      CHECK(*std::max_element(found[0].values.begin(), found[0].values.end()) == length);
      CHECK(found[0] == search(start));
    }
  }
}

TEST_CASE("counts: a row over two ranks needs one message each way, and an empty one until the "
          "maximum has come") {
  const Row row("1.......", 2);
  CHECK(row.found == draw({"12345678"}));
  CHECK(row.report.rounds == 2);
  CHECK(row.ranks.traffic().messages == 4);
  CHECK(row.ranks.traffic().bytes == 2 * 2 * 4); // a header and a cell
  CHECK(row.ranks.traffic().lagged == 1);
  CHECK(row.ranks.traffic().collectives == 1); // the members
}

TEST_CASE("counts: where the domain ends at the boundary, there are no messages after the first") {
  const Row row("1..-....", 2);
  CHECK(row.found == draw({"123-...."}));
  CHECK(row.ranks.traffic().messages == 2);
  CHECK(row.ranks.traffic().bytes == 2 * 4); // of the right patch; the left one has nothing to show
  CHECK(row.report.rounds == 2);
}

TEST_CASE("counts: ranks without cells of the domain send nothing and get nothing") {
  const Row apart("1...----....", 3);
  CHECK(apart.found == draw({"1234----...."}));
  CHECK(apart.ranks.traffic().messages == 0);
  CHECK(apart.ranks.traffic().lagged == 1);
  const Row together("----1...1---", 3);
  CHECK(together.ranks.traffic().messages == 4);
  CHECK(together.report.rounds == 2);
}

TEST_CASE("counts: one member, no member, no seeds") {
  const Row one("-----1..----", 3);
  CHECK(one.found == draw({"-----123----"}));
  CHECK(one.report.rounds == 0);
  CHECK(one.ranks.traffic().lagged == 0);
  CHECK(one.ranks.traffic().messages == 0);
  const Row none("------------", 3);
  CHECK(none.found == draw({"------------"}));
  CHECK(none.report.rounds == 0);
  CHECK(none.ranks.traffic().collectives == 1);
  const Row dry("............", 3);
  CHECK(dry.found == draw({"............"}));
  CHECK(dry.report.rounds == 2);
  CHECK(dry.ranks.traffic().bytes == 4 * 8);
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
  CHECK(ranks.traffic().bytes ==
        4 * (2 * (1 + 9) + 4 * 3)); // strips with holes; then a header, a position and a value
}

TEST_CASE("the words of a message: runs, changes, the whole strip, nothing") {
  const Patch p{2, 8, 0, 0, 1, 8}; // one column of 8 cells, the left of two
  const auto shown = [&](const std::vector<int>& column) {
    Array2<int> d = make_array<int>("d", p);
    for (int j = 1; j <= 8; ++j) d(j, 1) = column[j - 1];
    std::vector<PatchWave> waves{{p, d.data()}};
    std::vector<int> words, later;
    DistanceBoundary boundary(p, 1, 0, 1, 1);
    CHECK(boundary.write_all(waves, words) == 8);
    CHECK(words.size() <= boundary.longest());
    boundary.write_better(waves, later);
    CHECK(later.empty()); // nothing is known of the other side
    return words;
  };
  using W = std::vector<int>;
  CHECK(shown({-1, -1, -1, -1, -1, -1, -1, -1}).empty());
  CHECK(shown({5, 4, 3, 2, 1, 2, 3, 4}) == W{3 * 2 + 1, 0, 3 * 5, 5, 5, 3 * 3 + 2, 2});
  CHECK(shown({0, 0, 0, 0, 0, 0, 0, -1}) == W{3 * 1 + 1, 0, 3 * 7 + 1, 0});
  CHECK(shown({-1, 3, -1, -1, -1, -1, 8, -1}) == W{3 * 2, 1, 3, 6, 8});
  CHECK(shown({1, -1, 3, -1, 5, -1, 9, 7}) == W{3 * 8 + 2, 1, -1, 3, -1, 5, -1, 9, 7});
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
  CHECK(boundary.read({3 * 4 + 2, 5, 6, 8, 7}, waves) ==
        4); // the case that is drawn in distance/boundary.hpp
  CHECK(boundary.open(waves));
  boundary.write_better(waves, words);
  CHECK(words.empty()); // 2 was shown
  CHECK(waves[0].from_offers() == 1);
  CHECK(d(1, 1) == 6);
  boundary.write_better(waves, words);
  CHECK(words.empty()); // 6 + 1 is no use to 5
  d(2, 1) = 4;
  boundary.write_better(waves, words);
  CHECK(words == std::vector<int>{3 * 1, 1, 4});
  boundary.write_better(waves, words);
  CHECK(words.empty());
}
