// Named timers; each scope is also a PETSc log event (-log_view) and a Kokkos profiling region.
//
//   { Timers::Scope scope(timers, "ssa"); ... }
//
// A scope fences the Kokkos execution space at its end and never waits for other ranks: a straggler
// shows as a larger maximum. A scope that begins within another one is a part of that one.
#pragma once

#include "io/statistics.hpp"

#include <mpi.h>
#include <petsclog.h>

#include <string>
#include <vector>

namespace nunatak {

class Timers {
public:
  struct Entry {
    std::string name;
    double seconds = 0.0; ///< on this rank
    int depth = 0;        ///< number of scopes around it at its first use
    long calls = 0;
    PetscLogEvent event = 0;
  };
  /// Seconds over ranks.
  struct Summary : io::OverRanks {
    std::string name;
    int depth = 0;
    long calls = 0;
  };

  Timers();

  class Scope {
  public:
    Scope(Timers& timers, const std::string& name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    Timers& m_timers;
    std::size_t m_index;
    double m_start;
  };

  double elapsed() const; ///< seconds since construction

  /// In order of first use; all ranks must have used the same scopes. Two collectives.
  std::vector<Summary> summarise(MPI_Comm comm) const;

private:
  std::size_t index(const std::string& name);
  std::vector<Entry> m_entries;
  int m_depth = 0; ///< number of open scopes
  PetscClassId m_class = 0;
  double m_start = 0.0;
};

} // namespace nunatak
