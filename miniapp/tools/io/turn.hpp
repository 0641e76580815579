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
#include "miniapp/tools/io/bench_options.hpp"

#include <map>
#include <string>

namespace nunatak::tools {

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

struct WriteTurn {
  double seconds = 0.0;         ///< slowest rank, until the file is durable
  double visible_seconds = 0.0; ///< slowest rank, until close() returns
  double compute_seconds = 0.0; ///< slowest rank: compute and new values between records
  io::Summary summary;
  std::map<std::string, std::string> hints;
  std::vector<io::ServerReport> servers; ///< of all repetitions so far, on rank 0
};

/// Writes `records` records. `path` must not exist. Collective.
WriteTurn write_turn(MPI_Comm comm, io::Writer& writer, Arrays& arrays, const std::string& order,
                     const std::string& path, std::size_t records, const Compute& compute);

struct ReadTurn {
  double seconds = 0.0; ///< slowest rank, including open
  io::ReadSummary summary;
  std::int64_t bytes = 0;    ///< requested by the ranks, in file types
  std::int64_t compared = 0; ///< values; 0 without `verify`
};

/// Reads what write_turn() wrote, each rank its boxes. `verify` compares every value (untimed):
/// Error on all ranks if one is wrong. Collective.
ReadTurn read_turn(MPI_Comm comm, const std::string& path, const NamedWay& written,
                   const io::ReadOptions& how, const Arrays& arrays, std::size_t records,
                   bool verify);

/// True for a file per aggregator; join_turn() joins such subfiles as nunatak-join does,
/// collectively, and returns the seconds of the slowest rank.
bool is_in_subfiles(const io::Options& written);
double join_turn(MPI_Comm comm, const std::string& path, const std::string& joined);

/// True if the method leaves a file that can be read.
bool has_file(const io::Options& written);

} // namespace nunatak::tools
