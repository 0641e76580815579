#include "io/durable/durable.hpp"

#include "io/error.hpp"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("file '" + path + "': " + what + "; found: " + std::strerror(errno));
}

[[noreturn]] void fail_for_space(const std::string& path, std::uint64_t bytes,
                                 const std::string& found) {
  throw Error("file '" + path + "': expected room for " + std::to_string(bytes) +
              " bytes; found: " + found);
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

} // namespace

Descriptor::Descriptor(const std::string& path, int flags, const std::string& what)
    : m_fd(retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); })) {
  if (m_fd < 0) fail(path, what);
}

Descriptor::~Descriptor() { ::close(m_fd); }

void create_anew(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail(path, "expected to replace it");
  const Descriptor created(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, "expected to create it");
}

void write_all(int fd, const std::string& path, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = retried([&] { return ::write(fd, data, size); });
    if (n < 0) fail(path, "expected to write " + std::to_string(size) + " bytes");
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void fsync_path(const std::string& path, const DiskCaller& call_disk) {
  const Descriptor fd(path, O_RDONLY, "expected to open it for fsync");
  struct stat now {};
  if (::fstat(fd, &now) != 0) fail(path, "fsync");
  call_disk(static_cast<std::size_t>(now.st_size), [&] {
    if (retried([&] { return ::fsync(fd); }) != 0) fail(path, "fsync");
  });
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
  if (std::rename(from.c_str(), to.c_str()) != 0)
    fail(to, "expected to rename '" + from + "' to it");
}

void reserve_space(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return;
  const int status = retried([&] {
    return ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                       static_cast<off_t>(end - begin));
  });
  if (status == 0) return;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL && errno != ENODEV)
    fail_for_space(path, end, std::strerror(errno));
  compare_with_free_space(path, end, static_cast<std::uint64_t>(now.st_blocks) * 512);
}

void release_space(const std::string& path) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || retried([&] { return ::ftruncate(fd, now.st_size); }) != 0)
    fail(path, "expected to end it at its length");
}

std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return std::string(": ") + std::strerror(error);
  std::error_code unknown;
  const auto space = std::filesystem::space(path, unknown);
  if (unknown || space.available >= static_cast<std::uintmax_t>(bytes)) return "";
  return ": no space left on device: expected room for " + std::to_string(bytes) +
         " bytes, found " + std::to_string(space.available);
}

} // namespace nunatak::io
