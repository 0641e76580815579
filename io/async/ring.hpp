// The memory of messages to the servers: a ring buffer of at most -io_pool bytes.
//
//   |........|oldest ............... newest|........|     take(): memory behind the newest
//
// Messages are sent by MPI_Issend: its completion means that the server has received the message,
// and is the credit for a new one. Servers need not buffer.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>

namespace nunatak::io {

class Ring {
public:
  /// `most_messages`: at most this many in flight.
  explicit Ring(std::size_t bytes,
                std::size_t most_messages = std::numeric_limits<std::size_t>::max())
      : m_memory(new std::byte[bytes]), m_size(bytes), m_most_messages(most_messages) {}
  ~Ring(); ///< memory of messages still in flight is leaked

  std::size_t size() const { return m_size; }
  /// Memory for the next message, of at most size() bytes. Waits until older ones are received.
  std::byte* take(std::size_t bytes);
  void send(int rank, int tag, MPI_Comm comm);
  /// Wait until all is received, at most `seconds`. True if all is.
  bool drain(double seconds);

  double stall_seconds() const { return m_stall; } ///< waiting time of take()

private:
  struct Message {
    std::size_t begin, end;
    MPI_Request request;
  };
  bool find_room(std::size_t bytes);
  bool release_oldest(); ///< if it was received

  std::unique_ptr<std::byte[]> m_memory;
  std::size_t m_size, m_most_messages;
  std::deque<Message> m_messages; ///< in flight, oldest first
  Message m_next{0, 0, MPI_REQUEST_NULL};
  double m_stall = 0.0;
};

/// Sleeps when there is nothing to do, longer each time, up to `longest` microseconds.
class Nap {
public:
  explicit Nap(int longest = 2000) : m_longest(longest) {}
  void wake() { m_microseconds = shortest; }
  void sleep();

private:
  static constexpr int shortest = 20;
  int m_longest, m_microseconds = shortest;
};

} // namespace nunatak::io
