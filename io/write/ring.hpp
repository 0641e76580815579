// The memory of messages to the servers: a ring buffer of at most -io_pool bytes.
//
//   |........|oldest ............... newest|........|     take(): memory behind the newest
//
// Messages are sent by MPI_Issend: its completion means that the server has received the message,
// and is the credit for a new one. Servers need not buffer.
#pragma once

#include "io/base/watchdog.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace nunatak::io {

/// Sleeps when there is nothing to do, longer each time, up to `longest` microseconds.
class Nap {
public:
  explicit Nap(int longest = 2000) : m_longest(longest) {}
  void wake() { m_microseconds = shortest; }
  void sleep() {
    std::this_thread::sleep_for(std::chrono::microseconds(m_microseconds));
    m_microseconds = std::min(2 * m_microseconds, m_longest);
  }

private:
  static constexpr int shortest = 20;
  int m_longest, m_microseconds = shortest;
};

class Ring {
public:
  /// `most_messages`: at most this many in flight.
  Ring(std::size_t bytes, std::size_t most_messages)
      : m_memory(new std::byte[bytes]), m_size(bytes), m_most_messages(most_messages) {}
  ~Ring() {
    if (!m_messages.empty()) m_memory.release(); // in flight: its memory is leaked
  }

  std::size_t size() const { return m_size; }

  /// Memory for the next message, of at most size() bytes. Waits until older ones are received.
  std::byte* take(std::size_t bytes) {
    const std::size_t rounded = (bytes + 7) / 8 * 8;
    if (rounded > m_size)
      throw std::logic_error("Ring: expected a message of at most " + std::to_string(m_size) +
                             " bytes");
    while (release_oldest()) {
    }
    if (!find_room(rounded)) {
      const double start = MPI_Wtime();
      for (Nap nap; !find_room(rounded);) release_oldest() ? nap.wake() : nap.sleep();
      m_stall += MPI_Wtime() - start;
    }
    return m_memory.get() + m_next.begin;
  }

  void send(int rank, int tag, MPI_Comm comm) {
    MPI_Issend(m_memory.get() + m_next.begin, static_cast<int>(m_next.end - m_next.begin), MPI_BYTE,
               rank, tag, comm, &m_next.request);
    m_messages.push_back(m_next);
  }

  /// Wait until all is received, at most `seconds`. True if all is.
  bool drain(double seconds) {
    const double start = MPI_Wtime();
    for (Nap nap; !m_messages.empty(); nap.sleep()) {
      while (release_oldest()) nap.wake();
      if (MPI_Wtime() - start > seconds) break;
    }
    return m_messages.empty();
  }

  double stall_seconds() const { return m_stall; } ///< waiting time of take()

private:
  struct InFlight {
    std::size_t begin, end;
    MPI_Request request;
  };

  /// Sets m_next if there is memory behind the newest message, or before the oldest.
  bool find_room(std::size_t bytes) {
    if (m_messages.size() >= m_most_messages) return false;
    std::size_t begin = 0, end = m_size;
    if (!m_messages.empty()) {
      const std::size_t oldest = m_messages.front().begin, newest = m_messages.back().end;
      const bool is_wrapped = newest <= oldest;
      if (is_wrapped || newest + bytes <= m_size) begin = newest;
      if (begin == 0 || is_wrapped) end = oldest;
    }
    m_next = {begin, begin + bytes, MPI_REQUEST_NULL};
    return begin + bytes <= end;
  }

  /// False if it has not been received.
  bool release_oldest() {
    if (m_messages.empty()) return false;
    int is_taken = 0;
    MPI_Test(&m_messages.front().request, &is_taken, MPI_STATUS_IGNORE);
    if (is_taken == 0) return false;
    m_messages.pop_front();
    Watchdog::of_process().advance();
    return true;
  }

  std::unique_ptr<std::byte[]> m_memory;
  std::size_t m_size, m_most_messages;
  std::deque<InFlight> m_messages; ///< in flight, oldest first
  InFlight m_next{0, 0, MPI_REQUEST_NULL};
  double m_stall = 0.0;
};

} // namespace nunatak::io
