// One writer per name: while a run writes name.nc, the file name.nc.lock says who it is.
//
//   {"host":"node12","process":4711,"job":"1234","since":"2026-11-22T01:00:00Z",...}
//
// Of two runs with the same output name the second is refused; else their records would be mixed in
// one name.nc.tmp. A run that was killed leaves its lock, and the next one takes it over if it can
// tell that the writer is gone: its host has started again, it has no process of that number that
// began at that time, or the batch system has started the same job again. Of a process on another
// host it cannot tell: the Error says what to delete. Used on rank 0 by sync_file.cpp.
#pragma once

#include <string>

namespace nunatak::io {

class Lock {
public:
  /// Creates path.lock. Error, naming the writer, if there is one, or if it cannot be told; Error
  /// if that file cannot be written.
  explicit Lock(const std::string& path);
  /// Removes it, unless it has become another's.
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  /// The writer before was killed: what it began may be half done.
  bool was_left() const { return m_was_left; }

private:
  bool create();
  void remove_if_left(bool if_empty, const std::string& path);

  std::string m_lock, m_text; ///< the file and what is in it
  bool m_was_left = false;
};

} // namespace nunatak::io
