// Calls that wait for a disk. On an output server they are made by a thread, and the server takes
// the values of the next batch meanwhile:
//
//   const Meanwhile meanwhile([&] { return take(); });    as long as it lives:
//   on_disk(bytes, [&] { fsync(fd); });                   thread: fsync     server: take, take, ...
//
// To its caller such a call is as any other: it returns when it is done, and throws its errors. On
// all other ranks on_disk() only makes the call.
#pragma once

#include <cstddef>
#include <functional>

namespace nunatak::io {

/// Make a call that may wait for a disk, and makes none of MPI. `bytes` that it writes, allocates
/// or flushes: below 1 MiB no thread is worth it.
void on_disk(std::size_t bytes, const std::function<void()>& call);

/// What on_disk() does while it waits; at most one in a process. `take` returns true if there was
/// something to do.
class Meanwhile {
public:
  explicit Meanwhile(std::function<bool()> take);
  ~Meanwhile();
  Meanwhile(const Meanwhile&) = delete;
  Meanwhile& operator=(const Meanwhile&) = delete;
};

} // namespace nunatak::io
