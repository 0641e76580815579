// main() of every program: starts the libraries, runs, and reports errors in one place.
//
//   int main(int argc, char** argv) {
//     return run_program(argc, argv, "nunatak-x", [&](Libraries&) { ... });
//   }
//
// `run` may return the exit status (void: 0). An Error, or a parameter that a kernel refuses
// (std::invalid_argument), is thrown on all ranks alike: rank 0 prints it and the status is 2;
// after a Difference it is 1. Any other exception may be on one rank only: that rank prints it and
// aborts the run. So does a rank with an Error if the others bring none in 6 s.
#pragma once

#include "miniapp/base/option_table.hpp"
#include "miniapp/base/world.hpp"

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace nunatak {

/// The status of `run`, or that of an error, which is printed to standard error after `program`.
int status_of(const std::string& program, const std::function<int()>& run);

/// Starts MPI and separates the output servers, which serve. The other ranks start `LibrariesToUse`
/// (Kokkos; in the model Session, which adds PETSc) and run `run(libraries)` as status_of() does. A
/// write beyond the file size limit (ulimit -f) becomes an I/O error instead of SIGXFSZ.
template <class LibrariesToUse = Libraries, class Run>
int run_program(int argc, char** argv, const std::string& name, const Run& run) {
  std::signal(SIGXFSZ, SIG_IGN);
  Processes processes(argc, argv);
  const int divided = status_of(name, [&] {
    check_start(name, is_given(argc, argv, alone_option));
    processes.divide();
    return 0;
  });
  if (divided != 0) return divided;
  if (processes.is_server()) return status_of(name, [&] { return processes.serve(); });
  std::optional<LibrariesToUse> libraries;
  const int status = status_of(name, [&] {
    libraries.emplace(argc, argv); // may find no GPU
    if constexpr (std::is_void_v<decltype(run(*libraries))>) {
      run(*libraries);
      return 0;
    } else {
      return run(*libraries);
    }
  });
  processes.stop(status);
  return status;
}

} // namespace nunatak
