// libnunatak_trace.so: every open, read, write, seek, sync, truncate and close of a program and its
// libraries on NetCDF files, as a CSV for perf/plot_trace.py. Preloaded, like IPM and Darshan; the
// program needs MPI and no changes:
//
//   mpiexec -n 4 env LD_PRELOAD=libnunatak_trace.so NUNATAK_TRACE=t.csv nunatak -o ex.nc
//
//   NUNATAK_TRACE         the CSV (t.csv); rank 0 writes it in MPI_Finalize, from all ranks
//   NUNATAK_TRACE_FILES   trace only files whose path contains this (NAME.nc, NAME.nc.tmp, ...)
//
//   rank,operation,file,offset,bytes,start,end
//   0,write,ex.nc.tmp,8192,4096,0.001234567,0.001250000
//
//   operation   offset (byte of the file)             bytes
//   open        0                                     0
//   read        where it began                        number read
//   write       where it began                        number written
//   seek        the new position                      0
//   sync        0, or that of sync_file_range         0          fsync, fdatasync, sync_file_range
//   truncate    the new length                        0          also an open with O_TRUNC
//   close       0                                     0
//
// bytes is -1 if the call failed. Times are seconds since a barrier in MPI_Init. copy_file_range is
// a read of one file and a write of the other. A name with a comma or a quote is quoted.
//
// The dynamic linker finds the functions below before those of the C library, also for PnetCDF,
// HDF5 and the MPI-IO components that MPI loads later; dlsym(RTLD_NEXT) finds the originals. Not
// traced: fread() and fwrite(), which no library here uses for data; memory maps; fallocate;
// preadv2 and pwritev2; aio_* and io_uring; copies of a descriptor by fcntl. A run that ends
// without MPI_Finalize (MPI_Abort, a signal) leaves no trace.
#undef _FORTIFY_SOURCE // its headers define some of these functions
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int most_descriptors = 1 << 16;    // descriptors above are not traced
constexpr std::size_t most_events = 1 << 22; // 48 bytes each; later events are only counted

struct Event {
  const char* operation;
  std::int64_t offset, bytes;
  double start, end;
  int file;
};

/// Created at first use and never destroyed: libraries close files after main() has ended.
struct State {
  std::mutex mutex;
  std::vector<std::string> names;
  std::vector<Event> events;
  std::int64_t dropped = 0;
  double zero = 0.0;
};
State& state() {
  static State* const s = new State;
  return *s;
}

std::atomic<bool> recording{false};       ///< from MPI_Init to MPI_Finalize
std::atomic<int> files[most_descriptors]; ///< the file of a descriptor plus one; 0: not traced

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

const char* setting(const char* name, const char* otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr && text[0] != '\0' ? text : otherwise;
}

/// By default: names that end in .nc, possibly followed by .tmp or .0001, except the lock.
bool is_traced(const char* path) {
  static const char* const part = setting("NUNATAK_TRACE_FILES", "");
  if (part[0] != '\0') return std::strstr(path, part) != nullptr;
  for (const char* at = std::strstr(path, ".nc"); at != nullptr; at = std::strstr(at + 1, ".nc")) {
    if (at[3] == '\0' || (at[3] == '.' && std::strcmp(at + 3, ".lock") != 0)) return true;
  }
  return false;
}

/// The number of a file that is traced, or -1.
int find(const char* path) {
  if (!recording || path == nullptr || !is_traced(path)) return -1;
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto at = std::find(s.names.begin(), s.names.end(), path);
  const auto number = static_cast<int>(at - s.names.begin());
  if (at == s.names.end()) s.names.emplace_back(path);
  return number;
}

int file_of(int fd) {
  return fd < 0 || fd >= most_descriptors || !recording ? -1 : files[fd].load() - 1;
}
int set_file_of(int fd, int file) {
  return fd < 0 || fd >= most_descriptors ? -1 : files[fd].exchange(file + 1) - 1;
}

void record(const char* operation, int file, std::int64_t offset, std::int64_t bytes, double start,
            double end) {
  const int error = errno;
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (s.events.size() < most_events) {
    s.events.push_back({operation, std::max<std::int64_t>(0, offset), bytes, start, end, file});
  } else {
    s.dropped += 1;
  }
  errno = error;
}

/// The next definition of a function, looked up at its first call, perhaps before any constructor.
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

/// Make a call on a descriptor. `offset` of its result; `moves`: the result is a number of bytes.
template <class Call, class Offset>
auto traced(const char* operation, int fd, bool moves, const Call& call, const Offset& offset) {
  const int file = file_of(fd);
  if (file < 0) return call();
  const double start = now();
  const auto result = call();
  const double end = now();
  const int error = errno;
  record(operation, file, offset(result), result < 0 ? -1 : moves ? result : 0, start, end);
  errno = error;
  return result;
}

/// read() and write() begin at the position of the descriptor and move it.
template <class Call> ssize_t traced_here(const char* operation, int fd, const Call& call) {
  return traced(operation, fd, true, call, [fd](ssize_t n) {
    return next_lseek(fd, off_t{0}, SEEK_CUR) - std::max<ssize_t>(0, n);
  });
}
template <class Call>
auto traced_at(const char* operation, int fd, bool moves, off_t offset, const Call& call) {
  return traced(operation, fd, moves, call, [offset](auto) { return offset; });
}

template <class Call> off_t traced_seek(int fd, const Call& call) {
  return traced("seek", fd, false, call, [](off_t at) { return at; });
}

/// Make a call that opens `path`; `empties`: it truncates the file.
template <class Call, class Descriptor>
auto traced_open(const char* path, bool empties, const Call& call, const Descriptor& descriptor) {
  const int file = find(path);
  const double start = now();
  const auto result = call();
  const double end = now();
  const int error = errno, fd = descriptor(result);
  set_file_of(fd, file); // also if not traced: the number may have been in use
  if (file >= 0) record("open", file, 0, fd < 0 ? -1 : 0, start, end);
  if (file >= 0 && fd >= 0 && empties) record("truncate", file, 0, 0, end, end);
  errno = error;
  return result;
}
template <class Call> int traced_open(const char* path, int flags, const Call& call) {
  return traced_open(path, (flags & O_TRUNC) != 0, call, [](int fd) { return fd; });
}
template <class Call> FILE* traced_stream(const char* path, const char* mode, const Call& call) {
  return traced_open(path, mode != nullptr && mode[0] == 'w', call,
                     [](FILE* stream) { return stream == nullptr ? -1 : fileno(stream); });
}

/// Make a call on a file that need not be open.
template <class Call>
int traced_path(const char* operation, const char* path, std::int64_t offset, const Call& call) {
  const int file = find(path);
  const double start = now();
  const int result = call();
  if (file >= 0) record(operation, file, offset, result < 0 ? -1 : 0, start, now());
  return result;
}

/// The descriptor is forgotten before it is closed: another thread may get its number at once.
template <class Call> int traced_close(int fd, const Call& call) {
  const int file = set_file_of(fd, -1);
  const double start = now();
  const int result = call();
  if (file >= 0 && recording) record("close", file, 0, result < 0 ? -1 : 0, start, now());
  return result;
}

/// Make a call after which another descriptor is that of the file of `fd`.
template <class Call> int traced_copy(int fd, const Call& call) {
  const int copy = call();
  if (copy >= 0 && copy != fd) set_file_of(copy, file_of(fd));
  return copy;
}

/// The mode of a file to be created is the argument after the flags, if these require it.
mode_t mode_after(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

// --- Rank 0 writes the events of all ranks ---

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

std::string lines_of(int rank) {
  std::string text;
  const State& s = state();
  for (const Event& e : s.events) {
    char numbers[128];
    std::snprintf(numbers, sizeof numbers, ",%lld,%lld,%.9f,%.9f\n",
                  static_cast<long long>(e.offset), static_cast<long long>(e.bytes),
                  e.start - s.zero, e.end - s.zero);
    text += std::to_string(rank) + ',' + e.operation + ',' +
            quoted(s.names[static_cast<std::size_t>(e.file)]) + numbers;
  }
  return text;
}

void begin() {
  PMPI_Barrier(MPI_COMM_WORLD);
  state().zero = now();
  recording = true;
}

/// Collective.
void write_csv() {
  recording = false;
  int rank = 0, size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  long long counts[2] = {static_cast<long long>(state().events.size()), state().dropped};
  PMPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  std::string text = lines_of(rank);
  if (rank > 0) {
    PMPI_Ssend(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    return;
  }
  const char* const path = setting("NUNATAK_TRACE", "t.csv");
  FILE* const out = std::fopen(path, "w");
  const auto write = [&](const std::string& lines) {
    if (out != nullptr) std::fwrite(lines.data(), 1, lines.size(), out);
  };
  write(
      "# calls on files; bytes -1: the call failed; start and end in s since MPI_Init\n# ranks: " +
      std::to_string(size) + ", events: " + std::to_string(counts[0]) +
      ", not kept for lack of memory: " + std::to_string(counts[1]) +
      "\nrank,operation,file,offset,bytes,start,end\n" + text);
  for (int from = 1; from < size; ++from) {
    MPI_Status status;
    int length = 0;
    PMPI_Probe(from, 0, MPI_COMM_WORLD, &status);
    PMPI_Get_count(&status, MPI_CHAR, &length);
    text.resize(static_cast<std::size_t>(length));
    PMPI_Recv(text.data(), length, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    write(text);
  }
  if (out == nullptr || std::ferror(out) != 0 || std::fclose(out) != 0)
    std::fprintf(stderr, "nunatak_trace: error: cannot write '%s': %s\n", path,
                 std::strerror(errno));
}

} // namespace

// Defines a C library function: `traced_call` makes the call, `call`, and records it. _64 also
// defines the name ending in 64. The parameters are named as in the manual.
#define NUNATAK_TRACED(result, name, parameters, arguments, qualifier, traced_call)                \
  result name parameters qualifier {                                                               \
    static Next<result parameters> next{#name};                                                    \
    const auto call = [&] { return next arguments; };                                              \
    return traced_call;                                                                            \
  }
#define NUNATAK_TRACED_64(result, name, parameters, arguments, qualifier, traced_call)             \
  NUNATAK_TRACED(result, name, parameters, arguments, qualifier, traced_call)                      \
  NUNATAK_TRACED(result, name##64, parameters, arguments, qualifier, traced_call)
#define NUNATAK_OPEN(name, parameters, ...)                                                        \
  int name parameters {                                                                            \
    static Next<int parameters> next{#name};                                                       \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    const mode_t mode = mode_after(flags, rest);                                                   \
    va_end(rest);                                                                                  \
    return traced_open(path, flags, [&] { return next(__VA_ARGS__, mode); });                      \
  }

extern "C" {

NUNATAK_OPEN(open, (const char* path, int flags, ...), path, flags)
NUNATAK_OPEN(open64, (const char* path, int flags, ...), path, flags)
NUNATAK_OPEN(openat, (int folder, const char* path, int flags, ...), folder, path, flags)
NUNATAK_OPEN(openat64, (int folder, const char* path, int flags, ...), folder, path, flags)
NUNATAK_TRACED_64(int, creat, (const char* path, mode_t mode), (path, mode), ,
                  traced_open(path, O_TRUNC, call))
NUNATAK_TRACED_64(FILE*, fopen, (const char* path, const char* mode), (path, mode), ,
                  traced_stream(path, mode, call))

NUNATAK_TRACED(ssize_t, read, (int fd, void* data, size_t n), (fd, data, n), ,
               traced_here("read", fd, call))
NUNATAK_TRACED(ssize_t, write, (int fd, const void* data, size_t n), (fd, data, n), ,
               traced_here("write", fd, call))
NUNATAK_TRACED(ssize_t, readv, (int fd, const iovec* parts, int n), (fd, parts, n), ,
               traced_here("read", fd, call))
NUNATAK_TRACED(ssize_t, writev, (int fd, const iovec* parts, int n), (fd, parts, n), ,
               traced_here("write", fd, call))
NUNATAK_TRACED_64(ssize_t, pread, (int fd, void* data, size_t n, off_t offset),
                  (fd, data, n, offset), , traced_at("read", fd, true, offset, call))
NUNATAK_TRACED_64(ssize_t, pwrite, (int fd, const void* data, size_t n, off_t offset),
                  (fd, data, n, offset), , traced_at("write", fd, true, offset, call))
NUNATAK_TRACED_64(ssize_t, preadv, (int fd, const iovec* parts, int n, off_t offset),
                  (fd, parts, n, offset), , traced_at("read", fd, true, offset, call))
NUNATAK_TRACED_64(ssize_t, pwritev, (int fd, const iovec* parts, int n, off_t offset),
                  (fd, parts, n, offset), , traced_at("write", fd, true, offset, call))

/// The kernel moves the bytes; both offsets have advanced afterwards.
ssize_t copy_file_range(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t n,
                        unsigned int flags) {
  static Next<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned int)> next{"copy_file_range"};
  const auto begin_of = [](int fd, const off64_t* offset, ssize_t moved) {
    return (offset != nullptr ? *offset : next_lseek(fd, off_t{0}, SEEK_CUR)) -
           std::max<ssize_t>(0, moved);
  };
  const auto copy = [&] { return next(in, in_offset, out, out_offset, n, flags); };
  const auto read_and_write = [&] {
    return traced("read", in, true, copy,
                  [&](ssize_t moved) { return begin_of(in, in_offset, moved); });
  };
  return traced("write", out, true, read_and_write,
                [&](ssize_t moved) { return begin_of(out, out_offset, moved); });
}

NUNATAK_TRACED_64(off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence), noexcept,
                  traced_seek(fd, call))
NUNATAK_TRACED_64(int, ftruncate, (int fd, off_t length), (fd, length), noexcept,
                  traced_at("truncate", fd, false, length, call))
NUNATAK_TRACED_64(int, truncate, (const char* path, off_t length), (path, length), noexcept,
                  traced_path("truncate", path, length, call))
NUNATAK_TRACED(int, dup, (int fd), (fd), noexcept, traced_copy(fd, call))
NUNATAK_TRACED(int, dup2, (int fd, int copy), (fd, copy), noexcept, traced_copy(fd, call))
NUNATAK_TRACED(int, dup3, (int fd, int copy, int flags), (fd, copy, flags), noexcept,
               traced_copy(fd, call))
NUNATAK_TRACED(int, fsync, (int fd), (fd), , traced_at("sync", fd, false, 0, call))
NUNATAK_TRACED(int, fdatasync, (int fd), (fd), , traced_at("sync", fd, false, 0, call))
NUNATAK_TRACED(int, sync_file_range, (int fd, off64_t offset, off64_t n, unsigned int flags),
               (fd, offset, n, flags), , traced_at("sync", fd, false, offset, call))
NUNATAK_TRACED(int, close, (int fd), (fd), , traced_close(fd, call))
NUNATAK_TRACED(int, fclose, (FILE * stream), (stream), , traced_close(fileno(stream), call))

int MPI_Init(int* argc, char*** argv) {
  const int status = PMPI_Init(argc, argv);
  begin();
  return status;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int status = PMPI_Init_thread(argc, argv, required, provided);
  begin();
  return status;
}
int MPI_Finalize() {
  write_csv();
  return PMPI_Finalize();
}
}
