// Traces: every open, read, write, seek, sync, truncate and close that any library does on the
// files we write, as a CSV.
//
//   Trace trace(comm);
//   trace.start("t.csv");  // collective; "" records nothing. From here on every File (writer.hpp)
//   is watched.
//   ...
//   trace.finish();        // collective; also after an error that all ranks share
//
// NetCDF-C, HDF5, PnetCDF, ROMIO and OMPIO call the C library in the end. A program that links
// nunatak_io_trace defines those functions itself, records the call and passes it on:
//
//     PnetCDF, HDF5 -> MPI-IO -> pwrite() of trace/interpose.cpp -> pwrite() of the C library ->
//     kernel
//                                          | if the file is watched
//                                          v
//                                  trace/record.hpp -> Trace::finish() -> t.csv ->
//                                  perf/plot_trace.py, replay.hpp
//
// Not seen: fread() and fwrite() between fopen() and fclose(), which no library here does on data;
// memory maps; aio_read(), aio_write() and io_uring. Format of the CSV: trace/csv.hpp.
#pragma once

#include <mpi.h>

#include <fstream>
#include <string>

namespace nunatak::io {

class Servers;

/// True if this program can trace: it links nunatak_io_trace, and no sanitizer, which has functions
/// of its own in that place.
bool trace_available();

/// Record what happens from now on to `path` and to all names that begin with it (name.nc.tmp,
/// name.nc.0001): opens, and all calls on descriptors opened from now on. Local, but all ranks must
/// call it alike: a path watched for the n-th time, n > 1, is another file, listed as "name@n".
/// Does nothing unless a trace runs. A File calls it for its own path.
void trace_watch(const std::string& path);

/// The trace of a program: there is one at a time.
class Trace {
public:
  /// Of the ranks that compute and, if there are some, of their output servers, which then take
  /// part in start() and finish().
  explicit Trace(MPI_Comm comm);
  ~Trace(); ///< not collective: stops, and forgets what was not written
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Collective: creates the CSV, and a barrier is the common zero of time. Error if this program
  /// cannot trace, if a trace runs already, or if the file cannot be created.
  void start(const std::string& csv);
  /// Collective: stops and writes the CSV through rank 0, 1 MiB of another rank's text at a time.
  /// Nothing if not started. Error if the file cannot be written.
  void finish();

private:
  MPI_Comm m_comm;
  Servers* m_servers;  ///< nullptr: none, or this is one
  std::string m_csv;   ///< empty: not started
  std::ofstream m_out; ///< on rank 0
};

} // namespace nunatak::io
