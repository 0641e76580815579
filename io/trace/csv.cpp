// Lines of a trace, written and read. See trace/csv.hpp.
#include "io/trace/csv.hpp"

#include "io/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

namespace nunatak::io {

const char* const trace_header = "rank,operation,file,offset,bytes,start,end";

namespace {

constexpr std::int64_t most_bytes = 0x7ffff000; // of one read or write on Linux

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + '"';
}

/// Reads a CSV, knows the line it is in.
class Lines {
public:
  explicit Lines(const std::string& path) : m_path(path), m_in(path) {
    if (!m_in)
      throw Error("trace '" + path +
                  "': expected to read the file; found: " + std::strerror(errno));
  }

  /// The fields of the next line that is not a comment; false at the end. A quoted field may go on
  /// in the next line.
  bool next(std::vector<std::string>& fields) {
    std::string line;
    do {
      if (!std::getline(m_in, line)) return false;
      m_line += 1;
    } while (line.empty() || line[0] == '#');
    fields.assign(1, "");
    bool is_quoted = false;
    for (std::size_t c = 0;; ++c) {
      if (c == line.size()) {
        std::string more;
        if (!is_quoted) return true;
        if (!std::getline(m_in, more)) fail("a closing quote", "the end of the file");
        m_line += 1;
        line += "\n" + more;
      }
      if (line[c] == '"' && is_quoted && c + 1 < line.size() && line[c + 1] == '"') {
        fields.back() += line[c++];
      } else if (line[c] == '"') {
        is_quoted = !is_quoted;
      } else if (line[c] == ',' && !is_quoted) {
        fields.emplace_back();
      } else {
        fields.back() += line[c];
      }
    }
  }

  [[noreturn]] void fail(const std::string& expected, const std::string& found) const {
    throw Error("trace '" + m_path + "', line " + std::to_string(m_line) + ": expected " +
                expected + ", found " + found);
  }

  std::int64_t integer(const std::string& text, const char* what, std::int64_t least,
                       std::int64_t most) const {
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || value < least || value > most) {
      fail(std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(most),
           "'" + text + "'");
    }
    return value;
  }

  double seconds(const std::string& text, const char* what) const {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value))
      fail(std::string(what) + " in seconds", "'" + text + "'");
    return value;
  }

private:
  std::string m_path;
  std::ifstream m_in;
  std::int64_t m_line = 0;
};

} // namespace

void append_line(std::string& text, const TraceEvent& event, const std::string& name, double zero) {
  char numbers[128];
  text += std::to_string(event.rank) + ',' +
          trace_operation_names[static_cast<std::size_t>(event.operation)] + ',' + quoted(name);
  std::snprintf(numbers, sizeof numbers, ",%lld,%lld,%.9f,%.9f\n",
                static_cast<long long>(event.offset), static_cast<long long>(event.bytes),
                event.start - zero, event.end - zero);
  text += numbers;
}

TraceTable read_trace(const std::string& csv) {
  TraceTable table;
  std::map<std::string, std::int32_t> numbers;
  Lines lines(csv);
  std::vector<std::string> fields;
  std::string header;
  if (lines.next(fields)) {
    for (const auto& field : fields) header += (header.empty() ? "" : ",") + field;
  }
  if (header != trace_header) lines.fail(std::string("'") + trace_header + "'", "'" + header + "'");
  while (lines.next(fields)) {
    if (fields.size() != 7) lines.fail("7 fields", std::to_string(fields.size()));
    TraceEvent event;
    event.rank = static_cast<std::int32_t>(lines.integer(fields[0], "a rank", 0, (1 << 30) - 1));
    std::size_t operation = 0;
    while (operation < trace_operation_names.size() &&
           fields[1] != trace_operation_names[operation])
      ++operation;
    if (operation == trace_operation_names.size()) {
      lines.fail("an operation (open, read, write, seek, sync, truncate, close)",
                 "'" + fields[1] + "'");
    }
    event.operation = static_cast<TraceOperation>(operation);
    if (fields[2].empty()) lines.fail("the name of a file", "none");
    event.file =
        numbers.emplace(fields[2], static_cast<std::int32_t>(table.files.size())).first->second;
    if (static_cast<std::size_t>(event.file) == table.files.size())
      table.files.push_back(fields[2]);
    event.offset = lines.integer(fields[3], "an offset", 0, INT64_MAX - most_bytes);
    event.bytes = lines.integer(fields[4], "bytes", -1, most_bytes);
    event.start = lines.seconds(fields[5], "a start");
    event.end = lines.seconds(fields[6], "an end");
    if (event.end < event.start) lines.fail("an end not before the start " + fields[5], fields[6]);
    table.ranks = std::max(table.ranks, event.rank + 1);
    table.events.push_back(event);
  }
  return table;
}

} // namespace nunatak::io
