#include "io/async/ring.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace nunatak::io {

Ring::~Ring() {
  if (!m_messages.empty()) m_memory.release();
}

bool Ring::find_room(std::size_t bytes) {
  if (m_messages.size() >= m_most_messages) return false;
  std::size_t begin = 0;
  if (!m_messages.empty()) {
    const std::size_t oldest = m_messages.front().begin, newest = m_messages.back().end;
    if (newest > oldest && newest + bytes <= m_size) {
      begin = newest;
    } else if (newest > oldest) { // from the start again
      if (bytes > oldest) return false;
    } else {
      if (newest + bytes > oldest) return false;
      begin = newest;
    }
  }
  m_next = {begin, begin + bytes, MPI_REQUEST_NULL};
  return true;
}

bool Ring::release_oldest() {
  if (m_messages.empty()) return false;
  int is_taken = 0;
  MPI_Test(&m_messages.front().request, &is_taken, MPI_STATUS_IGNORE);
  if (is_taken == 0) return false;
  m_messages.pop_front();
  return true;
}

std::byte* Ring::take(std::size_t bytes) {
  const std::size_t rounded = (bytes + 7) / 8 * 8;
  if (rounded > m_size)
    throw std::logic_error("Ring: expected a message of at most " + std::to_string(m_size) +
                           " bytes");
  while (release_oldest()) {
  }
  if (!find_room(rounded)) {
    const double start = MPI_Wtime();
    Nap nap;
    while (!find_room(rounded)) {
      if (release_oldest()) {
        nap.wake();
      } else {
        nap.sleep();
      }
    }
    m_stall += MPI_Wtime() - start;
  }
  m_next.end = m_next.begin + rounded;
  return m_memory.get() + m_next.begin;
}

void Ring::send(int rank, int tag, MPI_Comm comm) {
  MPI_Issend(m_memory.get() + m_next.begin, static_cast<int>(m_next.end - m_next.begin), MPI_BYTE,
             rank, tag, comm, &m_next.request);
  m_messages.push_back(m_next);
}

bool Ring::drain(double seconds) {
  const double start = MPI_Wtime();
  for (Nap nap; !m_messages.empty(); nap.sleep()) {
    while (release_oldest()) nap.wake();
    if (MPI_Wtime() - start > seconds) break;
  }
  return m_messages.empty();
}

void Nap::sleep() {
  std::this_thread::sleep_for(std::chrono::microseconds(m_microseconds));
  m_microseconds = std::min(2 * m_microseconds, m_longest);
}

} // namespace nunatak::io
