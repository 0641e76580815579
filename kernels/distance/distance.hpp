// Distances along the grid: from each cell of a domain to the nearest seed, by steps to one of 4
// neighbours inside the domain.
//
//   1 2 3 . 7      '.' is outside (-1), 1 is a seed; no seed reaches the 0, which is part of the
//   . . 4 5 6      domain. Reese et al. (2018), The Cryosphere 12, 1969, section 2: distances to
//   0 . . . .      the grounding line and to the front.
//
// Several fields are solved together: one message per neighbour and round, whatever their number. A
// new solver is one file with a function like make_sweep() (sweep.hpp) and one row of the table in
// distance.cpp; options, help and tests read the table.
#pragma once

#include "kernels/distance/types.hpp"

namespace nunatak {

/// All solvers. Those that count steps give the same bits on any domain and decomposition.
const std::vector<DistanceSolver>& distance_solvers();
/// The names, with `separator` between them: "sweep|bfs|...".
std::string distance_solver_names(const std::string& separator);
/// "sweep: ...; bfs: ...": the names and what the solvers do, for -help.
std::string distance_solver_docs();
/// An invalid_argument for a name that is not in the table.
const DistanceSolver& distance_solver(const std::string& name);

class Distances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object. invalid_argument if an
  /// argument cannot be used.
  Distances(Ranks& ranks, const std::string& solver, const DistanceOptions& options = {});

  /// Fields are in host memory (device: in memory that loops reach), and are overwritten by the
  /// distances. Communicates what the file of the solver says. The report is the same on all ranks
  /// if there are maxima; else ranks without cells of the domain may know of no rounds.
  DistanceReport solve(const DistanceProblem& problem);

private:
  SolveDistances m_solve;
};

} // namespace nunatak
