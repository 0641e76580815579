// Messages whose sizes both sides know (remap.cpp), and the boxes of all ranks (also
// formats/serial.cpp and read/direct.cpp).
#pragma once

#include "io/layouts/box.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nunatak::io {

struct Message {
  int rank = 0; ///< the other one
  std::byte* data = nullptr;
  std::size_t size = 0; ///< bytes, as both sides know them
};

/// Receive and send all; at most one message to and from each rank, none to itself, none of size 0.
/// A message above `largest` bytes goes in several. Returns how many were sent. Point to point and
/// nonblocking; returns when all are done.
std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends,
                      std::size_t largest = std::size_t{1} << 30);

/// The boxes of all ranks, by rank. `mine`: of this rank, or nothing; `dimensions` of each, also of
/// those that are not there: as many, and the same, on every rank. Collective: one gather, to
/// `root` alone (then the result is empty elsewhere) or to all.
std::vector<std::vector<std::optional<Box>>>
gather_boxes(MPI_Comm comm, const std::vector<std::optional<Box>>& mine,
             const std::vector<std::size_t>& dimensions, int root = -1);

} // namespace nunatak::io
