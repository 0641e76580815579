// Distances by buckets and by `auto`: many ranks, exact counts of small cases, the words of a
// message, the guard.
#include "kernels/cases/masks.hpp"
#include "kernels/distance/seam.hpp"
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

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

/// Floating cells of masks.hpp; seeds at the grounding line (8 neighbours) and at the front (4).
std::vector<Grid<int>> shelves(int M, std::uint64_t seed) {
  const masks::Shelves type(M, M, seed, 0.5);
  std::vector<Grid<int>> start(2, Grid<int>(M, M, -1));
  for (int j = 0; j < M; ++j) {
    for (int i = 0; i < M; ++i) {
      if (type(j, i) != masks::Shelves::floating) continue;
      start[0](j, i) = start[1](j, i) = 0;
      for (int n = 0; n < 9; ++n) {
        const int beside = type(j + n / 3 - 1, i + n % 3 - 1);
        if (beside == masks::Shelves::grounded) start[0](j, i) = 1;
        if (beside == masks::Shelves::ocean && n % 2 == 1) start[1](j, i) = 1;
      }
    }
  }
  return start;
}

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
      for (const char* solver : {"bfs", "buckets", "auto"}) {
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
      for (const char* solver : {"buckets", "auto"}) {
        std::vector<Grid<int>> found{start};
        solve(ranks, solver, found);
        CHECK(*std::max_element(found[0].values.begin(), found[0].values.end()) == length);
        CHECK(found[0] == search(start));
      }
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

TEST_CASE("counts: where the domain ends at the seam, there are no messages after the first") {
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

TEST_CASE("counts: a path that goes to and fro over a seam") {
  const Grid<int> path = draw({"1...", // the seam is in the middle
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
    for (int j = 1; j <= 8; ++j) d(j, 1) = column[static_cast<std::size_t>(j - 1)];
    std::vector<PatchWave> waves{{p, d.data()}};
    std::vector<int> words, later;
    DistanceSeam seam(p, 1, 0, 1, 1);
    CHECK(seam.write_all(waves, words) == 8);
    CHECK(words.size() <= seam.longest());
    seam.write_better(waves, later);
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

TEST_CASE("a seam tells only what is of use to the other side, and tells it once") {
  const Patch p{2, 4, 0, 0, 1, 4};
  Array2<int> d = make_array<int>("d", p);
  const std::vector<int> mine = {9, 6, 2, -1};
  for (int j = 1; j <= 4; ++j) d(j, 1) = mine[static_cast<std::size_t>(j - 1)];
  std::vector<PatchWave> waves{{p, d.data()}};
  DistanceSeam seam(p, 1, 0, 1, 1);
  std::vector<int> words;
  seam.write_all(waves, words);
  CHECK(seam.read({3 * 4 + 2, 5, 6, 8, 7}, waves) ==
        4); // the case that is drawn in distance/seam.hpp
  CHECK(seam.open(waves));
  seam.write_better(waves, words);
  CHECK(words.empty()); // 2 was shown
  CHECK(waves[0].from_offers() == 1);
  CHECK(d(1, 1) == 6);
  seam.write_better(waves, words);
  CHECK(words.empty()); // 6 + 1 is no use to 5
  d(2, 1) = 4;
  seam.write_better(waves, words);
  CHECK(words == std::vector<int>{3 * 1, 1, 4});
  seam.write_better(waves, words);
  CHECK(words.empty());
}

TEST_CASE("auto: paths that cross many seams go over to gather, for twice its cost at most; "
          "shelves stay with buckets") {
  struct Expected {
    std::string name;
    std::vector<Grid<int>> start;
    int px;
    std::string by;
    int rounds;
  };
  const std::vector<Expected> cases = {
      {"serpentine", {with_seed_at_corner(serpentine(64, 64))}, 2, "gather", 5},
      {"serpentine", {with_seed_at_corner(serpentine(64, 64))}, 8, "gather", 8},
      {"spiral", {with_seed_at_corner(spiral(65, 65))}, 4, "gather", 6},
      {"shelves", shelves(128, 1), 2, "buckets", 2},
      {"shelves", shelves(128, 1), 8, "buckets", 7},
      {"shelves", shelves(128, 1), 16, "buckets", 7},
  };
  for (const Expected& e : cases) {
    INFO(e.name << " on " << e.px << " x " << e.px);
    const auto run = [&](const std::string& solver, DistanceReport& report) {
      VirtualRanks ranks(Decomposition::make(e.start[0].Mx, e.start[0].My, e.px, e.px), LogGP{});
      std::vector<Grid<int>> found = e.start;
      report = solve(ranks, solver, found);
      for (std::size_t f = 0; f < found.size(); ++f) CHECK(found[f] == search(e.start[f]));
      return ranks.clock()->critical().time;
    };
    DistanceReport report, other;
    const double time = run("auto", report);
    CHECK(report.solver == e.by);
    CHECK(report.rounds == e.rounds);
    const double best = std::min(run("buckets", other), run("gather", other));
    CHECK(time <= 2.05 * best);
  }
}

TEST_CASE("auto: the guard given by hand") {
  const std::vector<Grid<int>> start{with_seed_at_corner(Grid<int>(24, 24, 1))};
  const auto run = [&](int guard) {
    VirtualRanks ranks(Decomposition::make(24, 24, 6, 6));
    std::vector<Grid<int>> found = start;
    DistanceOptions options;
    options.guard = guard;
    const DistanceReport report = solve(ranks, "auto", found, options);
    CHECK(found[0] == search(start[0]));
    CHECK(ranks.traffic().lagged ==
          std::min((report.rounds + 1) / 3, 4)); // after rounds 1, 4, 7, 10
    return std::pair{report.solver, report.rounds};
  };
  CHECK(run(0) == std::pair{std::string("buckets"), 13});
  CHECK(run(1) == std::pair{std::string("gather"), 1});
  CHECK(run(5) == std::pair{std::string("gather"), 5});
  CHECK(run(10) == std::pair{std::string("gather"), 10});  // done, but nobody knows
  CHECK(run(11) == std::pair{std::string("buckets"), 11}); // the maximum of round 10 is waited for
  CHECK(run(14) == std::pair{std::string("buckets"), 13});
  CHECK_THROWS_WITH(run(-2), Catch::Matchers::ContainsSubstring("guard is -2"));
}
