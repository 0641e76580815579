// Where nunatak-io measures: the host, a folder of its own on the file system, and what the disk
// can do.
#pragma once

#include "io/agree.hpp"
#include "io/layouts/topology.hpp"
#include "miniapp/tools/records.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Cores, ranks, ranks of the fullest node, nodes, available memory of the node that has least
/// (bytes), oversubscribed (more ranks than cores on some node), load average, MPI library and
/// MPI-IO, versions of the libraries. Collective; the same on all ranks.
Record host_facts(MPI_Comm comm);

/// Of the file system that holds a folder: "type" ("ext", "xfs", "tmpfs", ..., or its number),
/// "free_bytes". Collective: rank 0 looks.
Record file_system_facts(MPI_Comm comm, const std::string& folder);

/// The folder in which files are written: made, emptied and removed by rank 0, never timed.
class Scratch {
public:
  /// Makes `folder`/nunatak-io.files, empty. Collective; Error on all ranks if that is not
  /// possible.
  Scratch(MPI_Comm comm, const std::string& folder, bool keep);
  /// Removes it, unless `keep`. Not collective.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return m_path; }
  std::string path(const std::string& name) const { return m_path + "/" + name; }

  // Of the files whose names begin with `name`:
  void remove(const std::string& name) const;        ///< collective
  std::int64_t bytes(const std::string& name) const; ///< on all ranks; collective
  /// Take them out of the page cache of every node: fsync, then POSIX_FADV_DONTNEED, which the
  /// system may ignore. Local; all ranks call it.
  void drop_from_cache(const std::string& name) const;

private:
  std::vector<std::string> files(const std::string& name) const;

  MPI_Comm m_comm;
  int m_rank = io::rank_in(m_comm);
  std::string m_path;
  bool m_keep;
};

/// What the disk can do: the same number of bytes in plain pwrite() calls, made as durable as a
/// File makes its own.
///
///   rank 0 |2 MiB|2 MiB|2 MiB|...       one file, allocated, each rank one contiguous share; then
///   fsync on every node, rank 1        ...    |2 MiB|...     rename, fsync of the folder
///
/// Every way of writing is given as a share of this (time of the probe over its own).
class Probe {
public:
  /// Collective. Writes `bytes` to `path` each time.
  Probe(MPI_Comm comm, std::string path, std::uint64_t bytes);

  /// Seconds of the slowest rank, from before the file is created until it is durable. Collective;
  /// Error on all ranks if a call fails. A file of that name must not be there: what it takes to
  /// free its blocks would be timed.
  double run();

private:
  void write_share() const;

  MPI_Comm m_comm;
  int m_rank = io::rank_in(m_comm), m_size = io::size_of(m_comm);
  std::string m_path;
  std::uint64_t m_bytes;
  io::Topology m_topology;
  std::vector<std::byte> m_buffer;
};

} // namespace nunatak::tools
