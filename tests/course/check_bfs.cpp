// Lab 2: bfs_distances equals a serial search of the whole grid, in as few rounds as its header
// says.
#include "kernels/distance/bfs.hpp"
#include "tests/kernels/distance_grids.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

using namespace nunatak;

namespace {

/// The field of a rank between two rows of zeros, and these between two of -1. A wave that leaves
/// its patch changes the zeros, and gets no further.
struct Framed {
  Array2<int> all;
  SharedArray2<int> field;

  explicit Framed(const Array2<int>& a)
      : all("framed", a.extent(0) + 4, a.extent(1)), field(&all(2, 0), a.extent(0), a.extent(1)) {
    std::fill_n(all.data(), all.size(), -1);
    std::copy_n(a.data(), a.size(), field.data());
    for (const std::size_t zeros : {std::size_t{1}, a.extent(0) + 2})
      std::fill_n(&all(zeros, 0), a.extent(1), 0);
  }
  bool was_left() const {
    const auto row_was_left = [&](std::size_t j) {
      return std::count(&all(j, 0), &all(j, 0) + all.extent(1), 0) < all.extent_int(1);
    };
    return row_was_left(1) || row_was_left(all.extent(0) - 2);
  }
};

DistanceReport solve(Ranks& ranks, std::vector<Grid<int>>& grids,
                     const DistanceMaxima& maxima = {}) {
  DistanceProblem problem;
  std::vector<Framed> framed;
  for (const auto& grid : grids) {
    problem.fields.emplace_back();
    for (const Array2<int>& a : scatter(ranks, grid)) {
      framed.emplace_back(a);
      problem.fields.back().push_back(framed.back().field);
    }
  }
  problem.maxima = maxima;
  const DistanceReport report = make_bfs(ranks, {})(problem);
  for (std::size_t n = 0; n < framed.size(); ++n) {
    if (framed[n].was_left())
      FAIL("rank " << n % ranks.local_size() << ", a wave leaves its patch through the ghosts: "
                   << "expected them closed before it runs, found them open");
  }
  for (std::size_t f = 0; f < grids.size(); ++f) grids[f] = gather(ranks, problem.fields[f]);
  return report;
}

/// The first cell in which a field is not the distance, its patch, and how many others differ.
void compare(const Ranks& ranks, const Grid<int>& found, const Grid<int>& start) {
  const Grid<int> expected = search(start);
  const auto differs = [&](std::size_t n) { return found.values[n] != expected.values[n]; };
  std::size_t first = 0, wrong = 0;
  for (std::size_t n = found.values.size(); n-- > 0;) {
    if (!differs(n)) continue;
    first = n;
    wrong += 1;
  }
  if (wrong == 0) return;
  const int j = static_cast<int>(first) / found.Mx, i = static_cast<int>(first) % found.Mx;
  FAIL_CHECK("cell (j " << j << ", i " << i << ") of rank " << owner_of(ranks.decomposition(), j, i)
                        << ", one of " << wrong << " that differ: expected "
                        << expected.values[first] << ", found " << found.values[first]);
}

} // namespace

TEST_CASE("lab 2: a drawn case: seeds, detours, cells that no seed reaches") {
  const Grid<int> start = draw({"1..-.", //
                                "--.-.", //
                                "-....", //
                                ".----"});
  for (const auto& [px, py] : decompositions(5, 4)) {
    INFO("the drawn mask on " << px << " x " << py);
    VirtualRanks ranks(Decomposition::make(5, 4, px, py));
    std::vector<Grid<int>> found{start};
    solve(ranks, found);
    compare(ranks, found[0], start);
  }
}

TEST_CASE("lab 2: equal to a serial search, on any domain and decomposition") {
  for (const auto& [name, mask] : test_masks()) {
    const std::vector<Grid<int>> start = {with_seeds(mask, 50, 1), with_seeds(mask, 5, 2),
                                          with_seeds(mask, 0, 3)};
    for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
      INFO(name << " on " << px << " x " << py);
      VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, px, py));
      std::vector<Grid<int>> found = start;
      solve(ranks, found);
      for (std::size_t f = 0; f < found.size(); ++f) compare(ranks, found[f], start[f]);
    }
  }
}

TEST_CASE("lab 2: a serpentine of 41 x 41 cells is 881 long") {
  for (const auto& [px, py] : decompositions(41, 41)) {
    INFO("a serpentine on " << px << " x " << py);
    VirtualRanks ranks(Decomposition::make(41, 41, px, py));
    std::vector<Grid<int>> found{with_seed_at_corner(serpentine(41, 41))};
    solve(ranks, found);
    CHECK(found[0](40, 40) == 881);
  }
}

TEST_CASE("lab 2: rounds, messages, collectives and visits of a square") {
  Grid<int> start(24, 24, 0);
  start(0, 0) = 1;
  struct Expected {
    int p;
    std::int64_t rounds, messages, collectives;
  };
  for (const Expected& e : {Expected{1, 0, 0, 1}, {2, 3, 12 * 3, 3}, {6, 11, 220 * 11, 11}}) {
    INFO(e.p << " x " << e.p << " ranks");
    VirtualRanks ranks(Decomposition::make(24, 24, e.p, e.p), LogGP{});
    std::vector<Grid<int>> found{start};
    const DistanceReport report = solve(ranks, found, [](int local) {
      return std::vector<std::int64_t>{local, 5};
    });
    CHECK(report.rounds == e.rounds);
    CHECK(report.maxima == std::vector<std::int64_t>{e.p * e.p - 1, 5});
    CHECK(ranks.traffic().messages == e.messages);
    CHECK(ranks.traffic().collectives == e.collectives);
    std::int64_t visits = 0;
    for (const std::int64_t of_rank : ranks.work_of_ranks()) visits += of_rank;
    CHECK(visits == 24 * 24 + e.rounds * 4 * 24 * e.p); // cells once, in each round the ghosts
  }
}
