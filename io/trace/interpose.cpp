// The functions of the C library that touch files, defined again in the program, so that every library calls these: they pass
// the call on and, while a trace runs, record it if the file is watched (trace/record.hpp). See trace.hpp.
//
// Why this works: the dynamic linker looks for a function in the executable first, also on behalf of libraries that are loaded
// later (the MPI-IO components of Open MPI). The linker exports these names from the executable because the C library defines
// them, too. dlsym(RTLD_NEXT) is the function that would have been called without this file.
// Left out of builds with sanitizers, which stand in the same place.
#undef _FORTIFY_SOURCE // its headers define some of these functions themselves
#include "io/trace/record.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace nunatak::io;

namespace {

/// The next definition of a function, looked up at its first call, which may come before any constructor of ours.
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

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);
using Create = int(const char*, mode_t);
using Read = ssize_t(int, void*, size_t);
using Write = ssize_t(int, const void*, size_t);
using ReadAt = ssize_t(int, void*, size_t, off_t);
using WriteAt = ssize_t(int, const void*, size_t, off_t);
using Vector = ssize_t(int, const iovec*, int);
using VectorAt = ssize_t(int, const iovec*, int, off_t);
using Seek = off_t(int, off_t, int);
using Truncate = int(int, off_t);
using TruncatePath = int(const char*, off_t);
using OneFile = int(int);
using SyncRange = int(int, off64_t, off64_t, unsigned int);
using CopyRange = ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned int);
using OpenStream = FILE*(const char*, const char*);
using CloseStream = int(FILE*);
static_assert(sizeof(off_t) == sizeof(off64_t), "the names that end in 64 are assumed to be the same functions");

Next<Open> next_open{"open"}, next_open64{"open64"};
Next<OpenAt> next_openat{"openat"}, next_openat64{"openat64"};
Next<Create> next_creat{"creat"}, next_creat64{"creat64"};
Next<Read> next_read{"read"};
Next<Write> next_write{"write"};
Next<ReadAt> next_pread{"pread"}, next_pread64{"pread64"};
Next<WriteAt> next_pwrite{"pwrite"}, next_pwrite64{"pwrite64"};
Next<Vector> next_readv{"readv"}, next_writev{"writev"};
Next<VectorAt> next_preadv{"preadv"}, next_preadv64{"preadv64"}, next_pwritev{"pwritev"}, next_pwritev64{"pwritev64"};
Next<Seek> next_lseek{"lseek"}, next_lseek64{"lseek64"};
Next<Truncate> next_ftruncate{"ftruncate"}, next_ftruncate64{"ftruncate64"};
Next<TruncatePath> next_truncate{"truncate"}, next_truncate64{"truncate64"};
Next<OneFile> next_fsync{"fsync"}, next_fdatasync{"fdatasync"}, next_close{"close"};
Next<SyncRange> next_sync_file_range{"sync_file_range"};
Next<CopyRange> next_copy_file_range{"copy_file_range"};
Next<OpenStream> next_fopen{"fopen"}, next_fopen64{"fopen64"};
Next<CloseStream> next_fclose{"fclose"};

[[maybe_unused]] const bool is_here = trace::is_interposed = true;

bool is_off() { return !trace::recording.load(std::memory_order_relaxed); }

/// Where a descriptor stands: the kernel knows, whoever has moved it.
std::int64_t position(int fd) {
  const off_t at = next_lseek(fd, off_t{0}, SEEK_CUR);
  return at < 0 ? 0 : at;
}

/// Make a call on a descriptor. `offset` is asked for after it, with its result; `moves`: the result is a number of bytes.
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

/// read() and write() begin at the position of the descriptor and move it; O_APPEND moves it to the end of the file first.
template <class Call> ssize_t traced_here(TraceOperation operation, int fd, const Call& call) {
  return traced(operation, fd, true, call, [fd](ssize_t n) { return position(fd) - (n < 0 ? 0 : n); });
}
template <class Call> ssize_t traced_at(TraceOperation operation, int fd, off_t offset, const Call& call) {
  return traced(operation, fd, true, call, [offset](ssize_t) { return offset < 0 ? 0 : offset; });
}
template <class Call> int traced_sync(int fd, off_t offset, const Call& call) {
  return traced(TraceOperation::sync, fd, false, call, [offset](int) { return offset; });
}
template <class Call> int traced_truncate(int fd, off_t length, const Call& call) {
  return traced(TraceOperation::truncate, fd, false, call, [length](int) { return length < 0 ? 0 : length; });
}
template <class Call> off_t traced_seek(int fd, const Call& call) {
  return traced(TraceOperation::seek, fd, false, call, [](off_t at) { return at < 0 ? 0 : at; });
}

/// Make a call that opens `path`; `empties`: it truncates the file.
template <class Call, class Descriptor>
auto traced_open(int folder, const char* path, bool empties, const Call& call, const Descriptor& descriptor) {
  if (is_off()) return call();
  const int file = trace::find(folder, path);
  const double start = trace::now();
  const auto result = call();
  const double end = trace::now();
  const int error = errno, fd = descriptor(result);
  trace::set_file_of(fd, file); // also if it is not watched: the descriptor may be an old one that was closed unseen
  if (file >= 0) trace::record(TraceOperation::open, file, 0, fd < 0 ? -1 : 0, start, end);
  if (file >= 0 && fd >= 0 && empties) trace::record(TraceOperation::truncate, file, 0, 0, end, end);
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
  trace::record(TraceOperation::truncate, file, length < 0 ? 0 : length, result < 0 ? -1 : 0, start, trace::now());
  return result;
}

/// The descriptor is forgotten before it is closed: another thread may be given the same number at once.
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

/// The permissions of a file to be created are the argument after the flags, if the flags ask for them.
mode_t mode_after(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

} // namespace

// The parameters are named as in the manual; NUNATAK_MODE reads the permissions of a variadic open.
#define NUNATAK_MODE                                                                                                             \
  va_list rest;                                                                                                                  \
  va_start(rest, flags);                                                                                                         \
  const mode_t mode = mode_after(flags, rest);                                                                                   \
  va_end(rest)

extern "C" {

int open(const char* path, int flags, ...) {
  NUNATAK_MODE;
  return traced_open(AT_FDCWD, path, flags, [&] { return next_open(path, flags, mode); });
}
int open64(const char* path, int flags, ...) {
  NUNATAK_MODE;
  return traced_open(AT_FDCWD, path, flags, [&] { return next_open64(path, flags, mode); });
}
int openat(int folder, const char* path, int flags, ...) {
  NUNATAK_MODE;
  return traced_open(folder, path, flags, [&] { return next_openat(folder, path, flags, mode); });
}
int openat64(int folder, const char* path, int flags, ...) {
  NUNATAK_MODE;
  return traced_open(folder, path, flags, [&] { return next_openat64(folder, path, flags, mode); });
}
int creat(const char* path, mode_t mode) {
  return traced_open(AT_FDCWD, path, O_TRUNC, [&] { return next_creat(path, mode); });
}
int creat64(const char* path, mode_t mode) {
  return traced_open(AT_FDCWD, path, O_TRUNC, [&] { return next_creat64(path, mode); });
}
FILE* fopen(const char* path, const char* mode) {
  return traced_stream(path, mode, [&] { return next_fopen(path, mode); });
}
FILE* fopen64(const char* path, const char* mode) {
  return traced_stream(path, mode, [&] { return next_fopen64(path, mode); });
}

ssize_t read(int fd, void* data, size_t n) {
  return traced_here(TraceOperation::read, fd, [&] { return next_read(fd, data, n); });
}
ssize_t write(int fd, const void* data, size_t n) {
  return traced_here(TraceOperation::write, fd, [&] { return next_write(fd, data, n); });
}
ssize_t readv(int fd, const iovec* parts, int n) {
  return traced_here(TraceOperation::read, fd, [&] { return next_readv(fd, parts, n); });
}
ssize_t writev(int fd, const iovec* parts, int n) {
  return traced_here(TraceOperation::write, fd, [&] { return next_writev(fd, parts, n); });
}
ssize_t pread(int fd, void* data, size_t n, off_t offset) {
  return traced_at(TraceOperation::read, fd, offset, [&] { return next_pread(fd, data, n, offset); });
}
ssize_t pread64(int fd, void* data, size_t n, off64_t offset) {
  return traced_at(TraceOperation::read, fd, offset, [&] { return next_pread64(fd, data, n, offset); });
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t offset) {
  return traced_at(TraceOperation::write, fd, offset, [&] { return next_pwrite(fd, data, n, offset); });
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t offset) {
  return traced_at(TraceOperation::write, fd, offset, [&] { return next_pwrite64(fd, data, n, offset); });
}
ssize_t preadv(int fd, const iovec* parts, int n, off_t offset) {
  return traced_at(TraceOperation::read, fd, offset, [&] { return next_preadv(fd, parts, n, offset); });
}
ssize_t preadv64(int fd, const iovec* parts, int n, off64_t offset) {
  return traced_at(TraceOperation::read, fd, offset, [&] { return next_preadv64(fd, parts, n, offset); });
}
ssize_t pwritev(int fd, const iovec* parts, int n, off_t offset) {
  return traced_at(TraceOperation::write, fd, offset, [&] { return next_pwritev(fd, parts, n, offset); });
}
ssize_t pwritev64(int fd, const iovec* parts, int n, off64_t offset) {
  return traced_at(TraceOperation::write, fd, offset, [&] { return next_pwritev64(fd, parts, n, offset); });
}

/// A read of one file and a write of another, as watched; the kernel moves the bytes.
ssize_t copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t n, unsigned int flags) {
  const auto begin = [](int fd, const off64_t* offset, ssize_t moved) {
    return (offset != nullptr ? std::int64_t{*offset} : position(fd)) - (moved < 0 ? 0 : moved); // both have moved on
  };
  const auto copy = [&] { return next_copy_file_range(in, in_offset, out, out_offset, n, flags); };
  const auto copy_and_tell = [&] {
    return traced(TraceOperation::read, in, true, copy, [&](ssize_t moved) { return begin(in, in_offset, moved); });
  };
  return traced(TraceOperation::write, out, true, copy_and_tell, [&](ssize_t moved) { return begin(out, out_offset, moved); });
}

off_t lseek(int fd, off_t offset, int whence) noexcept {
  return traced_seek(fd, [&] { return next_lseek(fd, offset, whence); });
}
off64_t lseek64(int fd, off64_t offset, int whence) noexcept {
  return traced_seek(fd, [&] { return next_lseek64(fd, offset, whence); });
}

int fsync(int fd) {
  return traced_sync(fd, 0, [&] { return next_fsync(fd); });
}
int fdatasync(int fd) {
  return traced_sync(fd, 0, [&] { return next_fdatasync(fd); });
}
/// Advice that waits for nothing is not recorded: a replay would make an fsync of it.
int sync_file_range(int fd, off64_t offset, off64_t n, unsigned int flags) {
  const auto call = [&] { return next_sync_file_range(fd, offset, n, flags); };
  return flags == SYNC_FILE_RANGE_WRITE ? call() : traced_sync(fd, offset, call);
}

int ftruncate(int fd, off_t length) noexcept {
  return traced_truncate(fd, length, [&] { return next_ftruncate(fd, length); });
}
int ftruncate64(int fd, off64_t length) noexcept {
  return traced_truncate(fd, length, [&] { return next_ftruncate64(fd, length); });
}
int truncate(const char* path, off_t length) noexcept {
  return traced_truncate_path(path, length, [&] { return next_truncate(path, length); });
}
int truncate64(const char* path, off64_t length) noexcept {
  return traced_truncate_path(path, length, [&] { return next_truncate64(path, length); });
}

int close(int fd) {
  return traced_close(fd, [&] { return next_close(fd); });
}
int fclose(FILE* stream) {
  return traced_close(fileno(stream), [&] { return next_fclose(stream); });
}
}
