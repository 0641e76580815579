// A ReadSource is an open file that gives boxes of values: the interface between a Reader
// (reader.hpp), which checks and converts, and the disk. There is one for each reading method.
//
// Opening and reading are collective. Both may throw on some ranks after that. The methods:
//
//   each       every rank opens the file       serial     rank 0 opens it; the others receive
//              by itself                                  their parts by messages
//     0   1   2   3                              0 -> 1, 2, 3
//     |   |   |   |                              |
//     [    file   ]                              [    file   ]
//
//   parallel   all open it together            direct     one rank of each node opens it and sends
//              (MPI-IO)                                   what it reads
//     0---1---2---3                              0 <-> 2 on another node
//           |                                    |-> 1  |-> 3
//     [    file   ]                              [    file   ]
#pragma once

#include "io/data/box.hpp"
#include "io/data/statistics.hpp"
#include "io/read/nc_file.hpp"

#include <mpi.h>

#include <map>
#include <memory>
#include <string>

namespace nunatak::io {

enum class ReadBy {
  automatic, ///< `each` on one node, else `direct`
  each,      ///< serial NetCDF-C on every rank: no messages, as many opens as ranks
  serial, ///< rank 0 alone opens the file, reads slabs of bounded size and sends each rank its part
  parallel, ///< collective: PnetCDF for classic files, parallel NetCDF-4 for HDF5
  direct,   ///< one rank of each node reads long runs, without MPI-IO
};

/// Which values that the file marks as missing are NaN: those of its fills, all but 0, or none.
enum class Missing { fills, not_zero, none };

struct ReadOptions {
  ReadBy by = ReadBy::automatic;
  std::size_t call_bytes = 512 << 20; ///< each, parallel: at most this much per call (and rank)
  std::size_t slab_bytes = 16 << 20;  ///< serial, direct: a rank reads this at a time; max. 1 GiB
  int ranks_per_node = 0;             ///< virtual nodes (topology.hpp); 0: the machine's
  Missing missing = Missing::fills;
  bool subfiles = false; ///< one of several may be read, a part of the whole
  /// MPI-IO hints (parallel), including data sieving (romio_ds_read).
  std::map<std::string, std::string> hints;
};

/// "auto|each|serial|parallel|direct"
std::string reader_words();
/// One of these words.
std::string word_of(ReadBy by);
/// Error, listing the methods, if there is no such method.
ReadBy read_by(const std::string& word);

class ReadSource {
public:
  virtual ~ReadSource() = default;

  /// The values of a box within variable `v` (an index of schema().variables), row-major, as
  /// stored: `type`, if unsigned that of the same size. Boxes of ranks may differ, overlap, be
  /// empty.
  virtual void read(std::size_t v, const Box& box, Type type, std::byte* values) = 0;

  /// The schema of the file, with its number of records.
  const Schema& schema() const { return m_schema; }
  const ReadStatistics& statistics() const { return m_statistics; }

protected:
  Schema m_schema;
  ReadStatistics m_statistics; ///< except the time of opening, which the Reader measures
};

/// `by`: not automatic.
std::unique_ptr<ReadSource> open_source(ReadBy by, const std::string& path, MPI_Comm comm,
                                        const ReadOptions& options);
std::unique_ptr<ReadSource> read_parallel(const std::string& path, MPI_Comm comm,
                                          const ReadOptions& options);

/// "file 'thk.nc': variable 'thk': expected 3 values at (0, 2) of (1, 3); found: ..."
std::string read_failure(const std::string& path, const std::string& variable, const Box& box,
                         const std::string& found);

} // namespace nunatak::io
