// Which part of which rank's values is sent to which aggregator, and the messages that carry them.
//
//   boxes of ranks 0, 1 | 2, 3     slabs of aggregators 0, 2        messages
//     0 0 1 1                         0 0 0 0
//     0 0 1 1                         0 0 0 0                        1 -> 0, 3 -> 2
//     2 2 3 3                         2 2 2 2                        (copied: 0 -> 0, 2 -> 2)
//     2 2 3 3                         2 2 2 2
//
// A round is what is moved at once: puts, each a box of one variable and record on every rank.
// make_plan() needs no MPI: one process can compute the plan of any rank.
#pragma once

#include "io/layouts/partition.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nunatak::io {

/// The puts of a round. Those of the same variable and record form a group; all ranks know this.
struct Round {
  std::vector<std::size_t> groups; ///< of each put; numbered from 0 in order of appearance
  std::vector<Type> types;         ///< of each group
  std::vector<Boxes> boxes;        ///< of each group, by aggregator
  /// By rank and put; nullopt where the rank has no values.
  std::vector<std::vector<std::optional<Box>>> given{};
};

struct Transfer {
  std::size_t put = 0, target = 0; ///< target: index in Plan::targets of the receiver
  Box box;
  std::size_t offset = 0; ///< in the message, bytes
};

/// Bytes of a part in a message: whole multiples of the largest element.
inline std::size_t message_bytes(const Box& part, Type type) {
  return (part.elements() * bytes_of(type) + 7) / 8 * 8;
}

/// One message: the transfers by put, then by box of the aggregator, of message_bytes() each.
struct Channel {
  int rank = 0; ///< of the other side
  std::vector<Transfer> transfers;
  std::size_t bytes = 0;
};

/// What an aggregator writes with one call.
struct Target {
  std::size_t group = 0;
  Box box;
  std::size_t offset = 0; ///< in its buffer, bytes
};

struct Plan {
  std::vector<Channel> sends;    ///< by aggregator, none to itself
  std::vector<Channel> receives; ///< by rank; what the rank has itself is copied, not sent
  /// By group: the boxes of this aggregator that are fully covered; of others the parts put.
  std::vector<Target> targets;
  std::size_t target_bytes = 0;
};

/// `aggregators`: their ranks, ascending.
Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round);

struct Message {
  int rank = 0; ///< of the other side
  std::byte* data = nullptr;
  std::size_t size = 0; ///< bytes, known to both sides
};

/// Open MPI sends over TCP up to 64 KiB without asking the receiver first. The answers to larger
/// messages would wait behind the values that go the same way, while cards rest.
constexpr std::size_t largest_part = 60 << 10;

/// Receive and send all; at most one message to and from each rank, none to itself, none of size 0.
/// A message above `largest` bytes is sent in parts. Returns the number of messages sent.
/// Nonblocking point to point; returns when all are complete.
std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, std::size_t largest = largest_part);

/// The boxes of all ranks, by rank. `mine`: of this rank, or nothing; `dimensions` of each box,
/// present or not: the same on every rank. Collective: one gather to all.
std::vector<std::vector<std::optional<Box>>>
gather_boxes(MPI_Comm comm, const std::vector<std::optional<Box>>& mine,
             const std::vector<std::size_t>& dimensions);

} // namespace nunatak::io
