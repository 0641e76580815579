// A Format is an open file that takes hyperslabs: the interface between a File and the disk.
//
// A FormatRow says what one can do, and which options it alone has: all that others know of it.
// CONTRIBUTING.md shows a complete example; registry.hpp says where its parts go.
//
// Every function is called by all ranks of the communicator, in the same order. A function may
// throw on some ranks only after its own collective calls: the File then makes all ranks throw.
#pragma once

#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/data/hyperslab.hpp"
#include "io/data/schema.hpp"
#include "io/data/statistics.hpp"
#include "io/data/value_sums.hpp"
#include "io/formats/options.hpp"

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// A file on disk: its name is with_suffix() of the path.
struct OutputFile {
  std::string suffix;
  int owner = shared; ///< the rank that wrote it alone, or `shared`
  static constexpr int shared = -1;
};

class Format {
public:
  virtual ~Format() = default;

  /// Declare all dimensions, variables and attributes; afterwards the file takes values.
  virtual void define() = 0;
  /// Copy, send or write hyperslabs of variable `v` and a record, or no_record: the caller may
  /// change the array afterwards.
  /// pack(), packed() or Waiting::keep() of hyperslab.hpp also sum the values, which else costs a
  /// pass (summed() of value_sums.hpp). Hyperslabs of one variable and record do not overlap.
  /// Running out of memory (std::bad_alloc) aborts the run.
  virtual void put(std::size_t v, std::size_t record, const Slabs& slabs) = 0;
  /// Size of this rank's file (the shared one, or its own) with this many records, to allocate; 0:
  /// unknown. Before define() the same on all ranks. Local.
  virtual std::uint64_t expected_size(std::uint64_t /*records*/) const { return 0; }
  /// Offset of a variable (in the first record), after define(), if known; the same on all ranks.
  virtual std::optional<std::uint64_t> first_byte(std::size_t /*v*/) const { return std::nullopt; }
  /// Stripes of this length have owners: a value across a border may wait until flush_values().
  virtual void use_stripe(std::size_t /*bytes*/) {}
  /// Everything that was put has been handed to the file system.
  virtual void wait() = 0;
  virtual void close() = 0;
  /// Everything that was put is in the file, whose header counts the records: what a later run
  /// finds if this one is killed. After wait(). Collective.
  virtual void save() {}

  /// A file that can grow in place is committed before it is closed: bytes beyond the records that
  /// its header counts are not part of it yet. flush_values() hands everything else to the system,
  /// and count_records() adds the records to the header by one write of a few bytes.
  virtual bool grows_in_place() const { return false; }
  virtual void flush_values() {}
  virtual void count_records() {} ///< local, rank 0 only
  /// After define(), for a format that grows in place: continue `path` behind its first `records`
  /// records, if its header agrees except in `history` and the number of records. Nothing is
  /// written here: count_records() writes both, flush_values() cuts the rest off. Collective.
  struct Reopened {
    std::string why_not;    ///< "" on success; else nothing has changed
    std::uint64_t size = 0; ///< of the file with that many records
  };
  virtual Reopened reopen(const std::string& /*path*/, std::uint64_t /*records*/) {
    return {"its format is written anew"};
  }

  /// Sums of the values put here into a file that this rank owns. Local.
  virtual Sums own_sums(std::size_t /*records*/) const { return {}; }

  virtual Work work() const = 0;
  /// The MPI-IO hints in effect, the "ignored" ones, and "mpi_io" (used_hints() in mpi_io.hpp);
  /// with the layout auto its choice, "layout". Empty without MPI-IO.
  virtual std::map<std::string, std::string> hints() const { return {}; }
  /// The files on disk, the same list on every rank: one, none, or one per aggregator.
  virtual std::vector<OutputFile> files() const { return {OutputFile{}}; }
};

/// What formats that write one file have in common.
class FileFormat : public Format {
public:
  FileFormat(MPI_Comm comm, std::string path, const Schema& schema, const Options& options)
      : m_comm(comm), m_path(std::move(path)), m_schema(schema), m_options(options) {}
  Work work() const override { return m_work; }

protected:
  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::string m_path;
  const Schema& m_schema;
  Options m_options;
  Work m_work;
};

/// Creates (or overwrites) a file. Collective. `schema` must outlive the format.
using OpenFunction = std::unique_ptr<Format>(MPI_Comm comm, const std::string& path,
                                             const Schema& schema, const Options& options);
template <class F>
std::unique_ptr<Format> open_as(MPI_Comm comm, const std::string& path, const Schema& schema,
                                const Options& options) {
  return std::make_unique<F>(comm, path, schema, options);
}

/// What a format can do: FormatRow::features is a sum of these.
enum Feature : unsigned {
  netcdf = 1,        ///< writes NetCDF, which a Reader reads
  classic = 2,       ///< a classic file
  mpi_io = 4,        ///< opens the file by MPI-IO: hints and aggregators act; no ':' in its path
  mpi_io_calls = 8,  ///< calls MPI-IO, but not on all ranks together
  late_define = 16,  ///< takes definitions after values (define interleaved)
  many_writers = 64, ///< any rank can write, and a layout choose which do; else values go to rank 0
  by_runs = 128,     ///< each rank writes its own runs; the default layout is auto
  aggregates = 256, ///< natively always through aggregators; one per node is slower than page cache
  subfiles = 512,   ///< opens on one rank alone, files can be joined (layout file-per-aggregator)
};

/// An option that one format has, -io_<name>: a text.
struct FormatOption {
  const char *name, *value, *doc; ///< value: the default
  const char* words;              ///< allowed values, separated by |; "": any
  unsigned adds = 0;              ///< features of the format with another value than the default

  std::string of(const Options& options) const {
    const auto found = options.own.find(name);
    return found == options.own.end() ? value : found->second;
  }
};

struct FormatRow {
  const char* name;
  const char* writer; ///< which rank writes, for the help
  OpenFunction* open;
  unsigned features;
  std::vector<FormatOption> options = {};
  /// Error if its options do not suit a schema: asked before hours of computation.
  void (*check)(const Schema& schema, const Options& options) = nullptr;
};

using OpenFormat =
    std::function<std::unique_ptr<Format>(const std::string& path, const Schema& schema)>;

} // namespace nunatak::io
