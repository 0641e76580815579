// Writing distributed arrays to NetCDF files. The door of the io room for the model.
//
//   auto writer = make_writer(comm, options);                       // format, layout, transport: chosen at run time
//   auto file = writer->open("ex.nc", schema, {FileKind::append, 10}); // everything is declared here
//   file->put_all("x", x);                                          // small, the same on all ranks
//   file->put_all("time", record, std::vector<double>{t});
//   file->put("thk", record, block, thk.data() + first_owned);      // each rank its own block
//   file->end_record(step);
//   file->close(step);                                              // durable from here on
//
// Every function of a File is called by all ranks, in the same order; different files may interleave freely. Blocks may be
// empty. An array may be changed as soon as put() returns. Errors of one rank are errors of all, thrown at the latest by the next
// end_record(), sync() or close(). A File destroyed without close() leaves name.nc.tmp and no final name.
//
// Functions here check, time and count; a Format (format.hpp) does the work. Durability: durable.hpp. Reading: reader.hpp.
#pragma once

#include "io/error.hpp"
#include "io/formats/format.hpp"
#include "io/layouts/topology.hpp"
#include "io/options.hpp"
#include "io/schema.hpp"
#include "io/statistics.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nunatak::io {

enum class FileKind {
  once,   ///< one state, written and closed: snapshot, result
  append, ///< grows by records: time series, spatial series
};

struct FileOptions {
  FileKind kind = FileKind::once;
  /// append: after so many records name.nc is replaced, in one rename, by a copy of what has been written so far, so that a
  /// committed state can be opened at any time, checked against the manifest, and survives whatever comes later. Then again when
  /// at least so many more records have come and the file has grown by at least a half: with 10 after 10, 20, 30, 45, 68, 102,
  /// ... All copies together hold less than three times the records of the file. A crash loses the records since the last
  /// commit: at most commit_every or a third of all (rounded up), whichever is more. 0: only close() commits. So it is for a file
  /// in pieces (layout file-per-aggregator): several files cannot be replaced at once.
  int commit_every = 0;
};

/// This rank's part of a variable, in the order of the file's dimensions, slowest first, without the record dimension.
struct Block {
  std::vector<std::size_t> start, count;
  std::vector<std::ptrdiff_t> stride; ///< distance in memory, in elements; empty: contiguous, row-major
};

class File {
public:
  File(MPI_Comm comm, std::string path, Schema schema, FileOptions file_options, const OpenFormat& open, const Topology& machine,
       Statistics& total);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Write this rank's block; nullptr or a count of 0: nothing. `data` points at the value at block.start; T is the type of the
  /// variable, or double for float32.
  template <class T> void put(const std::string& variable, const Block& block, const T* data) {
    put(variable, no_record, block, reinterpret_cast<const std::byte*>(data), type_of<T>());
  }
  template <class T> void put(const std::string& variable, std::size_t record, const Block& block, const T* data) {
    put(variable, record, block, reinterpret_cast<const std::byte*>(data), type_of<T>());
  }

  /// Write a whole variable (a whole record of it) that every rank knows: coordinates, time, scalars. Rank 0 writes.
  template <class T> void put_all(const std::string& variable, const std::vector<T>& values) {
    put_all(variable, no_record, values.size(), reinterpret_cast<const std::byte*>(values.data()), type_of<T>());
  }
  template <class T> void put_all(const std::string& variable, std::size_t record, const std::vector<T>& values) {
    put_all(variable, record, values.size(), reinterpret_cast<const std::byte*>(values.data()), type_of<T>());
  }

  /// All values of the record (and of variables without records) have been put. Commits if commit_every says so; if that fails,
  /// the last commit stands and the copy is removed.
  void end_record(std::int64_t step = -1);
  /// What has been put can be read by another process, in name.nc.tmp. Not durable.
  void sync();
  /// Every value of every variable must have been put. Durable when it returns: fsync, rename, fsync, manifest.
  void close(std::int64_t step = -1);

  const std::string& path() const { return m_path; }
  const Schema& schema() const { return m_schema; }
  const Statistics& statistics() const { return m_statistics; }
  std::map<std::string, std::string> hints() const { return m_format->hints(); }

private:
  static constexpr std::size_t no_record = static_cast<std::size_t>(-1);
  void put(const std::string& variable, std::size_t record, const Block& block, const std::byte* data, Type type);
  void put_all(const std::string& variable, std::size_t record, std::size_t size, const std::byte* data, Type type);
  std::size_t variable_number(const std::string& name) const;
  Piece make_piece(std::size_t v, std::size_t record, const Block& block, const std::byte* data, Type type) const;
  template <class F> void timed(Phase phase, const F& f);
  template <class F> void together(Phase phase, const F& f);
  template <class F> void keep_error(const F& f);
  void wait();
  void write_behind(std::int64_t bytes);
  bool is_time_to_commit() const;
  void check_name() const;
  void check_complete() const;
  std::vector<Part> my_parts() const;
  void copy(const std::string& to);
  void commit(const std::string& temporary, std::int64_t step);
  [[noreturn]] void fail(const std::string& what) const;

  MPI_Comm m_comm;
  int m_rank = 0;
  std::string m_path, m_temporary;
  Schema m_schema;
  FileOptions m_file_options;
  std::unique_ptr<Format> m_format;
  std::vector<std::int64_t> m_put; ///< elements of each variable that this rank has put
  std::int64_t m_unwritten = 0;    ///< bytes put since the disk was last told to write
  std::int64_t m_records = 0;      ///< records begun, the same on all ranks
  std::int64_t m_ended = 0;        ///< records ended
  std::int64_t m_committed = 0;    ///< records ended at the last commit
  std::string m_error;             ///< the first error of this rank that the others do not know yet
  bool m_closed = false;
  Work m_work;
  Statistics m_statistics;
  Statistics& m_total;       ///< the writer's
  const Topology& m_machine; ///< its real nodes
};

/// Opens files; sums their statistics. Must outlive its files.
class Writer {
public:
  /// Collective. See make_writer.
  Writer(MPI_Comm comm, Options options);

  /// Create path.tmp and write its header. Error on every rank if that is not possible, or if `path` is a folder (or else not a
  /// regular file) or longer than the file system takes with ".commit" after it.
  std::unique_ptr<File> open(const std::string& path, const Schema& schema, FileOptions file_options = {});

  const Options& options() const { return m_options; }
  /// Of all files so far, on this rank; see summarize().
  const Statistics& statistics() const { return m_statistics; }

private:
  MPI_Comm m_comm;
  Options m_options;
  Topology m_machine;
  OpenFormat m_open;
  Statistics m_statistics;
};

/// Collective. `comm` must outlive the writer. Error if a choice does not exist, naming those that do, or if choices do not work
/// together, saying why.
std::unique_ptr<Writer> make_writer(MPI_Comm comm, const Options& options);

} // namespace nunatak::io
