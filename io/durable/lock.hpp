// One writer per name: while a run writes name.nc it holds a kernel lock on name.nc.lock.
//
// It is an open-file-description lock (fcntl, F_OFD_SETLK): it ends with the process, and holds
// across hosts where the file system's locks do. Taking it never waits. A killed run leaves the
// file unlocked; a stopped process still holds it. The text in the file is for users:
//
//   process 4711 on host node12, job 1234, since 2026-11-22T01:00:00Z
//
// Without file locks the run continues with a warning. Local; used on rank 0 by sync_file.cpp.
#pragma once

#include <string>

namespace nunatak::io {

class Lock {
public:
  /// Takes path.lock. Error, naming the holder, if it is held; Error if it cannot be created.
  explicit Lock(const std::string& path);
  /// Removes the file and releases the lock.
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  std::string m_name; ///< of the lock file
  int m_fd = -1;
};

/// Waits for a lock of that kind, if the file system has locks; held until `fd` is closed.
void wait_for_lock(int fd, const std::string& name);

} // namespace nunatak::io
