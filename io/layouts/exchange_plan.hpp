// Which part of which rank's values is sent to which aggregator, computed from the boxes of all
// ranks. No MPI: one process can compute the plan of any rank.
//
//   boxes of ranks 0, 1 | 2, 3     slabs of aggregators 0, 2        messages
//     0 0 1 1                         0 0 0 0
//     0 0 1 1                         0 0 0 0                        1 -> 0, 3 -> 2
//     2 2 3 3                         2 2 2 2                        (copied: 0 -> 0, 2 -> 2)
//     2 2 3 3                         2 2 2 2
//
// A round is what is moved at once: puts, each a box of one variable and record on every rank.
#pragma once

#include "io/layouts/partition.hpp"

#include <cstddef>
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

/// One message: the transfers by put, then by box of the aggregator, aligned to 8 bytes.
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
  std::vector<Channel> sends, receives; ///< in the order of aggregators, of ranks; none to itself
  std::vector<Transfer> own;            ///< from the rank's boxes to its own targets
  /// By group: the boxes of this aggregator that are fully covered; of others the parts put.
  std::vector<Target> targets;
  std::size_t target_bytes = 0;
};

/// `aggregators`: their ranks, ascending.
Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round);

} // namespace nunatak::io
