#include "kernels/distance/distance.hpp"

#include "kernels/distance/bfs.hpp"
#include "kernels/distance/buckets.hpp"
#include "kernels/distance/eikonal.hpp"
#include "kernels/distance/sweep.hpp"

namespace nunatak {

const std::vector<DistanceSolver>& distance_solvers() {
  static const std::vector<DistanceSolver> all = {
      {"sweep", true, "one pass over the grid per level: the reference solver", make_sweep},
      {"bfs", true,
       "queue per patch, ghosts exchanged in rounds of all ranks, a reduction per round", make_bfs},
      {"buckets", true,
       "queue per patch, messages only where the domain continues and values have changed",
       make_buckets},
      {"fmm", false, "straight distance by the Eikonal equation, fast marching by buckets",
       make_fmm},
  };
  return all;
}

const DistanceSolver& distance_solver(const std::string& name) {
  return row_of(distance_solvers(), name, "distance solver");
}

Distances::Distances(Ranks& ranks, const std::string& solver, const DistanceOptions& options) {
  const DistanceSolver& row = distance_solver(solver);
  if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
    throw std::invalid_argument(
        "distances: expected a grid that is not periodic, found a periodic one");
  }
  m_solve = row.make(ranks, options);
}

DistanceReport Distances::solve(const DistanceProblem& problem) { return m_solve(problem); }

} // namespace nunatak
