// A file descriptor that closes itself. Used in io/durable.
#pragma once

#include "io/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace nunatak::io {

class Descriptor {
public:
  /// Error "file ...: what; found: ..." if it cannot be opened.
  Descriptor(const std::string& path, int flags, const std::string& what)
      : m_fd(::open(path.c_str(), flags, 0666)) {
    if (m_fd < 0) throw Error("file '" + path + "': " + what + "; found: " + std::strerror(errno));
  }
  ~Descriptor() { ::close(m_fd); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return m_fd; }

private:
  int m_fd;
};

} // namespace nunatak::io
