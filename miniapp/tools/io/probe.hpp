// What the disk can do: the same number of bytes in plain pwrite() calls, made as durable as a File makes its own.
//
//   rank 0 |16 MiB|16 MiB|16 MiB|...       one file, each rank one contiguous share; then fsync on every node,
//   rank 1        ...      |16 MiB|...     rename, fsync of the folder
//
// Every way of writing is told as a share of this (time of the probe over its own). Used by nunatak_io.cpp.
#pragma once

#include "io/layouts/topology.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::tools {

class Probe {
public:
  /// Collective. Writes `bytes` to `path` each time.
  Probe(MPI_Comm comm, std::string path, std::uint64_t bytes);

  /// Seconds of the slowest rank, from before the file is created until it is durable. Collective; Error on all ranks if a call
  /// fails. A file of that name must not be there: what it takes to free its blocks would be timed.
  double run();

private:
  void write_share() const;

  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::string m_path;
  std::uint64_t m_bytes;
  io::Topology m_topology;
  std::vector<std::byte> m_buffer;
};

} // namespace nunatak::tools
