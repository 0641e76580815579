#include "io/watchdog.hpp"

#include "io/agree.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace nunatak::io {

Watchdog::Watchdog(MPI_Comm comm, int patience, std::string who, bool waits)
    : m_patience(std::chrono::seconds(patience)), m_rank(rank_in(comm)), m_who(std::move(who)),
      m_waits(waits) {
  if (m_who.empty()) m_who = "rank " + std::to_string(m_rank);
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

/// Checks at every sixteenth of the patience, and at its end.
void Watchdog::sleep_and_look() {
  std::chrono::milliseconds nap = m_patience / 16;
  std::unique_lock lock(m_mutex);
  while (!m_end.wait_for(lock, nap, [this] { return m_ends; })) {
    nap = m_patience / 16;
    if (m_watched.path == nullptr) continue;
    const auto error = waits_with();
    const auto left = limit(error) -
                      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_since);
    if (left.count() <= 0) end_run(error.value_or(""));
    nap = std::min(nap, left);
  }
}

std::chrono::milliseconds Watchdog::limit(const std::optional<std::string>& error) const {
  if (error && !error->empty()) return m_patience * 7 / 8;
  auto limit = m_patience + m_patience * m_rank / (4 * (m_rank + 1));
  for (const bool waits : {m_waits, error.has_value()}) {
    if (waits) limit += m_patience / 2;
  }
  return limit;
}

void Watchdog::end_run(const std::string& error) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - m_since).count();
  const std::string what = error.empty() ? "a rank or the file system has failed in it"
                                         : "the others do not come: " + error;
  std::fprintf(stderr,
               "error: file '%s': %s has been in phase '%s' of the output for more than %lld s "
               "(-io_patience): %s, and the run "
               "ends. Files that were committed are whole.\n",
               m_watched.path->c_str(), m_who.c_str(), m_watched.phase,
               static_cast<long long>(seconds), what.c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 2); // also ends output servers
  std::_Exit(1);                // not reached
}

} // namespace nunatak::io
