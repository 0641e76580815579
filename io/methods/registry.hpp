// The registry: one row for each format and layout. The values of options, the help and the
// refusals come from the rows.
//
//   new format    io/formats/<name>.cpp with the function that makes its row (see format.hpp),
//                 listed in io/CMakeLists.txt and registry.cpp
//   new layout    io/layouts/<name>.cpp with a function that cuts a variable into boxes (see
//                 partition.hpp), likewise
#pragma once

#include "io/layouts/auto.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace nunatak::io {

struct LayoutRow {
  const char* name;
  bool per_node; ///< the name may end in ":N", the number of aggregators per node
  /// What each aggregator writes of variable v; nullptr: values stay on their ranks.
  Boxes (*boxes)(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe);
  bool every_rank = false; ///< without N and Options::aggregators: see aggregators_of()
  bool subfiles = false;   ///< each aggregator writes a file of its own (split_files.hpp)
  bool chooses = false;    ///< values may stay where they are (auto.hpp)
};

const std::vector<FormatRow>& formats();
const std::vector<LayoutRow>& layouts();

/// The row of that name; Error, listing all, if there is none.
const FormatRow& format_row(std::string_view name);
const LayoutRow& layout_row(std::string_view name);
const LayoutRow& layout_row(const Options& options); ///< of Options::layout without its ":N"

/// "null|serial|...", "native|zslab|zslab:N|..."
std::string format_words();
std::string layout_words();
/// "null: no rank, serial: rank 0, ..."
std::string format_writers();

/// Error if the options of the format do not suit this schema.
void check_schema(const Schema& schema, const Options& options);

/// The format of these options has all these features.
bool has_features(const Options& options, unsigned features);
bool uses_mpi_io(const Options& options);
bool makes_sums(const Options& options);
/// Error if MPI-IO would write another file than `path`.
void require_path_for(const Options& options, const std::string& path);
/// The names of all formats that fit: "netcdf4, pnetcdf or hybrid".
std::string formats_that(const std::function<bool(const FormatRow&)>& fit);

/// The layout; "default" is auto if ranks write run by run, else native.
std::string layout_of(const Options& options);
/// The ranks that aggregate: N of each node; without N every rank, or one (auto on several nodes).
std::vector<int> aggregators_of(const Options& options, const Topology& topology);
/// What a layout moves between nodes is written by a thread while more is moved (remap.hpp): into
/// one file, by formats that write without MPI. Clients of file systems with locks do so by
/// themselves.
bool writes_behind(const Options& options, const Topology& topology, const Stripes& stripes);
/// Opens the format in `options`, without a layout. Rank 0 creates the file. Collective.
OpenFunction open_anew;

/// The stripes of the folder of `path`. Collective; rank 0 asks.
Stripes stripes_at(MPI_Comm comm, const std::string& path, const Options& options);

/// The format and layout in `options`; Error, with the reason. `comm` must outlive the result.
OpenFormat find_format(MPI_Comm comm, const Options& options, const Topology& topology);

} // namespace nunatak::io
