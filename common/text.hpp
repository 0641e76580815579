// Words, numbers and durations in text; text from files and users that is printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nunatak {

constexpr int largest_int = std::numeric_limits<int>::max();

bool ends_with(const std::string& text, const std::string& end);
/// At least one item; items may be empty.
std::vector<std::string> split(const std::string& text, char separator);
/// "a, b, c"
std::string joined(const std::vector<std::string>& items, const char* separator = ", ");

/// The one of `known` with the smallest edit distance to `name`, for "did you mean"; "" if each
/// needs more than two edits and more than a third of the characters.
std::string nearest_name(const std::string& name, const std::vector<std::string>& known);

/// JSON can hold only text that is UTF-8.
bool is_utf8(const std::string& text);
/// Control characters as \x1b, for a terminal obeys them; at most `most` bytes.
std::string printable(const std::string& text, std::size_t most = 200);

/// True for yes, true, on, 1; false for no, false, off, 0, in any case. Error naming `what` for any
/// other value, here and below.
bool parse_switch(const std::string& word, const std::string& what);
/// A whole number from `min` to `max`.
std::int64_t whole_number(const std::string& text, std::int64_t min, std::int64_t max,
                          const std::string& what);
/// Seconds from "3h50m" or "1.5 h" (d, h, m or min, s, also as words), or Slurm's forms "50:00",
/// "3:50:00", "1-12", "1-12:30"; a number alone counts `unit` seconds.
double parse_duration(const std::string& text, double unit, const std::string& what);

} // namespace nunatak
