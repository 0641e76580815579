// What a tool reports: one record per run, as a table for people, as JSON and as CSV.
#pragma once

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Names and values in the order in which they are written; null where there is no value.
using Record = nlohmann::ordered_json;

struct Column {
  std::string key, title;
  double scale = 1.0; ///< of numbers that are no counts: 1e6 shows seconds in us
};

/// A table of some columns. Columns that are null in all records are left out.
void print_table(std::ostream& out, const std::vector<Record>& records,
                 const std::vector<Column>& columns);

/// Written by rank 0; an empty path is fine. Collective; throws Error on all ranks.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

/// One line per record under a line of names. `append`: goes on in a file that has these names; the
/// Error says which it has.
void write_csv(const std::string& path, const std::vector<Record>& records, bool append);

} // namespace nunatak::tools
