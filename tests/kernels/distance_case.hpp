// All solvers of distances on grids; see distance_grids.hpp for the problems.
#pragma once

#include "kernels/distance/distance.hpp"
#include "tests/kernels/distance_grids.hpp"

#include <catch2/catch_test_macros.hpp>

namespace nunatak {

/// CHECK that the named solvers find what a search of the whole grid finds, on px x py ranks.
inline void check_solvers(const std::vector<std::string>& names,
                          const std::vector<Grid<int>>& start, int px, int py) {
  INFO(start[0].Mx << " x " << start[0].My << " cells on " << px << " x " << py);
  VirtualRanks ranks(Decomposition::make(start[0].Mx, start[0].My, px, py));
  for (const std::string& name : names) {
    INFO(name);
    DistanceFields fields;
    for (const Grid<int>& grid : start) fields.push_back(scatter(ranks, grid));
    Distances(ranks, name).solve({fields});
    for (std::size_t f = 0; f < start.size(); ++f)
      CHECK(gather(ranks, fields[f]) == search(start[f]));
  }
}

/// The same on every decomposition.
inline void check_solvers(const std::vector<std::string>& names,
                          const std::vector<Grid<int>>& start) {
  for (const auto& [px, py] : decompositions(start[0].Mx, start[0].My))
    check_solvers(names, start, px, py);
}

/// All solvers that count steps.
inline std::vector<std::string> step_counters() {
  std::vector<std::string> names;
  for (const DistanceSolver& solver : distance_solvers()) {
    if (solver.counts_steps) names.push_back(solver.name);
  }
  return names;
}

/// Fields of one domain: few seeds, many, none.
inline std::vector<Grid<int>> three_fields(const Grid<int>& mask, unsigned few = 50,
                                           unsigned many = 5) {
  return {with_seeds(mask, few, 1), with_seeds(mask, many, 2), with_seeds(mask, 0, 3)};
}

} // namespace nunatak
