// Parsing of option values: lists like "a:b:c" and "2x2,8x8", whole numbers, suffixes.
#pragma once

#include "miniapp/base/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak {

/// Returns at least one item; items may be empty.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words{""};
  for (const char c : text) {
    if (c == separator) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// A whole number from `min` to `max`. Throws Error naming `what`.
inline std::int64_t whole_number(const std::string& word, std::int64_t min, std::int64_t max,
                                 const std::string& what) {
  std::int64_t number = 0;
  std::size_t used = 0;
  try {
    number = std::stoll(word, &used);
  } catch (const std::logic_error&) { // not a number, or beyond 64 bits
    used = 0;
  }
  if (used == 0 || used != word.size() || number < min || number > max) {
    throw Error(what + ": expected a whole number from " + std::to_string(min) + " to " +
                std::to_string(max) + ", found '" + word + "'");
  }
  return number;
}

} // namespace nunatak
