// The methods of reading a file. For users of reader.hpp and for the read/*.cpp behind it.
//
//   each       every rank opens the file       serial     rank 0 opens it; the others get their
//              by itself                                  parts by messages
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

#include <cstddef>
#include <map>
#include <string>

namespace nunatak::io {

enum class ReadBy {
  automatic, ///< on one node as `each`, else as `direct`
  each,      ///< serial NetCDF-C on every rank: no messages, as many opens as ranks
  serial,    ///< rank 0 reads slabs of bounded size and sends every rank its part; the others never
             ///< touch the file
  parallel,  ///< collective: PnetCDF for classic files, parallel NetCDF-4 for HDF5; rank 0 alone
             ///< reads the header first
  direct, ///< one rank of each node reads long runs, without MPI-IO; rank 0 alone reads the header
          ///< first
};

struct ReadOptions {
  ReadBy by = ReadBy::automatic;
  std::size_t call_bytes =
      512 << 20; ///< each, parallel: at most this much per call of a library (and rank)
  std::size_t slab_bytes =
      16 << 20;           ///< serial, direct: a rank reads this much at a time; at most 1 GiB
  int ranks_per_node = 0; ///< virtual nodes (layouts/topology.hpp); 0: the machine's
  std::map<std::string, std::string>
      hints; ///< MPI-IO hints (parallel), also what to do about data sieving (romio_ds_read)
};

/// "auto", "each", "serial", "parallel", "direct" (registry.cpp).
std::string word_of(ReadBy by);
/// Error, naming the words, if there is no such way.
ReadBy read_by(const std::string& word);

} // namespace nunatak::io
