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
  std::FILE* const file = ::fdopen(fd, "w");
  if (file == nullptr) fail(path, errno);
  int error = std::fwrite(text.data(), 1, text.size(), file) == text.size() ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) error = errno; // the first to report a full disk
  if (error != 0 && through_temporary) ::unlink(written.c_str());
  if (error != 0) fail(path, error);
  if (through_temporary && std::rename(written.c_str(), path.c_str()) != 0) fail(path, errno);
}

} // namespace nunatak
