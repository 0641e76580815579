// Distances through MPI: the bits of a search of the whole grid, and the messages of as many
// virtual ranks, one for one.
#include "io/agree.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

Decomposition cut(const Grid<int>& grid) {
  return Decomposition::make(grid.Mx, grid.My, io::size_of(MPI_COMM_WORLD));
}

/// What all ranks have sent: messages, bytes; and what each took part in at most: exchanges,
/// collectives, lagged reductions.
std::vector<std::int64_t> sent(const Traffic& t) {
  std::vector<std::int64_t> sums{t.messages, t.bytes}, maxima{t.exchanges, t.collectives, t.lagged};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, maxima.data(), 3, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  sums.insert(sums.end(), maxima.begin(), maxima.end());
  return sums;
}

/// The same problem on real and on virtual ranks; `start` has a field or more.
void check(const std::vector<Grid<int>>& start, const std::string& solver) {
  INFO(solver);
  MpiRanks ranks(MPI_COMM_WORLD, cut(start[0]));
  VirtualRanks virtual_ranks(cut(start[0]));
  DistanceProblem real, pretended;
  for (const Grid<int>& field : start) {
    real.fields.push_back(scatter(ranks, field));
    pretended.fields.push_back(scatter(virtual_ranks, field));
  }
  real.maxima = [&](int) { return std::vector<std::int64_t>{ranks.first()}; };
  pretended.maxima = [&](int local) { return std::vector<std::int64_t>{local}; };
  const DistanceReport report = Distances(ranks, solver).solve(real),
                       expected = Distances(virtual_ranks, solver).solve(pretended);
  CHECK(report.rounds == expected.rounds);
  CHECK(report.maxima == expected.maxima);
  const Traffic& t = virtual_ranks.traffic();
  CHECK(sent(ranks.traffic()) ==
        std::vector<std::int64_t>{t.messages, t.bytes, t.exchanges, t.collectives, t.lagged});
  for (std::size_t f = 0; f < start.size(); ++f) {
    CHECK(same_where_owned(ranks, real.fields[f], search(start[f])));
  }
}

const auto solvers = {"sweep", "bfs", "buckets"};

} // namespace

TEST_CASE("random masks") {
  for (const double p : {0.1, 0.45, 0.6, 0.8, 1.0}) {
    const Grid<int> mask = random_mask(47, 38, p, 7);
    for (const char* solver : solvers)
      check({with_seeds(mask, 200, 1), with_seeds(mask, 10, 2)}, solver);
  }
}

TEST_CASE("a serpentine, no domain, a domain on few ranks, no seeds") {
  Grid<int> corner(30, 30, -1), side(30, 30, -1);
  for (const auto& [j, i] : points_of(30, 30)) {
    if (i < 8 && j < 8) corner(j, i) = i == 0 ? 1 : 0;
    if (j > 4) side(j, i) = 0;
  }
  for (const char* solver : solvers) {
    check({with_seed_at_corner(serpentine(41, 41))}, solver);
    check({Grid<int>(30, 30, -1)}, solver);
    check({corner}, solver);
    check({corner, side}, solver);
    check({side}, solver);
  }
}

TEST_CASE("one object, a domain that moves over the ranks") {
  MpiRanks ranks(MPI_COMM_WORLD, cut(Grid<int>(36, 36)));
  Distances distances(ranks, "buckets");
  for (int at = 0; at < 36; at += 3) {
    Grid<int> start(36, 36, -1);
    for (int j = at; j < std::min(at + 10, 36); ++j) {
      for (int i = at; i < std::min(at + 10, 36); ++i) start(j, i) = i == at ? 1 : 0;
    }
    const DistanceFields fields{scatter(ranks, start)};
    distances.solve({fields});
    CHECK(same_where_owned(ranks, fields[0], search(start)));
  }
}
