// Limits of the put data that wait in memory, and of one library call; the same on all ranks.
//
// Copies take Options::buffer per rank on average, and no rank writes more than 1 GiB at a time,
// because MPI-IO and the libraries above it count in 32 bits. Larger hyperslabs are cut:
//
//   const std::size_t n = quota.begin(v, slab);
//   for (part = 0; part < n; ++part) {
//     if (quota.is_full()) write what waits, quota.clear();
//     queue part_of(slab, part, n), quota.add();
//   }
#pragma once

#include "io/pack.hpp"
#include "io/schema.hpp"

#include <mpi.h>

#include <cstdint>

namespace nunatak::io {

/// Bytes that wait, and their limit.
struct Waiting {
  std::int64_t limit;
  std::int64_t bytes = 0;

  /// The number of parts into which `more` bytes are cut, each within the limit.
  std::int64_t parts(std::int64_t more) const {
    return more <= limit ? 1 : (more + limit - 1) / limit;
  }
  bool has_room(std::int64_t more) const { return bytes + more <= limit; }
};

class Quota {
public:
  Quota(MPI_Comm comm, const Schema& schema, std::size_t buffer);

  /// Begin a put; returns the number of parts of the hyperslab. Collective: one reduction if the
  /// record of the variable is larger than 1 MiB.
  std::size_t begin(std::size_t v, const Hyperslab& slab);
  /// The next part does not fit with what waits.
  bool is_full() const;
  void add();
  void clear() { m_copied.bytes = m_most.bytes = m_whole = 0; }

  std::int64_t waiting() const { return m_whole; } ///< bytes, over all ranks

private:
  MPI_Comm m_comm;
  const Schema& m_schema;
  /// Copies, over all ranks; and what the rank with most hands over (an upper bound).
  Waiting m_copied, m_most;
  std::int64_t m_whole = 0; ///< bytes that wait, over all ranks
  std::int64_t m_part_copied = 0, m_part_most = 0, m_part_whole = 0; ///< of one part
};

} // namespace nunatak::io
