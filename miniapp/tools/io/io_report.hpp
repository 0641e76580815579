// What nunatak-io reports: per method the spread over repetitions, the fraction of the probe,
// phases and counts. Bytes and seconds. Filled by nunatak_io.cpp; tables by records.hpp.
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

/// All that was measured of one way; the turns that count.
struct WayResults {
  NamedWay named;
  std::vector<WriteTurn> writes;
  std::vector<std::int64_t> file_bytes;               ///< by turn
  std::map<std::string, std::vector<ReadTurn>> reads; ///< by way of reading
  std::vector<double> joins;                          ///< seconds; of subfiles that are read
  std::int64_t verified = 0;                          ///< values compared, all right
  std::map<std::string, std::string> not_read;        ///< the reason, by way of reading
};

/// Of one method, with the probe of the same repetitions.
Record way_record(const WayResults& way, const std::vector<double>& probe_seconds);

/// Tables of what way_record() gave: times, phases, counts, reads.
void print_ways(std::ostream& out, const std::vector<Record>& ways, const Record& probe);

} // namespace nunatak::tools
