// Distances along the grid: from each cell of a domain to the nearest seed, by steps to one of 4 neighbours inside the domain.
//
//   1 2 3 . 7      '.' is outside (-1); 1 is a seed; the 0 is part of the domain, but no seed reaches it.
//   . . 4 5 6      Reese et al. (2018), The Cryosphere 12, 1969, section 2: distance to the grounding line, to the front.
//   0 . . . .
//
// Several fields are solved together: one message per neighbour and round, whatever their number. A new solver is one file with a
// function like make_sweep() (sweep.hpp) and one row of the table below: options, help and tests read the table.
#pragma once

#include "kernels/distance/auto.hpp"
#include "kernels/distance/bfs.hpp"
#include "kernels/distance/buckets.hpp"
#include "kernels/distance/device/distance.hpp"
#include "kernels/distance/eikonal.hpp"
#include "kernels/distance/gather.hpp"
#include "kernels/distance/sweep.hpp"

namespace nunatak {

/// All solvers. Those that count steps give the same bits on any domain and decomposition.
inline const std::vector<DistanceSolver>& distance_solvers() {
  static const std::vector<DistanceSolver> all = {
      {"sweep", true, "one pass over the grid per level: the reference solver", make_sweep},
      {"bfs", true, "queue per patch, ghosts exchanged in rounds of all ranks, a reduction per round", make_bfs},
      {"buckets", true, "queue per patch, messages only where the domain continues and values have changed", make_buckets},
      {"gather", true, "domain gathered to one rank per field and searched there", make_gather},
      {"device", true, "tiles relaxed on the execution space (GPU)", make_device},
      {"auto", true, "buckets or gather, whichever costs less by a model of the machine", make_auto},
      {"fsm", false, "straight distance by the Eikonal equation, fast sweeping", make_fsm},
  };
  return all;
}

/// The names, with `separator` between them: "sweep|bfs|...".
inline std::string distance_solver_names(const std::string& separator) {
  std::string names;
  for (const DistanceSolver& solver : distance_solvers()) names += (names.empty() ? "" : separator) + solver.name;
  return names;
}

/// "sweep: ...; bfs: ...": the names and what the solvers do, for -help.
inline std::string distance_solver_docs() {
  std::string docs;
  for (const DistanceSolver& solver : distance_solvers()) docs += (docs.empty() ? "" : "; ") + solver.name + ": " + solver.doc;
  return docs;
}

/// An invalid_argument for a name that is not in the table.
inline const DistanceSolver& distance_solver(const std::string& name) {
  for (const DistanceSolver& solver : distance_solvers()) {
    if (solver.name == name) return solver;
  }
  throw std::invalid_argument("distance solver '" + name + "': expected one of " + distance_solver_names(", "));
}

class Distances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object. invalid_argument if an argument cannot be used.
  Distances(Ranks& ranks, const std::string& solver, const DistanceOptions& options = {}) : m_solver(solver) {
    const DistanceSolver& row = distance_solver(solver);
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("distances: expected a grid that is not periodic, found a periodic one");
    }
    if (options.guard < DistanceOptions::by_counts) {
      throw std::invalid_argument("distances: guard is " + std::to_string(options.guard) +
                                  ", expected -1, 0, or a number of rounds");
    }
    m_solve = row.make(ranks, options);
  }

  /// Fields are in host memory (device: in memory that loops reach), and are overwritten by the distances. Communicates what the
  /// file of the solver says. The report is the same on all ranks if there are maxima; else ranks without cells of the domain may
  /// know of no rounds.
  DistanceReport solve(const DistanceProblem& problem) {
    DistanceReport report = m_solve(problem);
    if (report.solver.empty()) report.solver = m_solver;
    return report;
  }

private:
  std::string m_solver;
  SolveDistances m_solve;
};

} // namespace nunatak
