// What a rank does while a disk is waited for: on an output server a thread makes the calls that wait, and the rank takes more.
//
//   DiskThread thread([&] { return take_what_has_come(); });     from here on, while it lives:
//   on_disk([&] { fsync(fd); });                                 thread: fsync        rank: take, take, ... until that is done
//
// To the rest of the program such a call is the same as ever: it returns when it is done, and throws what it throws. Elsewhere no
// thread is there, and on_disk() only makes the call.
#pragma once

#include "io/thread/write_thread.hpp"

#include <functional>

namespace nunatak::io {

/// Make a call that may wait for a disk, and makes none of MPI.
void on_disk(const std::function<void()>& call);

/// At most one in a process, made, used and ended by the thread that calls MPI.
class DiskThread {
public:
  /// `meanwhile` returns true if there was something to do.
  explicit DiskThread(std::function<bool()> meanwhile);
  ~DiskThread();

  void make(const std::function<void()>& call);

private:
  std::function<bool()> m_meanwhile;
  WriteThread m_thread{0};
};

} // namespace nunatak::io
