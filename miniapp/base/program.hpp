// main() of every program: it starts the libraries, runs, and reports an error in one place.
//
//   int main(int argc, char** argv) {
//     return run_program(argc, argv, "nunatak-x", [&](Libraries&) { ... });
//   }
//
// `run` may return the exit status of the program; if it returns nothing that is 0.
//
// An Error, or a parameter that a kernel refuses (std::invalid_argument), is thrown on all ranks
// alike: rank 0 prints it and the program ends with status 1. Anything else may have happened on
// one rank only: that rank prints it and aborts the run, so that the others do not wait for it. So
// does a rank with an Error that waits 6 s for the others to come with theirs.
#pragma once

#include "miniapp/base/world.hpp"

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

namespace nunatak {

/// Runs `run`. Its status, or 1 after an error, which is printed to standard error under the name
/// of the program.
int status_of(const std::string& program, const std::function<int()>& run);

/// A file that would grow beyond a limit (ulimit -f) is then an error of its write, not the end of
/// the process without a word. Starts MPI, sets output servers apart, which serve, and elsewhere
/// `LibrariesToUse` (Kokkos; in the model Session, which adds PETSc), and runs `run(libraries)` as
/// status_of() does.
template <class LibrariesToUse = Libraries, class Run>
int run_program(int argc, char** argv, const std::string& name, const Run& run) {
  std::signal(SIGXFSZ, SIG_IGN);
  Processes processes(argc, argv);
  const int divided = status_of(name, [&] {
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
