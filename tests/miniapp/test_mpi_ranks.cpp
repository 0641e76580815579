// The MPI ghost exchange, collectives and groups, against the same checks as the virtual ones.
// Whole algorithms send what virtual ranks send: tests/program/tools/test_tools.py, test_step.py.
#include "io/base/agree.hpp"
#include "miniapp/base/loop_ranks.hpp"
#include "tests/kernels/distance_case.hpp"
#include "tests/kernels/ghost_checks.hpp"
#include "tests/kernels/message_checks.hpp"

using namespace nunatak;

TEST_CASE("ghosts hold the neighbour's cells, with and without periodicity") {
  with_each_periodicity(Decomposition::make(11, 9, io::size_of(MPI_COMM_WORLD)),
                        [](const Decomposition& d) {
                          MpiRanks ranks(MPI_COMM_WORLD, d);
                          check_ghosts(ranks);
                          for (const bool gpu_aware : {false, true}) {
                            LoopRanks loops(MPI_COMM_WORLD, d, gpu_aware);
                            check_ghosts(loops);
                            CHECK(loops.halo().messages == ranks.halo().messages);
                            CHECK(loops.halo().bytes == ranks.halo().bytes);
                          }
                        });
}

TEST_CASE("sum, max and gather over ranks") {
  const int size = io::size_of(MPI_COMM_WORLD), rank = io::rank_in(MPI_COMM_WORLD);
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(11, 9, io::size_of(MPI_COMM_WORLD)));
  std::vector<std::vector<std::int64_t>> values{{1, rank}};
  ranks.sum(values);
  CHECK(values[0] == std::vector<std::int64_t>{size, size * (size - 1) / 2});
  values = {{-rank, rank}};
  ranks.max(values);
  CHECK(values[0] == std::vector<std::int64_t>{0, size - 1});
  const auto all = ranks.gather_all(
      {std::vector<std::int64_t>(static_cast<std::size_t>(rank), rank)}); // rank 0 gives none
  std::vector<std::int64_t> expected;
  for (int r = 0; r < size; ++r) expected.insert(expected.end(), static_cast<std::size_t>(r), r);
  CHECK(all == expected);
}

TEST_CASE("messages between ranks, and groups of ranks") {
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(11, 9, io::size_of(MPI_COMM_WORLD)));
  check_messages(ranks);
  for (const int every : {1, 2}) check_group(ranks, every);
}

TEST_CASE("distances by one object, whose domain moves over the ranks: groups come and go") {
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(36, 36, io::size_of(MPI_COMM_WORLD)));
  Distances distances(ranks, "buckets");
  for (int at = 0; at < 36; at += 3) {
    const Grid<int> start = grid_of(36, 36, [at](int j, int i) {
      const bool outside = std::min(j, i) < at || std::max(j, i) >= at + 10;
      return outside ? -1 : i == at ? 1 : 0;
    });
    const DistanceFields fields{scatter(ranks, start)};
    distances.solve({fields});
    const Grid<int> expected = search(start);
    const Patch p = ranks.patch();
    int wrong = 0;
    for (const auto& [j, i] : cells_of(p))
      wrong += fields[0][0](j, i) != expected(p.global_j(j), p.global_i(i));
    CHECK(wrong == 0);
  }
}
