// Progress lines on standard output, printed by rank 0, and text formatted as by printf.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <iostream>
#include <string>

namespace nunatak {

/// At most 255 characters.
[[gnu::format(printf, 1, 2)]] inline std::string printed(const char* format, ...) {
  char text[256];
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

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
