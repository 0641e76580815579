// Where a writer's time goes: seconds, bytes and operations per phase. Filled by File (writer.hpp), turned into JSON by the
// report.
#pragma once

#include "io/formats/format.hpp"

#include <mpi.h>

#include <array>
#include <cstdint>

namespace nunatak::io {

/// What the caller of a File waits for.
enum class Phase {
  open,     ///< create the file
  define,   ///< write the header
  post,     ///< put: copy, send or write the values
  exchange, ///< layouts: move the values to the ranks that write them
  wait,     ///< finish what was posted (one wait_all per record)
  flush,    ///< library buffers to the operating system
  close,    ///< close in the library
  copy,     ///< append-type files: copy of the file that is about to be committed
  checksum, ///< read the file once more for the manifest, while the system writes it to the disk
  fsync,    ///< fsync of the file, rename, fsync of the folder: durable
};
constexpr std::size_t n_phases = 10;
constexpr std::array<const char*, n_phases> phase_names = {"open",  "define", "post", "exchange", "wait",
                                                           "flush", "close",  "copy", "checksum", "fsync"};

/// Sums on one rank.
struct Statistics {
  struct Entry {
    double seconds = 0.0;
    std::int64_t bytes = 0;      ///< post: payload in the file's types; copy: bytes copied; checksum: bytes read
    std::int64_t operations = 0; ///< calls
  };
  std::array<Entry, n_phases> phases{};
  Work work; ///< of the format and the layout; copies of files for a commit are among the written bytes

  Entry& operator[](Phase phase) { return phases[static_cast<std::size_t>(phase)]; }
  const Entry& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  Statistics& operator+=(const Statistics& other);
};

/// The same over all ranks: seconds as minimum, mean and maximum; bytes and operations summed.
struct Summary {
  struct Entry {
    double min = 0.0, mean = 0.0, max = 0.0; ///< seconds
    std::int64_t bytes = 0, operations = 0;
  };
  std::array<Entry, n_phases> phases{};
  Work work; ///< the sum; exchange_seconds is not filled: see the phase

  const Entry& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

/// Collective (three reductions); the result is on every rank.
Summary summarize(MPI_Comm comm, const Statistics& statistics);

} // namespace nunatak::io
