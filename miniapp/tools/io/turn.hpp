// One turn of a way of writing: a file is written and made durable, and read again. Used by
// nunatak_io.cpp.
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

/// A model that computes between records: as many floating-point operations as one rank does in the
/// given time when this object is made. It enters MPI every millisecond, as a ghost exchange does.
class Compute {
public:
  explicit Compute(double seconds);
  void run() const;

private:
  double m_operations = 0.0;
  int m_parts = 0;
};

struct WriteTurn {
  double seconds = 0.0;         ///< of the slowest rank, until the file is durable
  double visible_seconds = 0.0; ///< the same, until close() returns
  double compute_seconds = 0.0; ///< the same: synthetic compute and new values, between records
  io::Summary summary;
  std::map<std::string, std::string> hints;
  std::vector<io::ServerReport> servers; ///< of all turns so far, on rank 0
};

/// Write `records` records. `path` must not be there. Collective.
WriteTurn write_turn(MPI_Comm comm, io::Writer& writer, Arrays& arrays, const std::string& order,
                     const std::string& path, std::size_t records, const Compute& compute);

struct ReadTurn {
  double seconds = 0.0; ///< of the slowest rank, opening included
  io::ReadSummary summary;
  std::int64_t bytes = 0;    ///< that the ranks asked for, in the types of the file
  std::int64_t compared = 0; ///< values; 0 without `verify`
};

/// Read what write_turn() wrote, each rank its own boxes. With `verify` every value is compared
/// (not timed): Error on all ranks if one is wrong. Collective.
ReadTurn read_turn(MPI_Comm comm, const std::string& path, const NamedWay& written,
                   const io::ReadOptions& how, const Arrays& arrays, std::size_t records,
                   bool verify);

/// A way of writing with a file per aggregator: join_turn() makes one file of them, as nunatak-join
/// does, and returns the seconds of the slowest rank. Collective.
bool is_in_subfiles(const io::Options& written);
double join_turn(MPI_Comm comm, const std::string& path, const std::string& joined);

/// Does this way of writing leave a file that can be read?
bool has_file(const io::Options& written);

} // namespace nunatak::tools
