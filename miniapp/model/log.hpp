// Progress lines on standard output, printed by rank 0.
#pragma once

#include "io/base/signals.hpp"

#include <iostream>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace nunatak {

class Log {
public:
  Log(int rank, bool on) : m_on(rank == 0 && on) {}

  /// Waits while standard output takes nothing, as a pipe that is not read. After a signal that
  /// asks the run to end the line is lost instead: mpiexec reads no more once it has got SIGTERM,
  /// and the state is still to be written.
  void line(const std::string& text) const {
    if (!m_on) return;
    constexpr int look = 200; // ms
    pollfd out{STDOUT_FILENO, POLLOUT, 0};
    while (poll(&out, 1, look) < 1) {
      if (io::asked_to_end() != io::Request::none) return;
    }
    std::cout << text << std::endl;
  }

private:
  bool m_on;
};

} // namespace nunatak
