// Distances along the grid: from each cell of a domain to the nearest seed, by steps to one of 4 neighbours inside the domain.
//
//   1 2 3 . 7      '.' is outside (-1); 1 is a seed; the 0 is part of the domain, but no seed reaches it.
//   . . 4 5 6      Reese et al. (2018), The Cryosphere 12, 1969, section 2: distance to the grounding line, to the front.
//   0 . . . .
//
// Two solvers, the same bits on any domain and decomposition: `sweep` (distance_sweep.hpp) goes over the grid once per level,
// is twenty lines long, and tells right from wrong; `bfs` (distance_bfs.hpp) visits a cell once per round of ghosts.
// Several fields are solved together: one message per neighbour and round, whatever their number.
#pragma once

#include "kernels/distance_bfs.hpp"
#include "kernels/distance_sweep.hpp"

namespace nunatak {

class Distances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object, which keeps its work space between calls.
  Distances(Ranks& ranks, DistanceSolver solver) : m_ranks(ranks), m_solver(solver) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("distances: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Host memory. Communicates: per round one ghost exchange; per check one maximum (sweep: every round; bfs: after 4, 8, 16, ...
  /// rounds).
  DistanceReport solve(const DistanceProblem& problem) {
    DistanceReport report =
        m_solver == DistanceSolver::sweep
            ? sweep_distances(m_ranks, problem.fields, problem.maxima)
            : bfs_distances(m_ranks, problem.fields, problem.seeds.empty() ? find_seeds(m_ranks, problem.fields) : problem.seeds,
                            problem.maxima);
    report.solver = m_solver;
    return report;
  }

private:
  Ranks& m_ranks;
  DistanceSolver m_solver;
};

} // namespace nunatak
