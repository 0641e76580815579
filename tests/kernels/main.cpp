// main() of the kernel tests: Kokkos without MPI. Tests read arrays after a loop: on a GPU, where a
// loop returns before it is done, each is waited for. (bits.cpp does without.)
#include "kernels/grid/array.hpp"

#include <catch2/catch_session.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  if (!nunatak::loops_on_host) {
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(
        [](std::uint64_t) { Kokkos::fence("tests: end of a loop"); });
  }
  return Catch::Session().run(argc, argv);
}
