// Seconds, bytes and operations of a writer, by phase, and of a reader, for the report.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

namespace nunatak::io {

/// What a format and its layout have done on this rank so far.
struct Work {
  std::int64_t written_bytes = 0;      ///< handed to the file system
  std::int64_t written_operations = 0; ///< library calls that did so
  /// Bytes of values that the library moved within the file to make space for definitions (rank 0).
  std::int64_t moved_bytes = 0;
  std::int64_t messages = 0; ///< sent to other ranks by a layout
  std::int64_t message_bytes = 0;
  std::int64_t off_node_bytes = 0; ///< part of message_bytes sent to other (virtual) nodes
  double exchange_seconds = 0.0;   ///< in which a layout moved values between ranks
  double stall_seconds = 0.0;      ///< waiting for free memory in the ring to the servers
};

Work& operator+=(Work& a, const Work& b);
Work operator-(Work a, const Work& b);

/// What the caller of a File waits for.
enum class Phase {
  open,     ///< create the file
  define,   ///< write the header
  reserve,  ///< allocate disk space for the next record
  post,     ///< put: copy, send or write the values
  exchange, ///< layouts: move the values to the ranks that write them
  stall,    ///< async: wait for memory of the ring
  wait,     ///< finish what was posted (one wait_all per record)
  flush,    ///< library buffers to the operating system
  close,    ///< close in the library
  checksum, ///< sums and fingerprint for the manifest
  fsync,    ///< fsync of the file, rename, fsync of the folder: durable
};
constexpr std::size_t n_phases = 11;
constexpr std::array<const char*, n_phases> phase_names = {
    "open", "define", "reserve", "post",     "exchange", "stall",
    "wait", "flush",  "close",   "checksum", "fsync"};

/// Sums on one rank.
struct Statistics {
  struct Entry {
    double seconds = 0.0;
    std::int64_t bytes = 0;      ///< post: payload in the file's types
    std::int64_t operations = 0; ///< calls
  };
  std::array<Entry, n_phases> phases{};
  Work work; ///< of the format and the layout

  Entry& operator[](Phase phase) { return phases[static_cast<std::size_t>(phase)]; }
  const Entry& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
  Statistics& operator+=(const Statistics& other);
};

struct OverRanks {
  double min = 0.0, mean = 0.0, max = 0.0;
};
/// The spread of each of `numbers`, as many on every rank. Collective: two reductions.
std::vector<OverRanks> over_ranks(MPI_Comm comm, const std::vector<double>& numbers);

/// The statistics of all ranks: bytes and operations are summed.
struct Summary {
  struct Entry : OverRanks { ///< seconds
    std::int64_t bytes = 0, operations = 0;
  };
  std::array<Entry, n_phases> phases{};
  Work work; ///< the sum, without exchange_seconds: see the phase

  const Entry& operator[](Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

/// Collective (three reductions); the result is on every rank.
Summary summarize(MPI_Comm comm, const Statistics& statistics);

/// Reading: sums on one rank.
struct ReadStatistics {
  double open_seconds = 0.0;    ///< open, header, its broadcast
  double read_seconds = 0.0;    ///< in the library that reads values
  double scatter_seconds = 0.0; ///< serial, direct: messages, including waiting for them
  /// Bytes that libraries have read for this rank, in the types of the file.
  std::int64_t bytes = 0;
  std::int64_t operations = 0; ///< library calls that read values
  std::int64_t sent_bytes = 0; ///< serial, direct: values sent by this rank
  std::int64_t openers = 0;    ///< 1 if this rank opens the file, for its header or for values
};

/// Reading: minimum, mean and maximum of the seconds, sums of the rest, over all ranks.
struct ReadSummary {
  using Seconds = OverRanks;
  Seconds open, read, scatter;
  std::int64_t bytes = 0, operations = 0, sent_bytes = 0, openers = 0;
};

/// Collective (three reductions); the result is on every rank.
ReadSummary summarize(MPI_Comm comm, const ReadStatistics& statistics);

} // namespace nunatak::io
