// Messages whose sizes both sides know, and the boxes of all ranks.
#pragma once

#include "io/box.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nunatak::io {

struct Message {
  int rank = 0; ///< of the other side
  std::byte* data = nullptr;
  std::size_t size = 0; ///< bytes, known to both sides
};

/// Receive and send all; at most one message to and from each rank, none to itself, none of size 0.
/// A message above `largest` bytes is sent in parts. Returns the number of messages sent.
/// Nonblocking point to point; returns when all are complete.
std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends,
                      std::size_t largest = std::size_t{1} << 30);

/// The boxes of all ranks, by rank. `mine`: of this rank, or nothing; `dimensions` of each box,
/// present or not: the same on every rank. Collective: one gather, to `root` alone (the result is
/// then empty elsewhere) or to all.
std::vector<std::vector<std::optional<Box>>>
gather_boxes(MPI_Comm comm, const std::vector<std::optional<Box>>& mine,
             const std::vector<std::size_t>& dimensions, int root = -1);

} // namespace nunatak::io
