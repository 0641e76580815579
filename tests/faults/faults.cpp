// Preloaded into one program of a run: the k-th call of a kind on one rank fails or is its last.
//
//   LD_PRELOAD=libfaults.so NUNATAK_FAULT="<rank> <call> <k> <action> <folder> <file>" program
//
// call: open, read (and pread), write (pwrite and writev, too), fsync, close, rename, unlink,
// fallocate, ftruncate, writeback (sync_file_range) on files below `folder`, new (memory of at
// least 4 KiB, asked for by C++ once MPI is there: hwloc's libraries, too, ask for some while Open
// MPI 5 begins), or thread (of C++, not of MPI's libraries). action: a number of errno; short (half
// of a write); kill; hang (it does not return); full (this call and all of its kind that follow
// fail, as on a full disk). rank -1: all ranks, each by its own count. When it strikes, the empty
// `file` appears. Other calls pass. loop.py counts k up.
//
// call "every": none fails; each rank writes its number of calls of each kind to `file`.<rank>.
#include "calls.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <new>
#include <string>
#include <sys/uio.h>

namespace {

int rank_of_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* text = std::getenv(name)) return std::atoi(text);
  }
  return 0;
}

constexpr const char* calls[] = {"open",      "read",   "write",  "fsync",
                                 "close",     "rename", "unlink", "fallocate",
                                 "ftruncate", "new",    "thread", "writeback"};

struct Fault {
  bool is_on = false, counts = false;
  long at = 0;
  char call[32] = "", action[32] = "", folder[PATH_MAX] = "", file[PATH_MAX] = "";
  std::atomic<long> count[std::size(calls)] = {};

  Fault() {
    int rank = -1;
    const char* const text = std::getenv("NUNATAK_FAULT");
    const bool is_told =
        text != nullptr && std::sscanf(text, "%d %31s %ld %31s %4095s %4095s", &rank, call, &at,
                                       action, folder, file) == 6;
    counts = is_told && std::strcmp(call, "every") == 0;
    is_on = counts || (is_told && (rank < 0 || rank == rank_of_process()));
  }
  ~Fault() {
    if (!counts) return;
    is_on = false;
    char line[PATH_MAX + 32];
    std::snprintf(line, sizeof line, "%s.%d", file, rank_of_process());
    const int fd =
        real<int(const char*, int, ...)>("open")(line, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (std::size_t n = 0; n < std::size(calls); ++n)
      dprintf(fd, "%s %ld\n", calls[n], count[n].load());
    real<int(int)>("close")(fd);
  }
  bool is(const char* name) const { return is_on && (counts || std::strcmp(call, name) == 0); }
  bool does(const char* what) const { return std::strcmp(action, what) == 0; }
  static bool is_in_mpi() {
    static const auto initialized =
        reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "MPI_Initialized"));
    int flag = 0;
    return initialized != nullptr && initialized(&flag) == 0 && flag != 0;
  }
  bool is_below(const char* path) const {
    char whole[PATH_MAX];
    const std::string name = path == nullptr ? "" : path;
    const auto slash = name.rfind('/');
    if (realpath(slash == std::string::npos ? "." : name.substr(0, slash + 1).c_str(), whole) ==
        nullptr)
      return false;
    return std::strncmp(whole, folder, std::strlen(folder)) == 0;
  }
  bool is_below(int fd) const { return ::is_below(folder, fd); }
  /// One more such call: is it the one?
  bool strikes(const char* name) {
    std::size_t n = 0;
    while (std::strcmp(calls[n], name) != 0) ++n;
    const long k = ++count[n];
    if (counts || k < at || (k > at && !does("full"))) return false;
    const int fd = real<int(const char*, int, ...)>("open")(file, O_WRONLY | O_CREAT, 0666);
    real<int(int)>("close")(fd);
    if (does("kill")) std::raise(SIGKILL);
    while (does("hang")) pause();
    errno = does("full") ? ENOSPC : std::atoi(action);
    return true;
  }
};

Fault& fault() {
  static Fault the_fault;
  return the_fault;
}

template <class Call> ssize_t write_some(int fd, std::size_t size, const Call& call) {
  if (!fault().is("write") || !fault().is_below(fd) || !fault().strikes("write")) return call(size);
  return fault().does("short") ? call((size + 1) / 2) : -1;
}

template <class Call> int fail_or(const char* name, bool counts, const Call& call) {
  return fault().is(name) && counts && fault().strikes(name) ? -1 : call();
}

} // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (fault().is("open") && fault().is_below(path) && fault().strikes("open")) return -1;
  return real<int(const char*, int, ...)>("open")(path, flags, mode);
}
int open64(const char*, int, ...) __attribute__((alias("open"))); // as on 64-bit Linux
ssize_t read(int fd, void* data, size_t size) {
  if (fault().is("read") && fault().is_below(fd) && fault().strikes("read")) return -1;
  return real<ssize_t(int, void*, size_t)>("read")(fd, data, size);
}
ssize_t pread(int fd, void* data, size_t size, off_t at) {
  if (fault().is("read") && fault().is_below(fd) && fault().strikes("read")) return -1;
  return real<ssize_t(int, void*, size_t, off_t)>("pread")(fd, data, size, at);
}
ssize_t pread64(int fd, void* data, size_t size, off64_t at) { return pread(fd, data, size, at); }
int unlink(const char* path) {
  return fail_or("unlink", fault().is_on && fault().is_below(path),
                 [&] { return real<int(const char*)>("unlink")(path); });
}
ssize_t write(int fd, const void* data, size_t size) {
  return write_some(fd, size, [&](size_t n) {
    return real<ssize_t(int, const void*, size_t)>("write")(fd, data, n);
  });
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return write_some(fd, size, [&](size_t n) {
    return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(fd, data, n, at);
  });
}
ssize_t writev(int fd, const iovec* parts, int n) {
  return write_some(
      fd, 1, [&](size_t) { return real<ssize_t(int, const iovec*, int)>("writev")(fd, parts, n); });
}
int sync_file_range(int fd, off_t begin, off_t size, unsigned flags) {
  return fail_or("writeback", fault().is_on && fault().is_below(fd), [&] {
    return real<int(int, off_t, off_t, unsigned)>("sync_file_range")(fd, begin, size, flags);
  });
}
int fsync(int fd) {
  return fail_or("fsync", fault().is_on && fault().is_below(fd),
                 [&] { return real<int(int)>("fsync")(fd); });
}
int close(int fd) {
  const bool counts = fault().is("close") && fault().is_below(fd);
  const int status = real<int(int)>("close")(fd); // it is closed whatever it returns
  return fail_or("close", counts, [&] { return status; });
}
int rename(const char* from, const char* to) {
  return fail_or("rename", fault().is_on && fault().is_below(to),
                 [&] { return real<int(const char*, const char*)>("rename")(from, to); });
}
int fallocate(int fd, int mode, off_t begin, off_t size) {
  return fail_or("fallocate", fault().is_on && fault().is_below(fd), [&] {
    return real<int(int, int, off_t, off_t)>("fallocate")(fd, mode, begin, size);
  });
}
int fallocate64(int fd, int mode, off64_t begin, off64_t size) {
  return fallocate(fd, mode, begin, size);
}
int ftruncate(int fd, off_t size) {
  return fail_or("ftruncate", fault().is_on && fault().is_below(fd),
                 [&] { return real<int(int, off_t)>("ftruncate")(fd, size); });
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }
int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  Dl_info caller{};
  if (fault().is("thread") && dladdr(__builtin_return_address(0), &caller) != 0 &&
      std::strstr(caller.dli_fname, "libstdc++") != nullptr && fault().strikes("thread"))
    return EAGAIN;
  return real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create")(
      thread, how, run, with);
}

} // extern "C"

void* operator new(std::size_t size) {
  if (size >= 4096 && fault().is("new") && fault().is_in_mpi() && fault().strikes("new"))
    throw std::bad_alloc();
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
