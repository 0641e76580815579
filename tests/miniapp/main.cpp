// main() of the model tests: MPI, PETSc and Kokkos. Non-zero if a test failed on any rank.
#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>
#include <petscsys.h>

int main(int argc, char** argv) {
  int petsc_argc = 1; // the arguments are Catch2's
  char** petsc_argv = argv;
  if (PetscInitialize(&petsc_argc, &petsc_argv, nullptr, nullptr) != 0) return 1;
  int result = 0;
  {
    Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    result = Catch::Session().run(argc, argv);
  }
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  return PetscFinalize() != 0 ? 1 : result;
}
