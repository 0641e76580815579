// Reports of the tools: one record per run, as a text table and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace nunatak {

/// Names and values in the order of output; null for a missing value.
using Record = nlohmann::ordered_json;

/// By linear interpolation between values, which are sorted.
double quantile(const std::vector<double>& sorted, double fraction);
double median(std::vector<double> values);

/// Prints `columns`, without those that are null in all records: a list of keys, with the factor of
/// their floating-point values and the title where these are not 1 and the key:
/// "ranks, px: P, wall_s*1e3: wall ms".
void print_table(std::ostream& out, const std::vector<Record>& records, const std::string& columns);

/// Rank 0 writes; an empty path is accepted. Collective; throws Error on all ranks.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

} // namespace nunatak
