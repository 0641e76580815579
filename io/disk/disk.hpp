// Files on disk: a kill, a full disk or a power loss leaves a complete file under each name, if
// they are called in the order of sync_file.cpp. All functions are local.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace nunatak::io {

/// f(), a system call, repeated as long as a signal interrupts it.
template <class F> auto retried(const F& f) {
  auto result = f();
  while (result < 0 && errno == EINTR) result = f();
  return result;
}

/// A file descriptor that closes itself; child processes do not inherit it.
class Descriptor {
public:
  /// Error "file ...: what: ..." if it cannot be opened. New files get the mode 0666.
  Descriptor(const std::string& path, int flags, const std::string& what);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return m_fd; }
  const std::string& path() const { return m_path; }

private:
  std::string m_path;
  int m_fd;
};

/// Create an empty regular file under this name; an existing one or a link is removed first.
void create_anew(const std::string& path);

/// Write all bytes to a descriptor of the file `path`.
void write_all(int fd, const std::string& path, const char* data, std::size_t size);

/// Makes a call that waits for a disk and makes no MPI call; `bytes`: written or flushed by it. An
/// output server makes it in a thread and takes values meanwhile (write/serve.cpp).
using DiskCaller = std::function<void(std::size_t bytes, const std::function<void()>& call)>;
inline void call_at_once(std::size_t /*bytes*/, const std::function<void()>& call) { call(); }

void fsync_file(const Descriptor& file, const DiskCaller& call_disk = call_at_once);
void fsync_path(const std::string& path, const DiskCaller& call_disk = call_at_once);
/// Flush the folder of a file, which makes its name durable.
void fsync_folder_of(const std::string& path);
/// Start writeback of a file without waiting.
void start_writeback(const std::string& path);

void rename_file(const std::string& from, const std::string& to);

/// What another program has done to an open file that is called `name` and had `size` bytes or
/// more: "removed", "replaced", "truncated"; "" for nothing.
const char* change_of(const Descriptor& file, const std::string& name, std::uint64_t size);

// Space is allocated before values are sent, because MPI-IO cannot report an error of one rank
// without hanging the others: ROMIO leaves a collective write on the failing rank only.

/// Allocate the bytes begin <= n < end of a file without changing its length or, where
/// that is impossible (NFS, ZFS), check the free space. Error on a full disk, quota or size limit.
void reserve_space(const Descriptor& file, std::uint64_t begin, std::uint64_t end);

/// Give back what was allocated beyond the end of the file.
void release_space(const Descriptor& file);

/// Cause of a failed write of `bytes` at `path`, for the message of a library: ": " and the text of
/// `error` (errno) if it is about space, the limit of this process, or ": no space left on device"
/// if less is free; else "".
std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes);

/// One writer per name: while a run writes name.nc it holds a kernel lock on name.nc.lock.
///
/// It is an open-file-description lock (fcntl, F_OFD_SETLK): it ends with the process, and holds
/// across hosts where the file system's locks do. Taking it never waits. A killed run leaves the
/// file unlocked; a stopped process still holds it. The text in the file is for users:
///
///   process 4711 on host node12, job 1234, since 2026-11-22T01:00:00Z
///
/// Without file locks the run continues with a warning. Used on rank 0 by sync_file.cpp.
class Lock {
public:
  /// Takes path.lock. Error, naming the holder, if it is held; Error if it cannot be created.
  explicit Lock(const std::string& path);
  /// Removes the file and releases the lock.
  ~Lock();
  /// Error if another program has removed or replaced the file: a second run may have taken it.
  void require_held() const;

private:
  std::string m_path, m_name; ///< of the file, of the lock file
  std::unique_ptr<Descriptor> m_file;
};

/// Waits for a lock of that kind, if the file system has locks; held until `fd` is closed.
void wait_for_lock(int fd, const std::string& name);

} // namespace nunatak::io
