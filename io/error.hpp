// The error of io/ and of everything above it (miniapp/base/error.hpp gives it its short name). No MPI: see agree.hpp.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace nunatak::io {

/// What went wrong: names the file, the variable (dimension, attribute) or the option, what was expected and what was found. It
/// is thrown on every rank of a communicator or turned into that by agree(): run_program() prints it once and ends with status 1.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The number of single-character changes (insert, delete, replace) between two names; for "did you mean".
std::size_t edit_distance(const std::string& a, const std::string& b);

} // namespace nunatak::io
