// The registry: one row for each format, layout and method of reading. The word lists of options
// and help, what is refused, and what is opened all come from the rows; no other file knows which
// exist.
//
//   new format    io/formats/<name>.cpp (see format.hpp), its declaration and its row in
//                 registry.cpp
//   new layout    io/layouts/<name>.cpp with a function that cuts a variable into boxes (see
//                 partition.hpp), then likewise
//
// Both files go into io/CMakeLists.txt. Used by options.cpp, writer.cpp and reader.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"
#include "io/read/source.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nunatak::io {

/// What a format can do: the sum of these is FormatRow::features.
enum Feature : unsigned {
  netcdf = 1,        ///< writes NetCDF, which a Reader reads
  classic = 2,       ///< a classic file, of the kind that Options::classic says
  mpi_io = 4,        ///< opens the file by MPI-IO: hints and aggregators act; no ':' in its path
  independent = 8,   ///< can write without collective calls (access)
  late_define = 16,  ///< takes definitions after values (define interleaved)
  storage = 32,      ///< has chunks and compression
  many_writers = 64, ///< any rank can write: a layout may choose which do
  by_runs = 128,     ///< each rank writes its runs of the file by itself (calls); on several nodes
                     ///< the layout auto is the default
  aggregates = 256,  ///< natively, values always go through aggregators: one of a node is slower
                     ///< than its page cache
  subfiles = 512,    ///< can be opened on one rank alone, and its files can be joined (layout
                     ///< file-per-aggregator)
};

struct FormatRow {
  const char* name;
  const char* writer; ///< who writes, for the help
  OpenFunction* open;
  unsigned features;
  void (*check)(const Options& options) =
      nullptr; ///< Error, with the reason, if the format cannot do what they say
};

/// Do the words of a layout end in ":N", the number of aggregators per node?
enum class PerNode { never, optional, always };

struct LayoutRow {
  const char* name;
  PerNode per_node;
  /// What each aggregator writes of variable v; nullptr: values stay on the ranks that have them.
  Boxes (*boxes)(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe);
  bool every_rank =
      false; ///< without N, and if Options::aggregators is 0, every rank is an aggregator
  bool subfiles = false; ///< each aggregator writes a file of its own (split_files.hpp)
  bool chooses = false;  ///< values may stay where they are (auto.hpp)
};

struct ReaderRow {
  const char* name;
  std::unique_ptr<ReadSource> (*open)(const std::string& path, MPI_Comm comm,
                                      const ReadOptions& options); ///< nullptr: the Reader chooses
};

const std::vector<FormatRow>& formats();
const std::vector<LayoutRow>& layouts();
const std::vector<ReaderRow>& readers(); ///< in the order of ReadBy

/// The row of that name; Error, naming all, if there is none.
const FormatRow& format_row(std::string_view name);
const LayoutRow& layout_row(std::string_view name);
const LayoutRow& layout_row(const Options& options); ///< of Options::layout, its ":N" apart

/// "null|serial|...", "native|zslab|zslab:N|...", "auto|each|serial|parallel|direct"
std::string format_words();
std::string layout_words();
std::string reader_words();
/// "null: no rank, serial: rank 0, ..."
std::string format_writers();

/// Does the format of these options have all these features?
bool has_features(const Options& options, unsigned features);
/// Is the file opened by MPI-IO?
bool uses_mpi_io(const Options& options);
/// Sums of values go into the manifest.
bool makes_sums(const Options& options);
/// The names of all formats that have these features, "netcdf4, pnetcdf or hybrid".
std::string formats_with(unsigned features);

/// The layout, where it is "default" chosen: auto if ranks of several nodes write run by run, else
/// native.
std::string layout_of(const Options& options, const Topology& topology);
/// Opens the format that `options` name, by itself. Rank 0 creates the file before a library opens
/// it, so that no link of that name is followed. Collective.
OpenFunction open_anew;

/// The format and layout that `options` name. `comm` must outlive what it returns. Error, with the
/// reason, if the options do not go together.
OpenFormat find_format(MPI_Comm comm, const Options& options, const Topology& topology);

} // namespace nunatak::io
