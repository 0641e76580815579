// Lab 1, second part: the exchange of ghosts by MPI, against the same check as that of virtual
// ranks. Messages are small here; sends wait for their receives, as those of large ones do.
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/ghost_checks.hpp"

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>

using namespace nunatak;

extern "C" {
int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return PMPI_Ssend(data, n, type, to, tag, comm);
}
int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Issend(data, n, type, to, tag, comm, request);
}
}

TEST_CASE("lab 1: every ghost, with and without periodicity, and one message per neighbour") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  with_each_periodicity(Decomposition::make(11, 9, size), [&](const Decomposition& d) {
    MpiRanks ranks(MPI_COMM_WORLD, d);
    check_ghosts(ranks);
    std::vector<std::vector<std::int64_t>> messages{{ranks.traffic().messages}};
    ranks.sum(messages);
    if (size == 4 && !d.periodic_x && !d.periodic_y) CHECK(messages[0][0] == 12); // 2 x 2
  });
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int failed = 0;
  {
    Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    failed = Catch::Session().run(argc, argv);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
