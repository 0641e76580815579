// How ranks agree on an error.
//
// A rank that throws alone (rank 0 cannot create a file, a node has no space left) leaves the
// others waiting forever in their next collective call. agree() makes all ranks throw the same.
#pragma once

#include "common/error.hpp"

#include <mpi.h>

#include <exception>
#include <functional>
#include <new>
#include <string>

namespace nunatak::io {

inline int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Run `f` on this rank. If it throws on any rank of `comm`, every rank throws an Error with the
/// message of the lowest rank that failed. Collective: one reduction, and one broadcast of the
/// message after a failure. `f` must not call collective functions that a failing rank would skip.
void agree(MPI_Comm comm, const std::function<void()>& f);

/// Run `f` on rank 0 only. If it throws there, every rank throws. Collective, as agree().
void on_rank_0(MPI_Comm comm, const std::function<void()>& f);

/// Give `text` of rank `root` to every rank. Collective.
void broadcast(std::string& text, MPI_Comm comm, int root = 0);

/// The concatenated texts of all ranks, on rank 0. Collective.
std::string gather(const std::string& text, MPI_Comm comm);

/// The first error of this rank, kept until agree() on rethrow() makes it an error of all. Throwing
/// at once would leave the others in a collective call. std::bad_alloc aborts the run.
class KeptError {
public:
  template <class F> void keep(const F& f) {
    try {
      f();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& e) {
      set(e.what());
    }
  }
  void set(const std::string& what) {
    if (m_what.empty()) m_what = what;
  }
  bool is_set() const { return !m_what.empty(); }
  const std::string& what() const { return m_what; } ///< "": none
  void rethrow() const {
    if (is_set()) throw Error(m_what);
  }

private:
  std::string m_what;
};

} // namespace nunatak::io
