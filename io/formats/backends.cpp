// Which ways of writing exist in this build; the only file that knows. See format.hpp and options.hpp.
#include "io/error.hpp"
#include "io/formats/format.hpp"
#include "io/layouts/layouts.hpp"

namespace nunatak::io {

namespace {

struct Entry {
  const char* name;
  OpenOn* open;
};

constexpr Entry formats[] = {{"null", open_null},       {"serial", open_serial}, {"netcdf4", open_netcdf4},
                             {"pnetcdf", open_pnetcdf}, {"hybrid", open_hybrid}, {"posix", open_posix},
                             {"mpiio", open_mpiio}};

bool has_mpi_io(const Options& options) {
  return options.format != "null" && options.format != "serial" && options.format != "posix";
}

/// ROMIO takes what stands before a colon for a type of file system, and cuts it off.
OpenFormat checked(const OpenFormat& open, const Options& options) {
  if (!has_mpi_io(options)) return open;
  return [open](const std::string& path) {
    if (path.find(':') != std::string::npos) throw Error("file '" + path + "': expected a path without ':' (MPI-IO), found one");
    return open(path);
  };
}

/// So many aggregators of MPI-IO per node, unless the user's hints say otherwise.
Options with_aggregators(Options options, const Topology& topology) {
  if (options.aggregators == 0 || !has_mpi_io(options) || parse_layout(options).name == "file-per-aggregator") return options;
  const std::string n = std::to_string(options.aggregators * topology.n_nodes);
  options.hints.emplace("cb_nodes", n);
  options.hints.emplace("cb_config_list", "*:" + n);
  return options;
}

} // namespace

OpenFormat find_format(MPI_Comm comm, const Options& chosen, const Topology& topology) {
  check(chosen);
  const Options options = with_aggregators(chosen, topology);
  std::string names;
  for (const Entry& entry : formats) {
    if (options.format == entry.name) return checked(in_layout(comm, options, topology, entry.open), options);
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error("output format: expected one of " + names + "; found '" + options.format + "'");
}

} // namespace nunatak::io
