// Three ways to read a file, and what a way has cost. For users of reader.hpp and for the read/*.cpp behind it.
//
//   each       every rank opens the file by itself       serial       rank 0 opens; others get    parallel     all open together
//                                                                     theirs by messages
//     0   1   2   3                                        0 ->1,2,3                                 0---1---2---3   MPI-IO
//     |   |   |   |                                        |                                             |
//     [    file   ]                                        [    file   ]                                 [    file   ]
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nunatak::io {

enum class ReadBy {
  each,     ///< serial NetCDF-C on every rank: no messages, as many opens as ranks
  serial,   ///< rank 0 reads slabs of bounded size and sends every rank its part; the others never touch the file
  parallel, ///< collective: PnetCDF for classic files, parallel NetCDF-4 for HDF5; rank 0 alone reads the header first
};

struct ReadOptions {
  ReadBy by = ReadBy::each;
  std::size_t call_bytes = 512 << 20;       ///< each, parallel: at most so much per call of a library (and rank)
  std::size_t slab_bytes = 16 << 20;        ///< serial: rank 0 reads this much at a time; at most 1 GiB
  std::map<std::string, std::string> hints; ///< MPI-IO hints (parallel), also what to do about data sieving (romio_ds_read)
};

/// "each", "serial", "parallel".
std::string word_of(ReadBy by);
/// The way that a word names. Error naming the words if there is none.
ReadBy read_by(const std::string& word);

/// Sums on one rank.
struct ReadStatistics {
  double open_seconds = 0.0;    ///< open, header, its broadcast
  double read_seconds = 0.0;    ///< in the library that reads values
  double scatter_seconds = 0.0; ///< serial: messages, waiting for them included
  std::int64_t bytes = 0;       ///< values that libraries have read for this rank, in the types of the file
  std::int64_t operations = 0;  ///< library calls that read values
  std::int64_t sent_bytes = 0;  ///< serial: values that rank 0 has sent
};

/// The same over all ranks: seconds as minimum, mean and maximum; the rest summed.
struct ReadSummary {
  struct Seconds {
    double min = 0.0, mean = 0.0, max = 0.0;
  };
  Seconds open, read, scatter;
  std::int64_t bytes = 0, operations = 0, sent_bytes = 0;
};

/// Collective (three reductions); the result is on every rank.
ReadSummary summarize(MPI_Comm comm, const ReadStatistics& statistics);

} // namespace nunatak::io
