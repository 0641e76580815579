#include "io/durable/lock.hpp"

#include "io/durable/durable.hpp"
#include "io/durable/manifest.hpp"
#include "io/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

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
  return all.empty() ? "another one" : printable(all.substr(0, all.find('\n')));
}

Taken lock_by(int command, int fd, const std::string& name) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (retried([&] { return ::fcntl(fd, command, &whole); }) == 0) return Taken::yes;
  if (errno == EAGAIN || errno == EACCES) return Taken::by_other;
  if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL)
    return Taken::no_locks;
  throw Error("file '" + name + "': expected to lock it; found: " + std::strerror(errno));
}

bool has_other_names(int fd) {
  struct stat now {};
  return ::fstat(fd, &now) == 0 && now.st_nlink > 1;
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

/// The open file is still the one of that name.
bool is_at(int fd, const std::string& name) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace

void wait_for_lock(int fd, const std::string& name) { lock_by(F_OFD_SETLKW, fd, name); }

Lock::Lock(const std::string& path) : m_name(path + ".lock") {
  constexpr int most_tries = 100; // each fails only if a holder removes the file just then
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  for (int n = 0; n < most_tries; ++n) {
    m_fd = retried([&] { return ::open(m_name.c_str(), flags, 0666); });
    if (m_fd < 0)
      throw Error("file '" + m_name + "': expected to create it; found: " + std::strerror(errno));
    try {
      struct stat now {};
      if (::fstat(m_fd, &now) != 0 || !S_ISREG(now.st_mode))
        throw Error("file '" + m_name + "': expected a regular file, found something else");
      const Taken taken = lock_by(F_OFD_SETLK, m_fd, m_name);
      if (taken == Taken::by_other) {
        throw Error("file '" + path + "': expected to be its only writer, found " +
                    holder_in(m_fd) + " ('" + m_name + "')");
      }
      if (taken == Taken::no_locks) warn_once(m_name);
    } catch (...) {
      ::close(m_fd);
      throw;
    }
    const bool is_mine = is_at(m_fd, m_name);
    if (is_mine && has_other_names(m_fd)) { // as in a copy by cp -al: its text would change both
      ::unlink(m_name.c_str());
    } else if (is_mine) {
      const std::string text = this_process() + "\n";
      const bool is_written =
          ::ftruncate(m_fd, 0) == 0 && ::pwrite(m_fd, text.data(), text.size(), 0) > 0;
      static_cast<void>(is_written); // the text is only for messages
      return;
    }
    ::close(m_fd);
  }
  throw Error("file '" + path + "': expected to lock it, found '" + m_name +
              "' removed again and again");
}

Lock::~Lock() {
  if (is_at(m_fd, m_name)) ::unlink(m_name.c_str());
  ::close(m_fd);
}

} // namespace nunatak::io
