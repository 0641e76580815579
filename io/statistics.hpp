// Where a writer's time goes: seconds, bytes and operations per phase. Filled by File (writer.hpp), turned into JSON by the
// report.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

namespace nunatak::io {

/// What the caller of a File waits for.
enum class Phase {
  open,     ///< create the file
  define,   ///< write the header
  post,     ///< put: copy, send or write the values
  wait,     ///< finish what was posted (one wait_all per record)
  flush,    ///< library buffers to the operating system
  close,    ///< close in the library
  copy,     ///< append-type files: copy of the file that is about to be committed
  fsync,    ///< fsync of the file, rename, fsync of the folder: durable
  checksum, ///< read the file once more for the manifest
};
constexpr std::size_t n_phases = 9;
constexpr std::array<const char*, n_phases> phase_names = {"open",  "define", "post",  "wait",    "flush",
                                                           "close", "copy",   "fsync", "checksum"};

/// Sums on one rank.
struct Statistics {
  struct Entry {
    double seconds = 0.0;
    std::int64_t bytes = 0;      ///< post: payload in the file's types; copy: bytes copied; checksum: bytes read
    std::int64_t operations = 0; ///< calls
  };
  std::array<Entry, n_phases> phases{};
  std::int64_t written_bytes = 0;      ///< handed to the file system by this rank, copies included
  std::int64_t written_operations = 0; ///< library calls that did so, and copies

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
  std::int64_t written_bytes = 0, written_operations = 0;

  const Entry& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

/// Collective (three reductions); the result is on every rank.
Summary summarize(MPI_Comm comm, const Statistics& statistics);

} // namespace nunatak::io
