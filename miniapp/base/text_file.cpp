#include "miniapp/base/text_file.hpp"

#include "miniapp/base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace nunatak {

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error("file '" + path + "': cannot be written: " + std::strerror(error));
}

/// Returns 0, or the errno of the failed call; close() may be the first to report a full disk.
int write_all(int fd, const std::string& text) {
  int error = 0;
  for (std::size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n >= 0) done += static_cast<std::size_t>(n);
    if (n < 0 && errno != EINTR) error = errno;
  }
  if (::close(fd) != 0 && error == 0 && errno != EINTR) error = errno;
  return error;
}

} // namespace

void write_text_file(const std::string& path, const std::string& text) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const bool through_temporary = !exists || S_ISREG(status.st_mode);
  const std::string written = through_temporary ? path + ".tmp" : path;
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC | O_NONBLOCK;
  if (through_temporary) { // a new file: it replaces links of that name instead of following them
    ::unlink(written.c_str());
    flags |= O_EXCL | O_NOFOLLOW;
  }
  const int fd = ::open(written.c_str(), flags, 0666);
  if (fd < 0) fail(path, errno); // ENXIO: a pipe that no process reads
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  const int error = write_all(fd, text);
  if (error != 0 && through_temporary) ::unlink(written.c_str());
  if (error != 0) fail(path, error);
  if (through_temporary && std::rename(written.c_str(), path.c_str()) != 0) fail(path, errno);
}

} // namespace nunatak
