#include "io/trace/shield.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

thread_local Shield* current = nullptr;

} // namespace

Shield::Shield() noexcept : m_outer(current) { current = this; }
Shield::~Shield() { current = m_outer; }

std::string Shield::error() const {
  if (m_error == 0) return "";
  const std::string what =
      m_bytes < 0 ? "bring it to the disk" : "write " + std::to_string(m_bytes) + " bytes";
  return "expected to " + what + "; found: " + std::strerror(m_error);
}

bool Shield::covers(int fd) noexcept {
  if (current == nullptr || fd <= STDERR_FILENO) return false;
  const int error = errno;
  struct stat status {};
  const bool is_regular =
      ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode); // sockets of MPI are not
  errno = error;
  return is_regular;
}

void Shield::take(long long bytes) noexcept {
  if (current->m_error == 0) current->m_error = errno, current->m_bytes = bytes;
}

} // namespace nunatak::io
