// Efficiencies of POP by hand, from made clocks of each rank.
#include "io/base/agree.hpp"
#include "miniapp/model/timers.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

using namespace nunatak;
using Catch::Approx;

TEST_CASE("load balance and communication efficiency of a part, as POP defines them") {
  const int ranks = io::size_of(MPI_COMM_WORLD), rank = io::rank_in(MPI_COMM_WORLD);
  Timers::Entry part{"ice"};
  // rank r computes for 2 + r of 10 s, and MPI keeps its processor busy for half of the rest
  const double useful = 2.0 + rank;
  part.seconds = {10.0, useful + 0.5 * (10.0 - useful)};
  part.in_mpi = {10.0 - useful, 0.5 * (10.0 - useful)};
  Timers::Entry other{"idle"}; // nothing: no part is worse than one that does nothing
  const std::vector<Timers::Summary> found = Timers::over_ranks(MPI_COMM_WORLD, {part, other});

  const double largest = 1.0 + ranks, mean = 2.0 + 0.5 * (ranks - 1);
  CHECK(found[0].useful.max == Approx(largest));
  CHECK(found[0].useful.mean == Approx(mean));
  CHECK(found[0].in_mpi.max == Approx(8.0)); // rank 0
  CHECK(found[0].load_balance() == Approx(mean / largest));
  CHECK(found[0].communication_efficiency() == Approx(largest / 10.0));
  CHECK(found[0].parallel_efficiency() == Approx(mean / 10.0));
  CHECK(found[1].load_balance() == 1.0);
  CHECK(found[1].parallel_efficiency() == 1.0);
}

TEST_CASE("waiting in MPI is time of a scope, not its useful computation") {
  Timers timers;
  {
    const Timers::Scope scope(timers, "wait");
    const double late = io::rank_in(MPI_COMM_WORLD) == 0 ? 0.2 : 0.0;
    for (const Seconds begin = Seconds::now(); (Seconds::now() - begin).processor < late;) {
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Timers::Summary s = timers.summarise(MPI_COMM_WORLD)[0];
  CHECK(s.useful.max >= 0.19);
  CHECK(s.useful.max <= 1.01 * s.time.max);
  if (io::size_of(MPI_COMM_WORLD) == 1) return;
  CHECK(s.useful.min < 0.1);
  CHECK(s.in_mpi.max > s.in_mpi.min); // of those that wait for rank 0
  CHECK(s.load_balance() < 0.8);
}
