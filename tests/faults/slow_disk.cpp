// Preloaded into all programs of a run: one slow disk without a cache. A write to a file below
// `folder` returns when the disk would have written it, after all earlier ones of any process.
//
//   LD_PRELOAD=libslow_disk.so NUNATAK_DISK="<bytes per second> <folder> <file> [<seconds>
//   [<bytes> [<seconds of a write>]]]" program
//
// `file` is shared memory: the time at which the disk will be free. It must not be there before, or
// be that of the run. `folder` may be the beginning of a name. `seconds`: the first write of so
// many bytes or more (default 64 KiB: values, not a header) takes that much longer, so that
// meanwhile a ring fills on any machine. `seconds of a write`: each takes at least as long.
#include "calls.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

namespace {

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

struct Shared {
  std::atomic<std::int64_t> free_at; // nanoseconds
  std::atomic<bool> was_held;
};

struct Disk {
  double rate = 0.0, first = 0.0, least_time = 0.0;
  long least = 65536;
  char folder[PATH_MAX] = "";
  Shared* shared = nullptr;

  Disk() {
    const char* const text = std::getenv("NUNATAK_DISK");
    char file[PATH_MAX] = "";
    if (text == nullptr || std::sscanf(text, "%lf %4095s %4095s %lf %ld %lf", &rate, folder, file,
                                       &first, &least, &least_time) < 3)
      return;
    const int fd = real<int(const char*, int, ...)>("open")(file, O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, sizeof *shared) != 0) std::abort();
    shared = static_cast<Shared*>(
        mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  }
  bool has(int fd) const { return shared != nullptr && is_below(folder, fd); }
  /// Wait for so many bytes.
  void write(ssize_t bytes) const {
    const bool held = bytes >= least && !shared->was_held.exchange(true);
    const double time = std::max(static_cast<double>(bytes) / rate, least_time);
    const auto needed = static_cast<std::int64_t>(1e9 * (time + (held ? first : 0.0)));
    std::int64_t begin = shared->free_at.load(), end = 0;
    do {
      end = (begin > now() ? begin : now()) + needed;
    } while (!shared->free_at.compare_exchange_weak(begin, end));
    const timespec until{end / 1000000000, end % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
};

ssize_t slowly(int fd, ssize_t written) {
  static const Disk disk;
  if (written > 0 && disk.has(fd)) disk.write(written);
  return written;
}

} // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  return slowly(fd, real<ssize_t(int, const void*, size_t)>("write")(fd, data, size));
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return slowly(fd, real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, data, size, at));
}
ssize_t writev(int fd, const iovec* parts, int n) {
  return slowly(fd, real<ssize_t(int, const iovec*, int)>("writev")(fd, parts, n));
}
ssize_t pwritev(int fd, const iovec* parts, int n, off_t at) {
  return slowly(fd, real<ssize_t(int, const iovec*, int, off_t)>("pwritev")(fd, parts, n, at));
}
}
