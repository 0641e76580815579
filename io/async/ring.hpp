// The memory of what is on its way to the servers: a ring that is never larger than -io_pool.
//
//   |........|oldest ............... newest|........|     take(): room behind the newest; waits
//   while there is none
//
// Messages to servers are sent by MPI_Issend: that one is complete says that its server has taken
// it, and is the credit for a new one. No server is asked, and none keeps what it has no room for.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <limits>
#include <memory>

namespace nunatak::io {

class Ring {
public:
  /// `most_messages` on their way at a time, however small.
  explicit Ring(std::size_t bytes,
                std::size_t most_messages = std::numeric_limits<std::size_t>::max())
      : m_memory(new std::byte[bytes]), m_size(bytes), m_most_messages(most_messages) {}
  ~Ring(); ///< what is still on its way needs its memory: it is then not given back

  std::size_t size() const { return m_size; }
  /// Room for a message of at most size() bytes, to be sent next. Waits for older ones to
  /// be taken.
  std::byte* take(std::size_t bytes);
  void send(int rank, int tag, MPI_Comm comm);
  /// Wait until all is taken, or for so many seconds. True if all is.
  bool drain(double seconds);

  double stall_seconds() const { return m_stall; }  ///< that take() has waited
  std::size_t most_bytes() const { return m_most; } ///< on their way at a time

private:
  struct Message {
    std::size_t begin, end;
    MPI_Request request;
  };
  bool find_room(std::size_t bytes);
  bool release_oldest(); ///< if it was taken

  std::unique_ptr<std::byte[]> m_memory;
  std::size_t m_size, m_most_messages;
  std::deque<Message> m_messages; ///< on their way, oldest first
  Message m_next{0, 0, MPI_REQUEST_NULL};
  double m_stall = 0.0;
  std::size_t m_on_its_way = 0, m_most = 0;
};

/// Sleeps when there is nothing to do: the longer, the longer there was nothing, up to `longest`
/// microseconds.
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
