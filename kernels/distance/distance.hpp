// Distances along the grid to the nearest seed, in steps between 4-neighbours inside a domain.
//
//   1 2 3 . 7      '.' is outside (-1), 1 is a seed; no seed reaches the 0, which is part of the
//   . . 4 5 6      domain. Reese et al. (2018), The Cryosphere 12, 1969, section 2: distances to
//   0 . . . .      the grounding line and to the front.
//
// Several fields are solved together with one message per neighbour and round. A new solver is one
// file with a function like make_sweep() (sweep.hpp) and one row of the table in distance.cpp, from
// which options, help and tests are made.
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/grid/choices.hpp"

namespace nunatak {

/// All solvers. Those that count steps give the same bits on any decomposition.
const std::vector<DistanceSolver>& distance_solvers();
/// Throws invalid_argument if the table has no such name.
const DistanceSolver& distance_solver(const std::string& name);

class Distances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object. Throws invalid_argument.
  Distances(Ranks& ranks, const std::string& solver, const DistanceOptions& options = {});

  /// Replaces the fields by the distances, on the host.
  /// Communication: see the file of the solver. The report is the same on all ranks if there are
  /// maxima; otherwise ranks without cells of the domain may report no rounds.
  DistanceReport solve(const DistanceProblem& problem);

private:
  SolveDistances m_solve;
};

} // namespace nunatak
