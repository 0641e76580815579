// Reports of the tools: one record per run, as a text table and JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Names and values in the order of output; null for a missing value.
using Record = nlohmann::ordered_json;

struct Column {
  std::string key, title;
  double scale = 1.0; ///< of floating-point values: 1e6 shows seconds in us
};

/// Prints the given columns, without those that are null in all records.
void print_table(std::ostream& out, const std::vector<Record>& records,
                 const std::vector<Column>& columns);

/// Rank 0 writes; an empty path is accepted. Collective; throws Error on all ranks.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

} // namespace nunatak::tools
