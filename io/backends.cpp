// Which ways of writing exist in this build; the only file that knows. See format.hpp and options.hpp.
#include "io/error.hpp"
#include "io/format.hpp"

namespace nunatak::io {

namespace {

struct Entry {
  const char* name;
  std::unique_ptr<Format> (*open)(MPI_Comm comm, const std::string& path, const Options& options);
};

constexpr Entry formats[] = {{"null", open_null}, {"serial", open_serial}, {"pnetcdf", open_pnetcdf}};

} // namespace

OpenFormat find_format(MPI_Comm comm, const Options& options, const Topology&) {
  check(options);
  if (parse_layout(options).name != "native") throw Error("output layout: expected native, found '" + options.layout + "'");
  std::string names;
  for (const Entry& entry : formats) {
    if (options.format == entry.name) {
      return [=](const std::string& path) { return entry.open(comm, path, options); };
    }
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error("output format: expected one of " + names + "; found '" + options.format + "'");
}

} // namespace nunatak::io
