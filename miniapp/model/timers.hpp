// Named timers; each scope is also a PETSc log event (-log_view) and a Kokkos profiling region.
//
//   { Timers::Scope scope(timers, "ssa"); ... }
//
// A scope fences the Kokkos execution space at its end and never waits for other ranks: a straggler
// shows as a larger maximum. A scope that begins within another one is a part of that one.
#pragma once

#include "io/statistics.hpp"
#include "kernels/grid/array.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <mpi.h>
#include <petsclog.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nunatak {

class Timers {
public:
  struct Entry {
    std::string name;
    int depth = 0; ///< number of scopes around it at its first use
    long calls = 0;
    double seconds = 0.0; ///< on this rank
    PetscLogEvent event = 0;
  };
  struct Summary : io::OverRanks, Entry {}; ///< min, mean, max: seconds over ranks

  Timers() : m_start(MPI_Wtime()) { NUNATAK_PETSC(PetscClassIdRegister("nunatak", &m_class)); }

  class Scope {
  public:
    Scope(Timers& timers, const std::string& name)
        : m_timers(timers), m_index(timers.index(name)), m_start(MPI_Wtime()) {
      m_timers.m_depth += 1;
      PetscLogEventBegin(m_timers.m_entries[m_index].event, 0, 0, 0, 0);
      Kokkos::Profiling::pushRegion(name);
    }
    ~Scope() {
      Exec().fence("nunatak: end of a timed scope");
      Kokkos::Profiling::popRegion();
      m_timers.m_depth -= 1;
      Entry& entry = m_timers.m_entries[m_index];
      PetscLogEventEnd(entry.event, 0, 0, 0, 0);
      entry.seconds += MPI_Wtime() - m_start;
      entry.calls += 1;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    Timers& m_timers;
    std::size_t m_index;
    double m_start;
  };

  double elapsed() const { return MPI_Wtime() - m_start; } ///< seconds since construction

  /// In order of first use; all ranks must have used the same scopes. Two collectives.
  std::vector<Summary> summarise(MPI_Comm comm) const {
    std::vector<double> seconds;
    for (const Entry& e : m_entries) seconds.push_back(e.seconds);
    const std::vector<io::OverRanks> reduced = io::over_ranks(comm, seconds);
    std::vector<Summary> summaries;
    for (std::size_t e = 0; e < m_entries.size(); ++e)
      summaries.push_back({reduced[e], m_entries[e]});
    return summaries;
  }

private:
  std::size_t index(const std::string& name) {
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const Entry& e) { return e.name == name; });
    if (found != m_entries.end()) return static_cast<std::size_t>(found - m_entries.begin());
    Entry entry{name, m_depth};
    NUNATAK_PETSC(PetscLogEventRegister(name.c_str(), m_class, &entry.event));
    m_entries.push_back(entry);
    return m_entries.size() - 1;
  }

  std::vector<Entry> m_entries;
  int m_depth = 0; ///< number of open scopes
  PetscClassId m_class = 0;
  double m_start = 0.0;
};

} // namespace nunatak
