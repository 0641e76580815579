// One writer per name: while a run writes name.nc it holds a kernel lock on name.nc.lock.
//
// It is an open-file-description lock (fcntl, F_OFD_SETLK): it ends with the process, however that
// ends, and holds across hosts where the file system's locks do. Taking it never waits. A killed
// run leaves the file unlocked, and the next run takes it; a stopped process still holds it. The
// text in the file is for users:
//
//   process 4711 on host node12, job 1234, since 2026-11-22T01:00:00Z
//
// On a file system without locks the run continues with a single warning. Local; used on rank 0 by
// sync_file.cpp.
#pragma once

#include <string>

namespace nunatak::io {

class Lock {
public:
  /// Takes path.lock. Error, naming the holder, if another process holds it; Error if it is not a
  /// regular file or cannot be created.
  explicit Lock(const std::string& path);
  /// Removes the file and releases the lock.
  /// Removes the file, and lets the name go.
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  std::string m_name; ///< of the lock file
  int m_fd = -1;
};

} // namespace nunatak::io
