// Distances along the grid: what a problem is made of, for the two solvers (distance.hpp is the front door).
#pragma once

#include "kernels/ranks.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

enum class DistanceSolver { sweep, bfs };

/// "sweep", "bfs"; an invalid_argument for another name.
inline DistanceSolver distance_solver(const std::string& name) {
  if (name == "sweep") return DistanceSolver::sweep;
  if (name == "bfs") return DistanceSolver::bfs;
  throw std::invalid_argument("distance solver '" + name + "': expected sweep or bfs");
}

/// Distance fields to be solved, each over all local ranks: field[f][local].
/// Before: seeds 1, other cells of the domain 0, cells outside -1, in owned cells. After: the distances in owned cells (seed 1,
/// its neighbour 2, ...), 0 where no seed reaches, -1 outside. Ghosts are work space.
using DistanceFields = std::vector<std::vector<Array2<int>>>;

/// Flat positions (j (xm + 2) + i) of the seeds: seeds[f][local]; what `bfs` starts from.
using DistanceSeeds = std::vector<std::vector<std::vector<int>>>;

/// Numbers of this local rank that are to be maximised over all ranks once the distances are final, in the same collective
/// that finds out that nothing changes any more. Equal sizes on all ranks.
using DistanceMaxima = std::function<std::vector<std::int64_t>(int local)>;

struct DistanceReport {
  int rounds = 0;                   ///< of ghost exchange
  std::vector<std::int64_t> maxima; ///< of DistanceMaxima, over all ranks
};

/// One collective: the maxima of [changed, what `more` gives]. True if anything changed on any rank.
inline bool anything_changed(Ranks& ranks, const std::vector<char>& changed, const DistanceMaxima& more, DistanceReport& report) {
  std::vector<std::vector<std::int64_t>> values;
  for (std::size_t r = 0; r < changed.size(); ++r) {
    values.push_back(more ? more(static_cast<int>(r)) : std::vector<std::int64_t>{});
    values.back().push_back(changed[r]);
  }
  ranks.max(values);
  const bool any = values[0].back() != 0;
  values[0].pop_back();
  report.maxima = std::move(values[0]);
  return any;
}

} // namespace nunatak
