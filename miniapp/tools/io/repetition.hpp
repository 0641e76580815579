// One repetition of an output method: a file is written, made durable, and read again.
//
//   |open|define|coordinates, record 0|compute|record 1|compute|...|close: fsync, rename, fsync|
//   |<------------------------- seconds, without those of compute --------------------------->|
#pragma once

#include "io/async/servers.hpp"
#include "io/reader.hpp"
#include "io/statistics.hpp"
#include "io/writer.hpp"
#include "miniapp/tools/io/arrays.hpp"

#include <map>
#include <string>

namespace nunatak::tools {

/// An output method as given: "netcdf4/zslab/order=zyx".
struct OutputMethod {
  std::string text, order; ///< order: of the dimensions in the file
  io::Options options;

  bool leaves_file() const;     ///< one that can be read
  bool leaves_subfiles() const; ///< a file per aggregator
};

/// Computation between records: floating-point operations measured to take the given time on one
/// rank. Enters MPI every millisecond, as a ghost exchange does.
class Compute {
public:
  explicit Compute(double seconds);
  void run() const;

private:
  double m_operations = 0.0;
  int m_parts = 0;
};

struct Writing {
  double seconds = 0.0;         ///< slowest rank, until the file is durable
  double visible_seconds = 0.0; ///< slowest rank, until close() returns
  double compute_seconds = 0.0; ///< slowest rank: compute and new values between records
  io::Summary summary;
  std::map<std::string, std::string> hints;
  std::vector<io::ServerReport> servers; ///< of all repetitions so far, on rank 0
};

/// Writes `records` records. `path` must not exist. Collective.
Writing write_file(MPI_Comm comm, io::Writer& writer, Arrays& arrays, const std::string& order,
                   const std::string& path, std::size_t records, const Compute& compute);

struct Reading {
  double seconds = 0.0; ///< slowest rank, including open
  io::ReadSummary summary;
  std::int64_t bytes = 0;    ///< requested by the ranks, in file types
  std::int64_t compared = 0; ///< values; 0 without `verify`
};

/// Reads what write_file() wrote, each rank its Arrays::read_boxes(). `verify` compares every value
/// (untimed): Difference on all ranks if one is wrong. Collective.
Reading read_file(MPI_Comm comm, const std::string& path, const std::string& order,
                  const io::ReadOptions& how, const Arrays& arrays, std::size_t records,
                  bool verify);

/// Joins subfiles as nunatak-join does, collectively. Returns the seconds of the slowest rank.
double join_file(MPI_Comm comm, const std::string& path, const std::string& joined);

} // namespace nunatak::tools
