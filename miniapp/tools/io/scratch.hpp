// The folder in which nunatak-io writes: made, emptied and removed by rank 0, never timed. Used by nunatak_io.cpp.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::tools {

class Scratch {
public:
  /// Makes `folder`/nunatak-io.files, empty. Collective; Error on all ranks if that is not possible.
  Scratch(MPI_Comm comm, const std::string& folder, bool keep);
  /// Removes it, unless `keep`. Not collective.
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return m_path; }
  std::string path(const std::string& name) const { return m_path + "/" + name; }
  /// The files whose names begin with `name`. Local.
  std::vector<std::string> files(const std::string& name) const;

  /// Remove those files. Collective.
  void remove(const std::string& name) const;
  /// Their bytes, on all ranks. Collective.
  std::int64_t bytes(const std::string& name) const;
  /// Take them out of the page cache of every node: fsync, then POSIX_FADV_DONTNEED, which the system may ignore. Local; all
  /// ranks call it.
  void drop_from_cache(const std::string& name) const;

private:
  MPI_Comm m_comm;
  int m_rank = 0;
  std::string m_path;
  bool m_keep;
};

} // namespace nunatak::tools
