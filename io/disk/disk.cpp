#include "io/disk/disk.hpp"

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"
#include "io/base/watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("file '" + path + "': " + what + ": " + std::strerror(errno));
}

[[noreturn]] void fail_for_space(const std::string& path, std::uint64_t bytes,
                                 const std::string& found) {
  throw Error("file '" + path + "': no room for " + std::to_string(bytes) + " bytes: " + found);
}

/// The limit of this process (ulimit -f).
std::uintmax_t file_limit() {
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? limit.rlim_cur : std::numeric_limits<std::uintmax_t>::max();
}
std::string too_large() {
  return std::string(std::strerror(EFBIG)) + " (ulimit -f: " + std::to_string(file_limit()) +
         " bytes)";
}

/// Checks the free space reported by the file system; another program may take it before the write.
void compare_with_free_space(const std::string& path, std::uint64_t end, std::uint64_t allocated) {
  std::error_code unknown;
  const auto space = std::filesystem::space(path, unknown);
  if (unknown || allocated + space.available >= end) return;
  fail_for_space(path, end,
                 std::string(std::strerror(ENOSPC)) + " (" +
                     std::to_string(allocated + space.available) + ")");
}

/// The open file is still the one of that name.
bool is_at(int fd, const std::string& name) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace

Descriptor::Descriptor(const std::string& path, int flags, const std::string& what)
    : m_path(path), m_fd(retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); })) {
  if (m_fd < 0) fail(path, what);
}

Descriptor::~Descriptor() { ::close(m_fd); }

void create_anew(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "cannot replace it");
  const Descriptor created(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, "cannot create it");
}

void write_all(int fd, const std::string& path, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = retried([&] { return ::write(fd, data, size); });
    if (n < 0) fail(path, "cannot write " + std::to_string(size) + " bytes");
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void fsync_file(const Descriptor& file, const DiskCaller& call_disk) {
  struct stat now {};
  if (::fstat(file, &now) != 0) fail(file.path(), "fsync failed");
  // in pieces, each of which is progress: memory may hold more than a slow disk takes in
  // -io_patience
  constexpr off_t piece = 256 << 20;
  constexpr unsigned written =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  for (off_t begin = 0; begin + piece < now.st_size; begin += piece) {
    call_disk(piece, [&] {
      if (retried([&] { return ::sync_file_range(file, begin, piece, written); }) == 0) return;
      // its errors are those of earlier writes, which fsync would not say again
      if (errno != ENOSYS && errno != EINVAL && errno != ESPIPE)
        fail(file.path(), "cannot write what was put into it");
    });
    Watchdog::of_process().advance();
  }
  call_disk(static_cast<std::size_t>(now.st_size), [&] {
    if (retried([&] { return ::fsync(file); }) != 0) fail(file.path(), "fsync failed");
  });
}

void fsync_path(const std::string& path, const DiskCaller& call_disk) {
  fsync_file(Descriptor(path, O_RDONLY, "cannot open it for fsync"), call_disk);
}

void fsync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  fsync_path(folder.empty() ? "." : folder);
}

void start_writeback(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return; // only advice: fsync does the rest
  ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  ::close(fd);
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail(to, "cannot rename '" + from + "' to it");
}

const char* change_of(const Descriptor& file, const std::string& name, std::uint64_t size) {
  struct stat now {};
  if (!is_at(file, name)) return ::lstat(name.c_str(), &now) == 0 ? "replaced" : "removed";
  const bool is_short = ::fstat(file, &now) == 0 && static_cast<std::uint64_t>(now.st_size) < size;
  return is_short ? "truncated" : "";
}

void reserve_space(const Descriptor& file, std::uint64_t begin, std::uint64_t end) {
  const std::string& path = file.path();
  struct stat now {};
  if (::fstat(file, &now) != 0 || !S_ISREG(now.st_mode)) return;
  if (end > file_limit()) fail_for_space(path, end, too_large());
  const int status = retried([&] {
    return ::fallocate(file, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                       static_cast<off_t>(end - begin));
  });
  if (status == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL && errno != ENODEV)
    fail_for_space(path, end, std::strerror(errno));
  compare_with_free_space(path, end, static_cast<std::uint64_t>(now.st_blocks) * 512);
}

void release_space(const Descriptor& file) {
  struct stat now {};
  if (::fstat(file, &now) != 0 || retried([&] { return ::ftruncate(file, now.st_size); }) != 0)
    fail(file.path(), "cannot release the space behind its end");
}

std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return std::string(": ") + std::strerror(error);
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown && size + static_cast<std::uintmax_t>(bytes) >= file_limit())
    return ": " + too_large();
  const auto space = std::filesystem::space(path, unknown);
  if (unknown || space.available >= static_cast<std::uintmax_t>(bytes)) return "";
  return ": no space left on device: expected room for " + std::to_string(bytes) +
         " bytes, found " + std::to_string(space.available);
}

namespace {

std::string this_process() {
  char host[256] = "";
  char since[32] = "";
  ::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::string job;
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && job.empty()) job = std::string(", job ") + value;
  }
  return "process " + std::to_string(::getpid()) + " on host " + host + job + ", since " + since;
}

enum class Taken { yes, by_other, no_locks };

/// The text of the lock file; the holder may not have written it yet.
std::string holder_in(int fd) {
  char text[512];
  const ssize_t n = ::pread(fd, text, sizeof text, 0);
  const std::string all(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  return all.empty() ? "unknown" : printable(all.substr(0, all.find('\n')));
}

Taken lock_by(int command, int fd, const std::string& name) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (retried([&] { return ::fcntl(fd, command, &whole); }) == 0) return Taken::yes;
  if (errno == EAGAIN || errno == EACCES) return Taken::by_other;
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
    return Taken::no_locks;
  fail(name, "cannot lock it");
}

void warn_once(const std::string& name) {
  static bool is_first = true;
  if (is_first)
    std::fprintf(stderr,
                 "warning: file '%s': its file system has no locks; two runs that write one name "
                 "are not told apart\n",
                 name.c_str());
  is_first = false;
}

} // namespace

void wait_for_lock(int fd, const std::string& name) { lock_by(F_OFD_SETLKW, fd, name); }

Lock::Lock(const std::string& path) : m_path(path), m_name(path + lock_suffix) {
  constexpr int most_tries = 100; // each fails only if a holder removes the file just then
  for (int n = 0; n < most_tries; ++n) {
    m_file.reset();
    m_file = std::make_unique<Descriptor>(m_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK,
                                          "cannot create it");
    struct stat now {};
    if (::fstat(*m_file, &now) != 0 || !S_ISREG(now.st_mode))
      throw Error("file '" + m_name + "': expected a regular file, found something else");
    const Taken taken = lock_by(F_OFD_SETLK, *m_file, m_name);
    if (taken == Taken::by_other) {
      throw Error("file '" + path + "': another program writes it: " + holder_in(*m_file) + " ('" +
                  m_name + "')");
    }
    if (taken == Taken::no_locks) warn_once(m_name);
    if (!is_at(*m_file, m_name)) continue;
    if (::fstat(*m_file, &now) == 0 && now.st_nlink > 1) {
      ::unlink(m_name.c_str()); // as in a copy by cp -al: its text would change both
      continue;
    }
    const std::string text = this_process() + "\n";
    const bool is_written =
        ::ftruncate(*m_file, 0) == 0 && ::pwrite(*m_file, text.data(), text.size(), 0) > 0;
    static_cast<void>(is_written); // the text is only for messages
    return;
  }
  throw Error("file '" + path + "': cannot lock it: '" + m_name + "' was removed again and again");
}

void Lock::require_held() const {
  if (!is_at(*m_file, m_name))
    throw Error("file '" + m_path + "': its lock '" + m_name +
                "' was removed while this run writes it, so that another run may write it, too");
}

Lock::~Lock() {
  if (is_at(*m_file, m_name)) ::unlink(m_name.c_str());
}

} // namespace nunatak::io
