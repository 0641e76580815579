// Tables of what exists, a row with `name` and `doc` for each: the words of an option, its help,
// and the row of a name.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

/// "sweep|bfs|...".
template <class Row>
std::string names_of(const std::vector<Row>& rows, const std::string& separator = "|") {
  std::string names;
  for (const Row& row : rows) names += (names.empty() ? "" : separator) + row.name;
  return names;
}

/// For -help: "sweep: ...; bfs: ...".
template <class Row> std::string docs_of(const std::vector<Row>& rows) {
  std::string docs;
  for (const Row& row : rows) docs += (docs.empty() ? "" : "; ") + row.name + ": " + row.doc;
  return docs;
}

/// Throws invalid_argument, which says what the rows are (`what`), if there is no such name.
template <class Row>
const Row& row_of(const std::vector<Row>& rows, const std::string& name, const char* what) {
  for (const Row& row : rows) {
    if (row.name == name) return row;
  }
  throw std::invalid_argument(what + (" '" + name) + "': expected one of " + names_of(rows, ", "));
}

} // namespace nunatak
