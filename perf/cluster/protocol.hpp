// The protocol of the emulated parallel file system (striped_fs.cpp, storage_server.cpp): requests
// and replies of this size, in order, over TCP. Data follow a write request, or the reply to a
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/socket.h>

namespace cluster {

enum class Operation : std::uint32_t { write, read, sync, metadata };

struct Request {
  Operation operation;
  std::uint32_t size; ///< bytes
  std::uint64_t file, offset;
};
struct Reply {
  Operation operation;
  std::uint32_t size;
};

constexpr int port = 7000;
constexpr std::size_t buffer_size = 1 << 20;

/// Returns false if the peer has closed the connection.
inline bool send_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::send(fd, at, size, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}
inline bool receive_all(int fd, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::recv(fd, at, size, 0);
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

} // namespace cluster
