// The functions of the C library that touch files, defined again in the program, so that every
// library calls these: they pass the call on and, while a trace runs, record it if the file is
// watched (trace/record.hpp). See trace.hpp.
//
// Why this works: the dynamic linker looks for a function in the executable first, also on behalf
// of libraries that are loaded later (the MPI-IO components of Open MPI). The linker exports these
// names from the executable because the C library defines them, too. dlsym(RTLD_NEXT) is the
// function that would have been called without this file. Left out of builds with sanitizers, which
// stand in the same place.
#undef _FORTIFY_SOURCE // its headers define some of these functions themselves
#include "io/trace/record.hpp"
#include "io/trace/shield.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace nunatak::io;

namespace {

/// The next definition of a function, looked up at its first call, which may come before any
/// constructor of ours.
template <class F> struct Next {
  const char* name;
  std::atomic<F*> found{nullptr};

  template <class... Arguments> auto operator()(Arguments... arguments) {
    F* f = found.load(std::memory_order_relaxed);
    if (f == nullptr) {
      f = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
      found.store(f, std::memory_order_relaxed);
    }
    return f(arguments...);
  }
};

Next<off_t(int, off_t, int)> next_lseek{"lseek"};
static_assert(sizeof(off_t) == sizeof(off64_t),
              "the names that end in 64 are assumed to be the same functions");

[[maybe_unused]] const bool is_here = trace::is_interposed = true;

bool is_off() { return !trace::recording.load(std::memory_order_relaxed); }

/// Where a descriptor stands: the kernel knows, whoever has moved it.
std::int64_t position(int fd) {
  const off_t at = next_lseek(fd, off_t{0}, SEEK_CUR);
  return at < 0 ? 0 : at;
}

/// Make a call on a descriptor. `offset` is asked for after it, with its result; `moves`: the
/// result is a number of bytes.
template <class Call, class Offset>
auto traced(TraceOperation operation, int fd, bool moves, const Call& call, const Offset& offset) {
  const int file = is_off() ? -1 : trace::file_of(fd);
  if (file < 0) return call();
  const double start = trace::now();
  const auto result = call();
  const double end = trace::now();
  const int error = errno;
  trace::record(operation, file, offset(result), result < 0 ? -1 : moves ? result : 0, start, end);
  errno = error;
  return result;
}

/// read() and write() begin at the position of the descriptor and move it; O_APPEND moves it to the
/// end of the file first.
template <class Call> ssize_t traced_here(TraceOperation operation, int fd, const Call& call) {
  return traced(operation, fd, true, call,
                [fd](ssize_t n) { return position(fd) - (n < 0 ? 0 : n); });
}
template <class Call>
ssize_t traced_at(TraceOperation operation, int fd, off_t offset, const Call& call) {
  return traced(operation, fd, true, call, [offset](ssize_t) { return offset < 0 ? 0 : offset; });
}
template <class Call> int traced_sync(int fd, off_t offset, const Call& call) {
  return traced(TraceOperation::sync, fd, false, call, [offset](int) { return offset; });
}
template <class Call> int traced_truncate(int fd, off_t length, const Call& call) {
  return traced(TraceOperation::truncate, fd, false, call,
                [length](int) { return length < 0 ? 0 : length; });
}
template <class Call> off_t traced_seek(int fd, const Call& call) {
  return traced(TraceOperation::seek, fd, false, call, [](off_t at) { return at < 0 ? 0 : at; });
}

/// Make a call that opens `path`; `empties`: it truncates the file.
template <class Call, class Descriptor>
auto traced_open(int folder, const char* path, bool empties, const Call& call,
                 const Descriptor& descriptor) {
  if (is_off()) return call();
  const int file = trace::find(folder, path);
  const double start = trace::now();
  const auto result = call();
  const double end = trace::now();
  const int error = errno, fd = descriptor(result);
  trace::set_file_of(
      fd,
      file); // also if it is not watched: the descriptor may be an old one that was closed unseen
  if (file >= 0) trace::record(TraceOperation::open, file, 0, fd < 0 ? -1 : 0, start, end);
  if (file >= 0 && fd >= 0 && empties)
    trace::record(TraceOperation::truncate, file, 0, 0, end, end);
  errno = error;
  return result;
}
template <class Call> int traced_open(int folder, const char* path, int flags, const Call& call) {
  return traced_open(folder, path, (flags & O_TRUNC) != 0, call, [](int fd) { return fd; });
}

template <class Call> int traced_truncate_path(const char* path, off_t length, const Call& call) {
  const int file = is_off() ? -1 : trace::find(AT_FDCWD, path);
  if (file < 0) return call();
  const double start = trace::now();
  const int result = call();
  trace::record(TraceOperation::truncate, file, length < 0 ? 0 : length, result < 0 ? -1 : 0, start,
                trace::now());
  return result;
}

/// The descriptor is forgotten before it is closed: another thread may be given the same number at
/// once.
template <class Call> int traced_close(int fd, const Call& call) {
  const int file = is_off() ? -1 : trace::set_file_of(fd, -1);
  if (file < 0) return call();
  const double start = trace::now();
  const int result = call();
  trace::record(TraceOperation::close, file, 0, result < 0 ? -1 : 0, start, trace::now());
  return result;
}

template <class Call> FILE* traced_stream(const char* path, const char* mode, const Call& call) {
  return traced_open(AT_FDCWD, path, mode != nullptr && mode[0] == 'w', call,
                     [](FILE* stream) { return stream == nullptr ? -1 : fileno(stream); });
}

/// The permissions of a file to be created are the argument after the flags, if the flags ask for
/// them.
mode_t mode_after(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

/// What the caller learns of a call that has returned `result`: `success`, if there is a shield
/// before it.
template <class Result> Result shielded(int fd, long long bytes, Result success, Result result) {
  if (result >= 0 || errno == EINTR || errno == EAGAIN || !Shield::covers(fd)) return result;
  Shield::take(bytes);
  return success;
}
int shielded_sync(int fd, int result) { return shielded(fd, -1, 0, result); }
ssize_t shielded_write(int fd, size_t n, ssize_t result) {
  return shielded(fd, static_cast<long long>(n), static_cast<ssize_t>(n), result);
}
ssize_t shielded_write(int fd, const iovec* parts, int n_parts, ssize_t result) {
  size_t n = 0;
  for (int part = 0; result < 0 && part < n_parts; ++part) n += parts[part].iov_len;
  return shielded_write(fd, n, result);
}
/// Afterwards nobody knows what it was.
template <class Call> int shielded_close(int fd, const Call& call) {
  const bool is_covered = Shield::covers(fd);
  const int result = traced_close(fd, call);
  if (result == 0 || !is_covered) return result;
  Shield::take(-1);
  return 0;
}

} // namespace

// Defines a function of the C library: `traced_call` makes the call, `call`, and records it. _64
// defines the name that ends in 64, too. The parameters are named as in the manual.
#define NUNATAK_TRACED(result, name, parameters, arguments, qualifier, traced_call)                \
  result name parameters qualifier {                                                               \
    static Next<result parameters> next{#name};                                                    \
    const auto call = [&] { return next arguments; };                                              \
    return traced_call;                                                                            \
  }
#define NUNATAK_TRACED_64(result, name, parameters, arguments, qualifier, traced_call)             \
  NUNATAK_TRACED(result, name, parameters, arguments, qualifier, traced_call)                      \
  NUNATAK_TRACED(result, name##64, parameters, arguments, qualifier, traced_call)

#define NUNATAK_OPEN(name, parameters, folder, ...)                                                \
  int name parameters {                                                                            \
    static Next<int parameters> next{#name};                                                       \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    const mode_t mode = mode_after(flags, rest);                                                   \
    va_end(rest);                                                                                  \
    return traced_open(folder, path, flags, [&] { return next(__VA_ARGS__, mode); });              \
  }

extern "C" {

NUNATAK_OPEN(open, (const char* path, int flags, ...), AT_FDCWD, path, flags)
NUNATAK_OPEN(open64, (const char* path, int flags, ...), AT_FDCWD, path, flags)
NUNATAK_OPEN(openat, (int folder, const char* path, int flags, ...), folder, folder, path, flags)
NUNATAK_OPEN(openat64, (int folder, const char* path, int flags, ...), folder, folder, path, flags)
NUNATAK_TRACED_64(int, creat, (const char* path, mode_t mode), (path, mode), ,
                  traced_open(AT_FDCWD, path, O_TRUNC, call))
NUNATAK_TRACED_64(FILE*, fopen, (const char* path, const char* mode), (path, mode), ,
                  traced_stream(path, mode, call))

NUNATAK_TRACED(ssize_t, read, (int fd, void* data, size_t n), (fd, data, n), ,
               traced_here(TraceOperation::read, fd, call))
NUNATAK_TRACED(ssize_t, write, (int fd, const void* data, size_t n), (fd, data, n), ,
               shielded_write(fd, n, traced_here(TraceOperation::write, fd, call)))
NUNATAK_TRACED(ssize_t, readv, (int fd, const iovec* parts, int n), (fd, parts, n), ,
               traced_here(TraceOperation::read, fd, call))
NUNATAK_TRACED(ssize_t, writev, (int fd, const iovec* parts, int n), (fd, parts, n), ,
               shielded_write(fd, parts, n, traced_here(TraceOperation::write, fd, call)))
NUNATAK_TRACED_64(ssize_t, pread, (int fd, void* data, size_t n, off_t offset),
                  (fd, data, n, offset), , traced_at(TraceOperation::read, fd, offset, call))
NUNATAK_TRACED_64(ssize_t, pwrite, (int fd, const void* data, size_t n, off_t offset),
                  (fd, data, n, offset), ,
                  shielded_write(fd, n, traced_at(TraceOperation::write, fd, offset, call)))
NUNATAK_TRACED_64(ssize_t, preadv, (int fd, const iovec* parts, int n, off_t offset),
                  (fd, parts, n, offset), , traced_at(TraceOperation::read, fd, offset, call))
NUNATAK_TRACED_64(ssize_t, pwritev, (int fd, const iovec* parts, int n, off_t offset),
                  (fd, parts, n, offset), ,
                  shielded_write(fd, parts, n, traced_at(TraceOperation::write, fd, offset, call)))

/// A read of one file and a write of another, as watched; the kernel moves the bytes.
ssize_t copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t n,
                        unsigned int flags) {
  static Next<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned int)> next{"copy_file_range"};
  const auto begin = [](int fd, const off64_t* offset, ssize_t moved) {
    return (offset != nullptr ? std::int64_t{*offset} : position(fd)) -
           (moved < 0 ? 0 : moved); // both have moved on
  };
  const auto copy = [&] { return next(in, in_offset, out, out_offset, n, flags); };
  const auto read_and_write = [&] {
    return traced(TraceOperation::read, in, true, copy,
                  [&](ssize_t moved) { return begin(in, in_offset, moved); });
  };
  return traced(TraceOperation::write, out, true, read_and_write,
                [&](ssize_t moved) { return begin(out, out_offset, moved); });
}

NUNATAK_TRACED_64(off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence), noexcept,
                  traced_seek(fd, call))
NUNATAK_TRACED_64(int, ftruncate, (int fd, off_t length), (fd, length), noexcept,
                  traced_truncate(fd, length, call))
NUNATAK_TRACED_64(int, truncate, (const char* path, off_t length), (path, length), noexcept,
                  traced_truncate_path(path, length, call))

NUNATAK_TRACED(int, fsync, (int fd), (fd), , shielded_sync(fd, traced_sync(fd, 0, call)))
NUNATAK_TRACED(int, fdatasync, (int fd), (fd), , shielded_sync(fd, traced_sync(fd, 0, call)))
// Advice that waits for nothing is not recorded: a replay would make an fsync of it.
NUNATAK_TRACED(int, sync_file_range, (int fd, off64_t offset, off64_t n, unsigned int flags),
               (fd, offset, n, flags), ,
               flags == SYNC_FILE_RANGE_WRITE ? call() : traced_sync(fd, offset, call))

NUNATAK_TRACED(int, close, (int fd), (fd), , shielded_close(fd, call))
NUNATAK_TRACED(int, fclose, (FILE * stream), (stream), , traced_close(fileno(stream), call))
}
