// Values of a classic file by pread, at the offsets in its header. Used by read/direct.cpp.
//
// Runs are read directly into their place. Runs close together are read in one call of at most 4
// MiB, including the gaps, because a call costs as much as many bytes.
#pragma once

#include "io/formats/runs.hpp"
#include "io/box.hpp"
#include "io/read/classic_header.hpp"
#include "io/read/contents.hpp"
#include "io/statistics.hpp"

#include <string>
#include <vector>

namespace nunatak::io {

/// Placements of all variables, from `layout` of rank 0. Collective.
std::vector<Placement> broadcast_placements(const ClassicLayout& layout, const Contents& contents,
                                            MPI_Comm comm);

class ClassicFile {
public:
  ClassicFile(const std::string& path, std::vector<Placement> placements);
  ~ClassicFile();
  ClassicFile(const ClassicFile&) = delete;
  ClassicFile& operator=(const ClassicFile&) = delete;

  /// The values of a box, row-major, in the file's byte order. Error with the cause alone.
  void read(std::size_t v, const Box& box, std::byte* values, ReadStatistics& statistics);

private:
  void read_at(std::uint64_t begin, std::size_t size, std::byte* to,
               ReadStatistics& statistics) const;

  std::vector<Placement> m_placements;
  int m_fd = -1;
  std::vector<Run> m_runs;
  std::vector<std::byte> m_span;
};

} // namespace nunatak::io
