// Progress lines on standard output, printed by rank 0.
#pragma once

#include <iostream>
#include <string>

namespace nunatak {

class Log {
public:
  Log(int rank, bool on) : m_on(rank == 0 && on) {}
  void line(const std::string& text) const {
    if (m_on) std::cout << text << std::endl;
  }

private:
  bool m_on;
};

} // namespace nunatak
