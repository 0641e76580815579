// Named timers; each scope is also a PETSc log event (-log_view) and a Kokkos profiling region.
//
//   { Timers::Scope scope(timers, "ssa"); ... }
//
// A scope fences the Kokkos execution space at its end and never waits for other ranks: a straggler
// shows as a larger maximum. A scope that begins within another one is a part of that one. On each
// rank it measures time, time in MPI, and useful computation: processor time of this thread outside
// MPI. (A share, which is begun and ended often, counts all its time outside MPI as useful.) From
// these, as POP defines them (https://pop-coe.eu/node/69), with maxima and means over ranks:
//   load balance = mean / max of useful,   communication efficiency = max of useful / max of time
#pragma once

#include "io/data/statistics.hpp"
#include "kernels/grid/array.hpp"
#include "miniapp/model/communication.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petsclog.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nunatak {

inline nlohmann::json min_mean_max(const io::OverRanks& s) {
  return {{"min", s.min}, {"mean", s.mean}, {"max", s.max}};
}

class Timers {
public:
  struct Entry {
    std::string name;
    int depth = 0; ///< number of scopes around it at its first use
    bool is_share = false;
    long calls = 0;
    Seconds seconds = {}; ///< on this rank
    Seconds in_mpi = {};  ///< of these
    PetscLogEvent event = 0;
  };
  /// Seconds over ranks.
  struct Summary : Entry {
    io::OverRanks time, in_mpi, useful;

    double load_balance() const { return ratio(useful.mean, useful.max); }
    double communication_efficiency() const { return ratio(useful.max, time.max); }
    double parallel_efficiency() const { return ratio(useful.mean, time.max); }

  private:
    static double ratio(double part, double whole) { return whole > 0.0 ? part / whole : 1.0; }
  };

  Timers() : m_start(Seconds::now()) { NUNATAK_PETSC(PetscClassIdRegister("nunatak", &m_class)); }

  class Scope {
  public:
    Scope(Timers& timers, const std::string& name)
        : m_timers(timers), m_index(timers.index(name)), m_start(Seconds::now()),
          m_in_mpi(seconds_in_mpi()) {
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
      entry.seconds += Seconds::now() - m_start;
      entry.in_mpi += seconds_in_mpi() - m_in_mpi;
      entry.calls += 1;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    Timers& m_timers;
    std::size_t m_index;
    Seconds m_start, m_in_mpi;
  };

  /// A share of the open scope. One that begins within another interrupts it.
  void begin_share(const char* name) {
    lap();
    m_shares.push_back(index(name));
    m_entries[m_shares.back()].calls += 1;
    m_entries[m_shares.back()].is_share = true;
  }
  void end_share() {
    lap();
    m_shares.pop_back();
  }

  double elapsed() const { return (Seconds::now() - m_start).wall; } ///< seconds since construction

  /// In order of first use; then "computation": all parts but init and output together. All ranks
  /// must have used the same scopes. Two collectives.
  std::vector<Summary> summarise(MPI_Comm comm) const {
    std::vector<Entry> entries = m_entries;
    Entry sum{"computation"};
    for (const Entry& e : m_entries) {
      if (e.depth > 0 || e.name == "init" || e.name.rfind("output", 0) == 0) continue;
      sum.seconds += e.seconds;
      sum.in_mpi += e.in_mpi;
    }
    entries.push_back(sum);
    return over_ranks(comm, entries);
  }

  static std::vector<Summary> over_ranks(MPI_Comm comm, const std::vector<Entry>& entries) {
    std::vector<double> seconds;
    for (const Entry& e : entries)
      seconds.insert(seconds.end(),
                     {e.seconds.wall, e.in_mpi.wall, (e.seconds - e.in_mpi).processor});
    const std::vector<io::OverRanks> found = io::over_ranks(comm, seconds);
    std::vector<Summary> summaries;
    for (std::size_t n = 0; n < entries.size(); ++n)
      summaries.push_back({entries[n], found[3 * n], found[3 * n + 1], found[3 * n + 2]});
    return summaries;
  }

private:
  // The time since the last lap is that of the innermost open share.
  void lap() {
    const double now = Seconds::wall_now(), in_mpi = seconds_in_mpi().wall;
    if (!m_shares.empty()) {
      Entry& entry = m_entries[m_shares.back()];
      entry.seconds += {now - m_lap, now - m_lap};
      entry.in_mpi += {in_mpi - m_lap_in_mpi, in_mpi - m_lap_in_mpi};
    }
    m_lap = now;
    m_lap_in_mpi = in_mpi;
  }
  std::size_t index(const std::string& name) {
    const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const Entry& e) { return e.name == name; });
    if (found != m_entries.end()) return static_cast<std::size_t>(found - m_entries.begin());
    Entry entry{name, m_depth, false};
    NUNATAK_PETSC(PetscLogEventRegister(name.c_str(), m_class, &entry.event));
    m_entries.push_back(entry);
    return m_entries.size() - 1;
  }

  std::vector<Entry> m_entries;
  int m_depth = 0;                   ///< number of open scopes
  std::vector<std::size_t> m_shares; ///< open ones
  double m_lap = 0.0, m_lap_in_mpi = 0.0;
  PetscClassId m_class = 0;
  Seconds m_start;
};

} // namespace nunatak
