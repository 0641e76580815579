// main() of the io tests: MPI, no PETSc, no Kokkos. Non-zero if a test failed on any rank.
#include "io/disk/mpi_io.hpp"

#include <catch2/catch_session.hpp>
#include <mpi.h>

int main(int argc, char** argv) {
  nunatak::io::prepare_mpi();
  MPI_Init(&argc, &argv);
  int result = Catch::Session().run(argc, argv);
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return result;
}
