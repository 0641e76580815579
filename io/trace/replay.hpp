// Replays a trace (trace/csv.hpp): the same opens, reads, writes, seeks, syncs, truncations and
// closes, by the same ranks, with nothing between them but the file system. What it takes then is
// the cost of the pattern; the rest of the first run was the library's, or the program's.
//
//   const auto s = replay(comm, "t.csv", "/scratch/replay", {});
//
// Each name of the trace becomes one file in the folder. Each rank does what it did before; with
// fewer ranks, rank r does the work of r, r + size, ... in the order in which it began, and ranks
// beyond those of the trace do nothing.
//
//     time ->   rank 0   open  write write   |truncate|  write  close
//               rank 1   open  write         |        |  write  close       | barriers: a
//               truncation cuts what others wrote
//
// Not replayed: calls that failed, what was written (the bytes are a pattern), collective calls and
// their waiting.
#pragma once

#include "io/trace/csv.hpp"

#include <mpi.h>

namespace nunatak::io {

struct ReplayOptions {
  bool think = false; ///< pause between two calls of a rank as long as it did when it was traced
};

/// Of all ranks, the same on all.
struct ReplayStatistics {
  std::array<std::int64_t, trace_operation_names.size()> operations{}; ///< by TraceOperation
  std::int64_t read_bytes = 0, written_bytes = 0;
  std::int64_t missing_bytes =
      0; ///< which reads of the trace found and those of the replay did not
  int traced_ranks = 0;
  double seconds = 0.0;        ///< first call to last, of the slowest rank
  double traced_seconds = 0.0; ///< the same of the trace, all ranks together
};

/// Collective. Files of the same names in `folder` are replaced; the folder is created. Files that
/// the trace only reads are made first (and are in the page cache then). Error, on all ranks, if
/// the trace cannot be read or a call fails.
ReplayStatistics replay(MPI_Comm comm, const std::string& csv, const std::string& folder,
                        const ReplayOptions& options = {});

} // namespace nunatak::io
