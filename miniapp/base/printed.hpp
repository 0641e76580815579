// Text formatted as by printf.
#pragma once

#include <cstdarg>
#include <cstdio>
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

} // namespace nunatak
