// See watchdog.hpp.
#include "io/watchdog.hpp"

#include "io/agree.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace nunatak::io {

Watchdog::Watchdog(MPI_Comm comm, int patience, std::string who, bool waits)
    : m_patience(patience), m_who(std::move(who)), m_waits(waits) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (m_who.empty()) m_who = "rank " + std::to_string(rank);
  if (patience > 0) m_thread = std::thread([this] { sleep_and_look(); });
}

Watchdog::~Watchdog() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
  }
  m_end.notify_one();
  m_thread.join();
}

Watchdog::Watched Watchdog::set(Watched watched) {
  const std::lock_guard lock(m_mutex);
  m_since = Clock::now();
  return std::exchange(m_watched, watched);
}

void Watchdog::sleep_and_look() {
  const auto nap = std::chrono::milliseconds(m_patience) / 16;
  std::unique_lock lock(m_mutex);
  while (!m_end.wait_for(lock, nap, [this] { return m_ends; })) {
    if (m_watched.path != nullptr && Clock::now() - m_since > limit()) end_run();
  }
}

std::chrono::milliseconds Watchdog::limit() const {
  std::chrono::milliseconds limit = m_patience;
  for (const bool waits : {m_waits, is_agreeing()}) {
    if (waits) limit += limit / 2;
  }
  return limit;
}

/// The other ranks get a moment to say where they are.
void Watchdog::end_run() {
  std::fprintf(stderr,
               "error: file '%s': %s has been in phase '%s' of the output for more than %lld s (-io_patience): a rank or the "
               "file system has failed in it, and the run ends. Files that were committed are whole.\n",
               m_watched.path->c_str(), m_who.c_str(), m_watched.phase, static_cast<long long>(m_patience.count()));
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(m_patience) / 8 + std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, 1); // output servers, too
  std::_Exit(1);                // not reached
}

} // namespace nunatak::io
