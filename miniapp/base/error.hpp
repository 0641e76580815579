// Errors and exit statuses of all programs.
#pragma once

#include "io/base/error.hpp"

namespace nunatak {

using Error = io::Error; ///< of io/ and of all layers above it

/// A comparison found a difference. Thrown on all ranks alike, like an Error.
class Difference : public Error {
public:
  using Error::Error;
};

// Exit statuses, besides 0 and 85 (miniapp/model/early_end.hpp).
constexpr int exit_differs = 1; ///< after a Difference
constexpr int exit_error = 2;   ///< usage, input, files, a solver that fails

} // namespace nunatak
