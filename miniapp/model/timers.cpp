#include "miniapp/model/timers.hpp"

#include "kernels/grid/array.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <algorithm>

namespace nunatak {

Timers::Timers() : m_start(MPI_Wtime()) {
  NUNATAK_PETSC(PetscClassIdRegister("nunatak", &m_class));
}

std::size_t Timers::index(const std::string& name) {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [&](const Entry& e) { return e.name == name; });
  if (found != m_entries.end()) return static_cast<std::size_t>(found - m_entries.begin());
  Entry entry;
  entry.name = name;
  entry.depth = m_depth;
  NUNATAK_PETSC(PetscLogEventRegister(name.c_str(), m_class, &entry.event));
  m_entries.push_back(entry);
  return m_entries.size() - 1;
}

Timers::Scope::Scope(Timers& timers, const std::string& name)
    : m_timers(timers), m_index(timers.index(name)), m_start(MPI_Wtime()) {
  m_timers.m_depth += 1;
  PetscLogEventBegin(m_timers.m_entries[m_index].event, 0, 0, 0, 0);
  Kokkos::Profiling::pushRegion(name);
}

Timers::Scope::~Scope() {
  Exec().fence("nunatak: end of a timed scope");
  Kokkos::Profiling::popRegion();
  m_timers.m_depth -= 1;
  Entry& entry = m_timers.m_entries[m_index];
  PetscLogEventEnd(entry.event, 0, 0, 0, 0);
  entry.seconds += MPI_Wtime() - m_start;
  entry.calls += 1;
}

double Timers::elapsed() const { return MPI_Wtime() - m_start; }

std::vector<Timers::Summary> Timers::summarise(MPI_Comm comm) const {
  std::vector<double> seconds;
  for (const Entry& e : m_entries) seconds.push_back(e.seconds);
  const std::vector<io::OverRanks> reduced = io::over_ranks(comm, seconds);
  std::vector<Summary> summaries;
  for (std::size_t e = 0; e < m_entries.size(); ++e)
    summaries.push_back({reduced[e], m_entries[e].name, m_entries[e].depth, m_entries[e].calls});
  return summaries;
}

} // namespace nunatak
