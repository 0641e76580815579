// main() of the tests without PETSc: MPI and Kokkos. Non-zero if a test failed on any rank.
#include "miniapp/base/world.hpp"

#include <catch2/catch_session.hpp>

int main(int argc, char** argv) {
  const nunatak::Processes processes(argc, argv);
  const nunatak::Libraries libraries(argc, argv);
  return static_cast<int>(nunatak::World().max(std::int64_t{Catch::Session().run(argc, argv)}));
}
