// Which ways of writing exist in this build; the only file that knows. See format.hpp.
#include "io/error.hpp"
#include "io/format.hpp"
#include "io/writer.hpp"

namespace nunatak::io {

namespace {

struct Entry {
  const char* name;
  OpenFormat open;
};

constexpr Entry formats[] = {{"null", open_null}, {"serial", open_serial}, {"pnetcdf", open_pnetcdf}};

void expect_only(const char* what, const std::string& found, const char* existing) {
  if (found != existing) throw Error(std::string("output ") + what + ": expected " + existing + ", found '" + found + "'");
}

} // namespace

OpenFormat find_format(const Options& options) {
  expect_only("layout", options.layout, "native");
  expect_only("transport", options.transport, "sync");
  std::string names;
  for (const Entry& entry : formats) {
    if (options.format == entry.name) return entry.open;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error("output format: expected one of " + names + "; found '" + options.format + "'");
}

} // namespace nunatak::io
