// The protocol of the emulated parallel file system (striped_fs.cpp, storage_server.cpp): requests
// and replies of this size, in order, over TCP. Data follow a write request, or the reply to a
// read. Locks have a connection of their own (extent_locks.hpp), on which both sides send at any
// time.
#pragma once

#include "extent_locks.hpp"

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

enum class LockWord : std::uint32_t { ask, cancel, grant, call_back }; // client, client, server...

struct LockMessage {
  LockWord word;
  Mode mode;
  std::uint64_t file, number;
  Extent extent; ///< asked for, or granted
};

constexpr int port = 7000, lock_port = 7001;
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
