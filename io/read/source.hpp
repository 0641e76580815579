// A ReadSource is an open file that gives boxes of values: the interface between a Reader
// (reader.hpp), which checks and converts, and the disk. There is one for each reading method.
//
// Opening and reading are collective. Both may throw on some ranks after that.
#pragma once

#include "io/box.hpp"
#include "io/read/contents.hpp"
#include "io/read/options.hpp"
#include "io/statistics.hpp"

#include <mpi.h>

#include <memory>
#include <string>

namespace nunatak::io {

class ReadSource {
public:
  virtual ~ReadSource() = default;

  /// The values of a box within variable `v` (an index of contents().variables), row-major, as
  /// stored: `bytes` of its numeric type each. Boxes of ranks may differ, overlap, be empty.
  virtual void read(std::size_t v, const Box& box, std::size_t bytes, std::byte* values) = 0;

  const Contents& contents() const { return m_contents; }
  const ReadStatistics& statistics() const { return m_statistics; }

protected:
  Contents m_contents;
  ReadStatistics m_statistics; ///< except the time of opening, which the Reader measures
};

std::unique_ptr<ReadSource> read_each(const std::string& path, MPI_Comm comm,
                                      const ReadOptions& options);
std::unique_ptr<ReadSource> read_serial(const std::string& path, MPI_Comm comm,
                                        const ReadOptions& options);
std::unique_ptr<ReadSource> read_parallel(const std::string& path, MPI_Comm comm,
                                          const ReadOptions& options);
std::unique_ptr<ReadSource> read_direct(const std::string& path, MPI_Comm comm,
                                        const ReadOptions& options);

/// "file 'thk.nc': variable 'thk': expected 3 values at (0, 2) of (1, 3); found: ..."
std::string read_failure(const std::string& path, const std::string& variable, const Box& box,
                         const std::string& found);

} // namespace nunatak::io
