// The error of io/ and of everything above it (miniapp/base/error.hpp gives it its short name). No
// MPI: see agree.hpp.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak::io {

/// What went wrong: names the file, the variable (dimension, attribute) or the option, what was
/// expected and what was found. It is thrown on every rank of a communicator or turned into that by
/// agree(): run_program() prints it once and ends with status 1.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The one of `known` that `name` becomes with the fewest changes of a character (insert, delete,
/// replace), for "did you mean";
/// "" if each takes more than a third of its characters, and more than two.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// A switch: true for yes, true, on, 1, false for no, false, off, 0. Error that names `what` for
/// any other word.
bool parse_switch(const std::string& word, const std::string& what);

} // namespace nunatak::io
