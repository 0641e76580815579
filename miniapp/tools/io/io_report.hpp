// The report of nunatak-io: spread, fraction of raw bandwidth, phases, counts.
#pragma once

#include "miniapp/tools/io/repetition.hpp"
#include "miniapp/tools/records.hpp"

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace nunatak::tools {

/// {"median", "q1", "q3", "min", "max", "all"}; quartiles by linear interpolation.
Record spread_of(const std::vector<double>& values);

/// Measurements of one method, without the warm-up.
struct MethodResults {
  OutputMethod method;
  std::vector<Writing> writings;
  std::int64_t file_bytes = 0;                          ///< of the last repetition
  std::map<std::string, std::vector<Reading>> readings; ///< by method of reading
  std::vector<double> joins;                            ///< seconds; for subfiles that are read
  std::int64_t verified = 0;                            ///< number of values compared and correct
  std::map<std::string, std::string> not_read;          ///< reason, by method of reading
  double least = 0.0; ///< least_seconds() of its plan; 0: not known
};

/// The record of one method, with the raw write baseline of the same repetitions.
Record record_of(const MethodResults& results, const std::vector<double>& raw_seconds);

/// Prints tables of record_of() results: times, phases, counts, reads.
void print_methods(std::ostream& out, const std::vector<Record>& methods, const Record& raw);

} // namespace nunatak::tools
