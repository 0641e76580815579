// The error of io/ and of everything above it; without MPI (see agree.hpp).
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak::io {

/// Names the file, variable, attribute or option, what was expected and what was found. Thrown on
/// every rank of a communicator, or made so by agree(): run_program() prints it once.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The one of `known` with the smallest edit distance to `name`, for "did you mean"; "" if each
/// needs more than two edits and more than a third of the characters.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// At least one item; items may be empty.
std::vector<std::string> split(const std::string& text, char separator);
/// "a, b, c"
std::string joined(const std::vector<std::string>& items, const char* separator = ", ");

/// True for yes, true, on, 1; false for no, false, off, 0, in any case. Error naming `what` for any
/// other value.
bool parse_switch(const std::string& word, const std::string& what);

} // namespace nunatak::io
