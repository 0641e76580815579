#include "io/base/topology.hpp"

#include "io/base/agree.hpp"

#include <algorithm>
#include <map>

namespace nunatak::io {

bool Topology::is_first(int rank) const {
  return std::find(node_of.begin(), node_of.end(), node_of[static_cast<std::size_t>(rank)]) -
             node_of.begin() ==
         rank;
}

std::vector<std::vector<int>> Topology::ranks_by_node() const {
  std::vector<std::vector<int>> ranks(static_cast<std::size_t>(n_nodes));
  for (std::size_t r = 0; r < node_of.size(); ++r)
    ranks[static_cast<std::size_t>(node_of[r])].push_back(static_cast<int>(r));
  return ranks;
}

Topology runs_of_nodes(int ranks, int per_node) {
  Topology topology;
  for (int r = 0; r < ranks; ++r) topology.node_of.push_back(r / per_node);
  topology.n_nodes = (ranks - 1) / per_node + 1;
  return topology;
}

Topology make_topology(MPI_Comm comm, int ranks_per_node) {
  const int rank = rank_in(comm), size = size_of(comm);
  if (ranks_per_node > 0) return runs_of_nodes(size, ranks_per_node);
  Topology topology;
  topology.node_of.resize(static_cast<std::size_t>(size));
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  int leader = rank; // lowest rank of this rank's node
  MPI_Bcast(&leader, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Allgather(&leader, 1, MPI_INT, topology.node_of.data(), 1, MPI_INT, comm);
  std::map<int, int> number;
  for (int& of_rank : topology.node_of)
    of_rank = number.emplace(of_rank, static_cast<int>(number.size())).first->second;
  topology.n_nodes = static_cast<int>(number.size());
  return topology;
}

std::vector<int> aggregators(const Topology& topology, int per_node) {
  std::vector<int> chosen;
  for (const auto& of_node : topology.ranks_by_node()) {
    const std::size_t n = std::min(static_cast<std::size_t>(per_node), of_node.size());
    for (std::size_t a = 0; a < n; ++a) chosen.push_back(of_node[a * of_node.size() / n]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

} // namespace nunatak::io
