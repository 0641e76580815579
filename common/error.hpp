// Errors and exit statuses of all programs, without MPI (io/base/agree.hpp).
#pragma once

#include <stdexcept>

namespace nunatak {

/// Names the file, variable, attribute or option, what was expected and what was found. Thrown on
/// every rank of a communicator, or made so by agree(): run_program() prints it once.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A comparison found a difference. Thrown on all ranks alike.
class Difference : public Error {
public:
  using Error::Error;
};

// Exit statuses, besides 0 and 85 (miniapp/model/early_end.hpp).
constexpr int exit_differs = 1; ///< after a Difference
constexpr int exit_error = 2;   ///< usage, input, files, a solver that fails

} // namespace nunatak
