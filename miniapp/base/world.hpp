// The processes of a run, with MPI (world_mpi.cpp) or without (world_serial.cpp: one process).
#pragma once

#include "kernels/grid/ranks.hpp"
#include "miniapp/base/start.hpp"

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace nunatak {

/// The compute processes: MPI_COMM_WORLD without servers. rank(), size(), abort() are local.
class World {
public:
  int rank() const;
  int size() const;
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;
  std::int64_t max(std::int64_t value) const;
  double max(double value) const;
  /// Runs `f`. If it throws on any process, all throw an Error with the message of the lowest rank.
  void agree(const std::function<void()>& f) const;
  void on_rank_0(const std::function<void()>& f) const { ///< the same, but only rank 0 runs `f`
    agree([&] {
      if (rank() == 0) f();
    });
  }
  std::unique_ptr<Ranks> ranks(const Decomposition& decomposition) const;
  /// Barrier with a timeout (s): true if every process arrives in time.
  bool all_come(double seconds) const;
  [[noreturn]] void abort() const; ///< ends all processes, servers included
};

/// The lifetime of MPI and the division into compute processes and output servers, which start no
/// other library: with -io_transport async:S there are S servers.
class Processes {
public:
  Processes(int argc, char** argv);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Separates the servers. Throws Error if no process is left to compute. Collective.
  void divide();
  bool is_server() const;
  int serve();           ///< on a server: serves until stop(), returns its exit status
  void stop(int status); ///< on compute processes, at the end

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

/// The lifetime of Kokkos, which every program needs on compute processes.
struct Libraries {
  Libraries(int /*argc*/, char** /*argv*/) {}
  Kokkos::ScopeGuard kokkos{kokkos_settings()};
};

} // namespace nunatak
