// Where nunatak-io measures: the host, a scratch folder, and the raw write baseline.
#pragma once

#include "io/agree.hpp"
#include "io/topology.hpp"
#include "miniapp/tools/records.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Cores, ranks, nodes, ranks of the fullest node, least memory of a node (bytes), oversubscribed
/// (more ranks than cores), load average, MPI, MPI-IO, libraries. Collective; equal on all ranks.
Record host_facts(MPI_Comm comm);

/// "type" ("ext", "xfs", "tmpfs", ..., or its number) and "free_bytes" of a folder. Collective.
Record file_system_facts(MPI_Comm comm, const std::string& folder);

/// The scratch folder: created, emptied and removed by rank 0, untimed.
class Scratch {
public:
  /// Creates an empty `folder`/nunatak-io.files. Collective; throws Error on all ranks.
  Scratch(MPI_Comm comm, const std::string& folder, bool keep);
  /// Removes it, unless `keep`. Not collective.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return m_path; }
  std::string path(const std::string& name) const { return m_path + "/" + name; }

  // For files whose names begin with `name`:
  void remove(const std::string& name) const;        ///< collective
  std::int64_t bytes(const std::string& name) const; ///< on all ranks; collective
  /// Evicts them from the page cache: fsync, then POSIX_FADV_DONTNEED. Local; call it on all ranks.
  void drop_from_cache(const std::string& name) const;

private:
  std::vector<std::string> files(const std::string& name) const;

  MPI_Comm m_comm;
  int m_rank = io::rank_in(m_comm);
  std::string m_path;
  bool m_keep;
};

/// The raw write baseline: as many bytes in plain pwrite() calls, made durable as io::File does.
/// The speed of a method is a fraction of this one: the time of the baseline over its own.
///
///   rank 0 |2 MiB|2 MiB|2 MiB|...       one preallocated file, a contiguous part per rank;
///   rank 1        ...    |2 MiB|...     then fsync on every node, rename, fsync of the folder
class RawWrite {
public:
  /// Each run() writes `bytes` to `path`. Collective.
  RawWrite(MPI_Comm comm, std::string path, std::uint64_t bytes);

  /// Seconds of the slowest rank until the file is durable. `path` must not exist, because freeing
  /// its blocks would be timed. Collective; throws Error on all ranks.
  double run();

private:
  void write_part(const std::string& path) const;

  MPI_Comm m_comm;
  int m_rank = io::rank_in(m_comm);
  std::string m_path;
  std::uint64_t m_bytes;
  io::Topology m_topology;
  std::vector<std::byte> m_buffer;
};

} // namespace nunatak::tools
