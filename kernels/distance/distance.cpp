// The solvers of distances, by name. See distance.hpp.
#include "kernels/distance/distance.hpp"

#include "kernels/distance/auto.hpp"
#include "kernels/distance/bfs.hpp"
#include "kernels/distance/buckets.hpp"
#include "kernels/distance/device/distance.hpp"
#include "kernels/distance/eikonal.hpp"
#include "kernels/distance/gather.hpp"
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
      {"gather", true, "domain gathered to one rank per field and searched there", make_gather},
      {"device", true, "tiles relaxed on the execution space (GPU)", make_device},
      {"auto", true, "buckets; after as many rounds as gather would cost, gather", make_auto},
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

Distances::Distances(Ranks& ranks, const std::string& solver, const DistanceOptions& options)
    : m_solver(solver) {
  const DistanceSolver& row = distance_solver(solver);
  if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
    throw std::invalid_argument(
        "distances: expected a grid that is not periodic, found a periodic one");
  }
  if (options.guard < DistanceOptions::by_counts) {
    throw std::invalid_argument("distances: guard is " + std::to_string(options.guard) +
                                ", expected -1, 0, or a number of rounds");
  }
  m_solve = row.make(ranks, options);
}

DistanceReport Distances::solve(const DistanceProblem& problem) {
  DistanceReport report = m_solve(problem);
  if (report.solver.empty()) report.solver = m_solver;
  return report;
}

} // namespace nunatak
