// Checksums of a file's parts, computed by all ranks together: of a shared file each rank reads an equal range, of a file that
// one rank wrote it reads all. Used by sync_file.cpp, in the order of the functions.
#pragma once

#include "io/durable/durable.hpp"
#include "io/formats/format.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::io {

class SharedChecksums {
public:
  /// The files are `path` + suffix of each part.
  SharedChecksums(MPI_Comm comm, std::string path, std::vector<OutputFile> parts);

  /// Sizes of the parts of this rank (rank 0: the shared ones too). Local; Error if a file cannot be looked at.
  void measure();
  /// Collective: one reduction.
  void share_sizes();
  /// Read this rank's ranges; the bytes read. Local; Error if a file cannot be read.
  std::int64_t read();
  /// Collective: one gather. Sizes and checksums of all parts on rank 0.
  std::vector<ManifestEntry> gather() const;

private:
  /// Bytes of part `p` that `rank` reads: begin and end.
  std::pair<std::uint64_t, std::uint64_t> range(std::size_t p, int rank) const;

  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::string m_path;
  std::vector<OutputFile> m_files;
  std::vector<std::uint64_t> m_sizes;
  std::vector<std::uint32_t> m_checksums; ///< of this rank's range of each part
};

} // namespace nunatak::io
