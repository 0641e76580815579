// Which ranks share a node, and which of them aggregate.
//
//   8 ranks, 4 per (virtual) node, 2 aggregators per node:
//
//   node 0: [0] 1 [2] 3    node 1: [4] 5 [6] 7
//
// Virtual nodes (-io_ranks_per_node) are runs of consecutive ranks, as most batch systems place
// them: one machine can emulate several nodes. Used by the layouts, and for fsync on every node.
#pragma once

#include <mpi.h>

#include <vector>

namespace nunatak::io {

struct Topology {
  std::vector<int> node_of; ///< of each rank; nodes are numbered in the order of their lowest ranks
  int n_nodes = 0;

  /// The lowest rank of its node.
  bool is_first(int rank) const;
  /// The ranks of each node, ascending.
  std::vector<std::vector<int>> ranks_by_node() const;
};

/// Nodes of `per_node` consecutive ranks.
Topology runs_of_nodes(int ranks, int per_node);

/// Collective. `ranks_per_node` 0: the nodes of the machine (MPI_COMM_TYPE_SHARED).
Topology make_topology(MPI_Comm comm, int ranks_per_node);

/// Ranks, ascending: `per_node` of each node (all if it has fewer), evenly spaced.
std::vector<int> aggregators(const Topology& topology, int per_node);

} // namespace nunatak::io
