// Writing distributed arrays to NetCDF files: the interface of io to the model.
//
//   Writer writer(comm, options);              // format, layout, transport: chosen at run time
//   auto file = writer.open("ex.nc", schema, {10}); // everything is declared
//   file->put_all("x", x);                     // small, the same on all ranks
//   file->put_all("time", record, std::vector<double>{t});
//   file->put("thk", record, block, thk.data() + first_owned); // each rank its own block
//   file->end_record(step);
//   file->close(step);                         // durable from here on
//
// Every function of a File is called by all ranks, in the same order; different files may
// interleave freely. Blocks may be empty. An array may be changed as soon as put() returns. Errors
// of one rank are errors of all, thrown at the latest by the next end_record() or close().
// A File destroyed without close() leaves name.nc.tmp and no final name. With transport async
// (write/servers.hpp) close() only hands over, and writer.finish() makes durable.
//
// A File (file.hpp) checks, times and counts; SyncFile writes through a Format (formats/format.hpp)
// and makes it durable, AsyncFile lets servers write. Reading: read/reader.hpp.
#pragma once

#include "io/base/signals.hpp"
#include "io/formats/format.hpp"
#include "io/methods/method.hpp"
#include "io/write/file.hpp"

#include <memory>
#include <string>
#include <vector>

namespace nunatak::io {

class Connection;
struct ServerReport;

/// Opens files; sums their statistics. Must outlive its files.
class Writer {
public:
  /// Collective. `comm` must outlive the writer. Error, with the reason, if a choice does not exist
  /// or choices do not go together. `who` names this rank in watchdog messages ("": its number).
  Writer(MPI_Comm comm, Options options, const std::string& who = "");
  ~Writer();

  /// Create path.tmp and write its header. Collective. Error if that fails, if `path` exists and is
  /// not a regular file, or if it is too long with ".0000.tmp" appended.
  std::unique_ptr<File> open(const std::string& path, const Schema& schema,
                             FileOptions file_options = {});

  /// Waits until all closed files are durable (async). Collective; throws errors of the servers.
  void finish();
  /// async: names of the files committed since the last call, on rank 0.
  std::vector<std::string> take_committed();

  /// async: the most urgent signal that servers have received, on rank 0.
  Request request() const;

  const Options& options() const { return m_options; }
  /// What all files took so far, on this rank; see summarize().
  const Statistics& statistics() const { return m_statistics; }
  /// What the servers report at the last finish(), on rank 0; empty with transport sync.
  const std::vector<ServerReport>& server_reports() const { return m_server_reports; }

private:
  MPI_Comm m_comm;
  Options m_options;
  Topology m_machine;
  Statistics m_statistics;
  OpenFormat m_open;
  std::unique_ptr<Connection> m_connection; ///< async
  std::vector<ServerReport> m_server_reports;
};

} // namespace nunatak::io
