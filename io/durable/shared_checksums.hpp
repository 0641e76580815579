// Checksums of a file's parts, computed by all ranks together: from memory where the format knows
// what it has written; else of a shared file each rank reads an equal range, of a file that one
// rank wrote it reads all. Used by sync_file.cpp, in the order of the functions.
#pragma once

#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/durable/sparse_checksum.hpp"
#include "io/formats/format.hpp"

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

class SharedChecksums {
public:
  /// The files are `path` + suffix of each part.
  SharedChecksums(MPI_Comm comm, std::string path, std::vector<OutputFile> parts);

  /// Sizes of the parts of this rank (rank 0: the shared ones too). `written`: what this rank has
  /// written of the first part that is shared or its own (Format::written()); then that part is not
  /// read. Local; Error if a file cannot be looked at.
  void measure(const std::optional<SparseChecksum>& written);
  /// The sizes alone, on rank 0 those of shared files. Local.
  std::vector<ManifestEntry> sizes() const;
  /// Collective: one reduction.
  void share_sizes();
  /// Read this rank's ranges; the bytes read. Local; Error if a file cannot be read.
  std::int64_t read();
  /// Collective: one reduction. Sizes and checksums of all parts on rank 0.
  std::vector<ManifestEntry> gather() const;

private:
  /// Bytes of part `p` that this rank reads: begin and end.
  std::pair<std::uint64_t, std::uint64_t> range(std::size_t p) const;

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm), m_size = size_of(m_comm);
  std::string m_path;
  std::vector<OutputFile> m_files;
  std::vector<std::uint64_t> m_sizes;
  std::optional<SparseChecksum> m_written;
  std::size_t m_written_part = 0;    ///< the part of m_written
  std::vector<std::uint32_t> m_sums; ///< of each part: this rank's part of its checksum
};

} // namespace nunatak::io
