// Distances by sweeps over levels (see distance.hpp): the reference solver.
//
//   level 1      level 2      level 3      Level n: every cell without a distance that has a
//   1 0 0        1 2 0        1 2 3        neighbour of distance n gets n + 1. There are as many
//   0 0 0        2 0 0        2 3 0        sweeps, exchanges, reductions as the largest distance.
#pragma once

#include "kernels/distance/types.hpp"

namespace nunatak {

inline DistanceReport sweep_distances(Ranks& ranks, const DistanceFields& fields,
                                      const DistanceMaxima& maxima) {
  const int locals = ranks.local_size();
  std::vector<std::vector<Ghosted>> ghosted(static_cast<std::size_t>(locals));
  for (const auto& field : fields) {
    for (const int r : ranks.locals()) ghosted[r].push_back(field[r]);
  }
  DistanceReport report;
  std::vector<char> changed(static_cast<std::size_t>(locals));
  for (int level = 1; report.rounds == 0 || anything_changed(ranks, changed, maxima, report);
       ++level) {
    ranks.update_ghosts(ghosted);
    report.rounds += 1;
    for (const int r : ranks.locals()) {
      const Patch p = ranks.patch(r);
      bool has_changed = false; // not changed[r]: a char might be any value of the loop
      ranks.work(r, p.cells() * static_cast<std::int64_t>(fields.size()), Work::sweep);
      for (const auto& field : fields) {
        const SharedArray2<int>& d = field[r];
        for (int j = 1; j <= p.ym; ++j) {
          for (int i = 1; i <= p.xm; ++i) {
            if (d(j, i) != 0) continue;
            if (d(j, i - 1) == level || d(j, i + 1) == level || d(j - 1, i) == level ||
                d(j + 1, i) == level) {
              d(j, i) = level + 1;
              has_changed = true;
            }
          }
        }
      }
      changed[r] = has_changed;
    }
  }
  return report;
}

inline SolveDistances make_sweep(Ranks& ranks, const DistanceOptions&) {
  return [&ranks](const DistanceProblem& problem) {
    return sweep_distances(ranks, problem.fields, problem.maxima);
  };
}

} // namespace nunatak
