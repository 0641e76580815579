// The CSV of a trace: what a line means, writing lines, reading a file. Neighbours: trace.hpp
// (records), replay.hpp (replays).
//
//   # comments; then
//   rank,operation,file,offset,bytes,start,end
//   0,write,ex.nc.tmp,8192,4096,0.001234567,0.001250000
//
//   operation   offset (byte of the file)             bytes
//   open        0                                     0
//   read        where it began                        read
//   write       where it began                        written
//   seek        where it led to                       0
//   sync        0, or that of sync_file_range         0          fsync, fdatasync, sync_file_range
//   truncate    the new length                        0          also an open that empties the file
//   (O_TRUNC) close       0                                     0
//
// bytes is -1 if the call failed. Times are seconds since the ranks began to record together.
// copy_file_range is a read of one file and a write of the other. A name with a comma, a quote or a
// line break stands in quotes, quotes in it doubled.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::io {

enum class TraceOperation : std::int8_t { open, read, write, seek, sync, truncate, close };
constexpr std::array<const char*, 7> trace_operation_names = {"open", "read",     "write", "seek",
                                                              "sync", "truncate", "close"};

struct TraceEvent {
  double start = 0.0, end = 0.0; ///< s
  std::int64_t offset = 0, bytes = 0;
  std::int32_t file = 0, rank = 0; ///< `file` counts in a list of names
  TraceOperation operation = TraceOperation::open;
};

struct TraceTable {
  std::vector<std::string> files;
  std::vector<TraceEvent> events; ///< in the order of the file
  std::int32_t ranks = 0;         ///< the highest rank and one
};

extern const char* const trace_header; ///< the line before the first event

/// Append the line of an event of the file `name` to `text`; `zero` is subtracted from its times.
void append_line(std::string& text, const TraceEvent& event, const std::string& name, double zero);

/// Local. Error with the number of the line, what was expected and what was found.
TraceTable read_trace(const std::string& csv);

} // namespace nunatak::io
