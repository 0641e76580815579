// The report of nunatak-io: spread over repetitions, fraction of raw bandwidth, phases and counts,
// in bytes and seconds.
#pragma once

#include "miniapp/tools/io/bench_options.hpp"
#include "miniapp/tools/io/turn.hpp"
#include "miniapp/tools/records.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace nunatak::tools {

/// {"median", "q1", "q3", "min", "max", "all"}; quartiles by linear interpolation.
Record spread_of_turns(const std::vector<double>& values);

/// Measurements of one method, without the warm-up.
struct WayResults {
  NamedWay named;
  std::vector<WriteTurn> writes;
  std::vector<std::int64_t> file_bytes;               ///< per repetition
  std::map<std::string, std::vector<ReadTurn>> reads; ///< by reading method
  std::vector<double> joins;                          ///< seconds; for subfiles that are read
  std::int64_t verified = 0;                          ///< number of values compared and correct
  std::map<std::string, std::string> not_read;        ///< reason, by reading method
};

/// The record of one method, with the raw write baseline of the same repetitions.
Record way_record(const WayResults& way, const std::vector<double>& probe_seconds);

/// Prints tables of way_record() results: times, phases, counts, reads.
void print_ways(std::ostream& out, const std::vector<Record>& ways, const Record& probe);

} // namespace nunatak::tools
