// The MPI ghost exchange and collectives, against the same checks as the virtual ones.
#include "io/agree.hpp"
#include "miniapp/base/loop_ranks.hpp"
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
  check_group(ranks);
}
