// A thread that writes while this rank computes: jobs, one after the other, whose values lie in a
// ring.
//
//   rank:    ring().take, pack, add(job) ... compute ...          thread:   job, job, job, sleeps
//
// The first error of a job is kept for the rank, and no later job is run. A job makes no call of
// MPI.
//
// On an output server such a thread makes the calls that wait for a disk, and the rank takes more:
//
//   DiskThread thread([&] { return take_what_has_come(); });     from here on, while it lives:
//   on_disk(bytes, [&] { fsync(fd); });                          thread: fsync        rank: take,
//   take, ... until that is done
//
// To the rest of the program such a call is the same as ever: it returns when it is done, and
// throws what it throws. Elsewhere no thread is there, and on_disk() only makes the call. So it
// does where few bytes wait for the disk: there and back again, each change of threads may wait
// longer for a core than the call for the disk.
#pragma once

#include "io/agree.hpp"
#include "io/async/ring.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace nunatak::io {

class WriteThread {
public:
  explicit WriteThread(std::size_t ring_bytes);
  ~WriteThread(); ///< all jobs are done
  WriteThread(const WriteThread&) = delete;
  WriteThread& operator=(const WriteThread&) = delete;

  /// Its room is free again when the job is done that was given to add_with_values() for it.
  Ring& ring() { return m_ring; }
  std::int64_t add(std::function<void()> job); ///< its number: 1, 2, ...
  std::int64_t add_with_values(std::function<void()> job);

  std::int64_t added() const { return m_added; }
  std::int64_t done() const; ///< so many, the first ones
  void wait_for(std::int64_t number) const;
  bool is_done_within(int microseconds, std::int64_t number) const; ///< waits no longer
  void rethrow() const; ///< the first error of a job, if there is one
  double busy_seconds() const;

private:
  void run();

  Ring m_ring;
  std::int64_t m_added = 0;   ///< by the rank
  mutable std::mutex m_mutex; ///< of all that follows
  mutable std::condition_variable m_change;
  std::deque<std::function<void()>> m_jobs;
  std::int64_t m_done = 0;
  KeptError m_error;
  double m_busy = 0.0;
  bool m_ends = false;
  std::thread m_thread;
};

/// Make a call that may wait for a disk, and makes none of MPI. `bytes`: that it writes, allocates,
/// or waits for.
void on_disk(std::size_t bytes, const std::function<void()>& call);

/// At most one in a process, made, used and ended by the thread that calls MPI.
class DiskThread {
public:
  /// `meanwhile` returns true if there was something to do.
  explicit DiskThread(std::function<bool()> meanwhile);
  ~DiskThread();

  static constexpr std::size_t worth_it = 1 << 20; ///< bytes
  void make(const std::function<void()>& call);

private:
  std::function<bool()> m_meanwhile;
  WriteThread m_thread{0};
};

} // namespace nunatak::io
