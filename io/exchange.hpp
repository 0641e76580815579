// Messages between ranks whose sizes both sides know. Used by remap.cpp.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nunatak::io {

struct Message {
  int rank = 0; ///< the other one
  std::byte* data = nullptr;
  std::size_t size = 0;
};

/// Receive and send all; at most one message to and from each rank, none to itself, none of size 0. A message above `largest`
/// bytes goes in several. Returns how many were sent. Point to point and nonblocking; returns when all are done.
std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives, const std::vector<Message>& sends,
                      std::size_t largest = std::size_t{1} << 30);

} // namespace nunatak::io
