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

/// The first error of this rank, kept while it goes on: if it threw at once, it would leave the others in their next collective
/// call. agree() on rethrow() makes it everybody's.
class KeptError {
public:
  template <class F> void keep(const F& f) {
    try {
      f();
    } catch (const std::exception& e) {
      set(e.what());
    }
  }
  void set(const std::string& what) {
    if (m_what.empty()) m_what = what;
  }
  bool is_set() const { return !m_what.empty(); }
  void rethrow() const {
    if (is_set()) throw Error(m_what);
  }

private:
  std::string m_what;
};

/// The number of single-character changes (insert, delete, replace) between two names; for "did you mean".
std::size_t edit_distance(const std::string& a, const std::string& b);

} // namespace nunatak::io
