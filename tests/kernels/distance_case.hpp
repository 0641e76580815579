// All solvers of distances on grids; see distance_grids.hpp for the problems.
#pragma once

#include "kernels/distance/distance.hpp"
#include "tests/kernels/distance_grids.hpp"

#include <algorithm>
#include <array>

namespace nunatak {

inline DistanceReport solve(Ranks& ranks, const std::string& solver, std::vector<Grid<int>>& grids,
                            const DistanceOptions& options = {}) {
  DistanceFields fields;
  for (const auto& grid : grids) fields.push_back(scatter(ranks, grid));
  const DistanceReport report = Distances(ranks, solver, options).solve({fields});
  for (std::size_t f = 0; f < grids.size(); ++f) grids[f] = gather(ranks, fields[f]);
  return report;
}

} // namespace nunatak
