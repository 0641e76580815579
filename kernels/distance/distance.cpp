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

std::string distance_solver_names(const std::string& separator) {
  std::string names;
  for (const DistanceSolver& solver : distance_solvers())
    names += (names.empty() ? "" : separator) + solver.name;
  return names;
}

std::string distance_solver_docs() {
  std::string docs;
  for (const DistanceSolver& solver : distance_solvers())
    docs += (docs.empty() ? "" : "; ") + solver.name + ": " + solver.doc;
  return docs;
}

const DistanceSolver& distance_solver(const std::string& name) {
  for (const DistanceSolver& solver : distance_solvers()) {
    if (solver.name == name) return solver;
  }
  throw std::invalid_argument("distance solver '" + name + "': expected one of " +
                              distance_solver_names(", "));
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
