// The processes of a run, for programs that are built with MPI (world_mpi.cpp) or without it
// (world_serial.cpp: one process).
#pragma once

#include "kernels/grid/ranks.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace Kokkos {
class ScopeGuard;
}

namespace nunatak {

/// All processes that compute: MPI_COMM_WORLD but for output servers. All functions but rank() and
/// size() are collective.
class World {
public:
  int rank() const;
  int size() const;
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;
  std::int64_t max(std::int64_t value) const;
  double max(double value) const;
  /// Run `f`; if it throws on any process, all of them throw an Error with the message of the
  /// lowest rank that failed.
  void agree(const std::function<void()>& f) const;
  void on_rank_0(const std::function<void()>& f) const { ///< the same, but only rank 0 runs `f`
    agree([&] {
      if (rank() == 0) f();
    });
  }
  /// One patch of the grid per process.
  std::unique_ptr<Ranks> ranks(const Decomposition& decomposition) const;
  /// Do all processes call this, each within so many seconds after this one? Collective with
  /// whoever comes.
  bool all_come(double seconds) const;
  [[noreturn]] void abort() const; ///< end all processes, servers, too
};

/// The life of MPI (if the program has it), and who serves: with -io_transport async:S on the
/// command line S processes write what the others compute. They start no other library.
class Processes {
public:
  Processes(int argc, char** argv);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Set the servers apart. Throws Error if no process is left to compute. Collective.
  void divide();
  bool is_server() const;
  int serve();           ///< on a server, until stop(): its exit status
  void stop(int status); ///< on those that compute, at the end

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

/// The life of the library that every program needs where it computes: Kokkos.
class Libraries {
public:
  Libraries(int argc, char** argv);
  ~Libraries();
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;

private:
  std::unique_ptr<Kokkos::ScopeGuard> m_kokkos;
};

} // namespace nunatak
