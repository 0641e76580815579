// See watchdog.hpp.
#include "io/watchdog.hpp"

#include <cstdio>
#include <cstdlib>

namespace nunatak::io {

Watchdog::Watchdog(MPI_Comm comm, int patience) : m_comm(comm), m_patience(patience) {
  MPI_Comm_rank(comm, &m_rank);
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

void Watchdog::set(const std::string* path, const char* phase) {
  const std::lock_guard lock(m_mutex);
  m_path = path;
  m_phase = phase;
  m_since = Clock::now();
}

void Watchdog::sleep_and_look() {
  const auto nap = std::chrono::milliseconds(m_patience) / 16;
  std::unique_lock lock(m_mutex);
  while (!m_end.wait_for(lock, nap, [this] { return m_ends; })) {
    if (m_path != nullptr && Clock::now() - m_since > m_patience) end_run();
  }
}

/// The other ranks get a moment to say where they are.
void Watchdog::end_run() {
  std::fprintf(
      stderr,
      "error: file '%s': rank %d has been in phase '%s' of the output for more than %lld s (-io_patience): a rank or the "
      "file system has failed in it, and the run ends. Files that were committed are whole.\n",
      m_path->c_str(), m_rank, m_phase, static_cast<long long>(m_patience.count()));
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(m_patience) / 8 + std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, 1); // output servers, too
  std::_Exit(1);                // not reached
}

} // namespace nunatak::io
