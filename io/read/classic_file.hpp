// Values of a classic file by pread, where its header says that they lie. Used by read/direct.cpp.
//
// Runs of the file are read straight into their place. Runs that lie close together are read in one
// call with what lies between them, 4 MiB at most, because a call costs a file system as much as
// many bytes.
#pragma once

#include "io/formats/runs.hpp"
#include "io/layouts/box.hpp"
#include "io/read/classic_header.hpp"
#include "io/read/contents.hpp"
#include "io/statistics.hpp"

#include <string>
#include <vector>

namespace nunatak::io {

/// Of every variable. Collective: `layout` of rank 0 counts, `contents` are the same everywhere.
std::vector<Placement> broadcast_placements(const ClassicLayout& layout, const Contents& contents,
                                            MPI_Comm comm);

class ClassicFile {
public:
  /// Error if it cannot be opened.
  ClassicFile(const std::string& path, std::vector<Placement> placements);
  ~ClassicFile();
  ClassicFile(const ClassicFile&) = delete;
  ClassicFile& operator=(const ClassicFile&) = delete;

  /// The values of a box, row-major, in the file's order of bytes; adds its bytes and calls. Error
  /// with the cause alone.
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
