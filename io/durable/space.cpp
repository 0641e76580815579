// See space.hpp.
#include "io/durable/space.hpp"

#include "io/durable/descriptor.hpp"
#include "io/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

[[noreturn]] void fail(const std::string& path, std::uint64_t bytes, const std::string& found) {
  throw Error("file '" + path + "': expected room for " + std::to_string(bytes) + " bytes; found: " + found);
}

/// What the file system says is free; it may be gone when it is needed.
void look_for_space(const std::string& path, std::uint64_t end, std::uint64_t allocated) {
  std::error_code no_answer;
  const auto space = std::filesystem::space(path, no_answer);
  if (no_answer || allocated + space.available >= end) return;
  fail(path, end, std::string(std::strerror(ENOSPC)) + " (" + std::to_string(allocated + space.available) + ")");
}

} // namespace

void reserve_space(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return;
  const auto allocated = static_cast<std::uint64_t>(now.st_blocks) * 512;
  int status = 0;
  do {
    status = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  } while (status != 0 && errno == EINTR);
  if (status == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ENODEV) return look_for_space(path, end, allocated);
  fail(path, end, std::strerror(errno));
}

void release_space(const std::string& path) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || ::ftruncate(fd, now.st_size) != 0)
    throw Error("file '" + path + "': expected to end it at its length; found: " + std::strerror(errno));
}

} // namespace nunatak::io
