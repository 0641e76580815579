// Distances by breadth-first search with rounds of ghost exchanges (see distance.hpp): the method
// of PISM since 2025, without its bound on path length.
//
//  patch 0     | patch 1      1. Each patch searches from its own seeds, with a queue.
//  1 2 3 4     | 0 0 0        2. Ghosts are exchanged. A cell next to a ghost of value v is
//            4 > 5               offered v + 1; better offers are accepted, and the search goes on
//  5 < 6 . . . | 6 . .           from them, smallest first.
//                             3. A reduction finds whether anything has changed on any rank; if so,
//                                step 2 is repeated.
//
// A path that crosses subdomain boundaries n times needs n rounds, and one more to detect the end.
// Every value is the length of a path, values only decrease, and where no offer is better they are
// the distances: the result does not depend on the order of events or on the decomposition.
#pragma once

#include "kernels/distance/wave.hpp"

namespace nunatak {

/// Offers of the ghosts of d, the field of `wave`, to adjacent cells. Returns the number of ghosts.
inline std::int64_t collect_offers(const Patch& p, const int* d, PatchWave& wave) {
  const int row = p.xm + 2;
  const auto offer = [&](int ghost, int cell) {
    if (d[ghost] > 0) wave.offer(d[ghost] + 1, cell);
  };
  for (int i = 1; i <= p.xm; ++i) {
    offer(i, row + i);
    offer((p.ym + 1) * row + i, p.ym * row + i);
  }
  for (int j = 1; j <= p.ym; ++j) {
    offer(j * row, j * row + 1);
    offer(j * row + p.xm + 1, j * row + p.xm);
  }
  return 2 * (static_cast<std::int64_t>(p.xm) + p.ym);
}

inline DistanceReport bfs_distances(Ranks& ranks, const DistanceFields& fields,
                                    const DistanceSeeds& seeds, const DistanceMaxima& maxima) {
  // lab 2 begin: a wave in each patch, then rounds | stub: throw "lab 2: not written yet";
  const int locals = ranks.local_size();
  std::vector<std::vector<Ghosted>> ghosted(static_cast<std::size_t>(locals));
  std::vector<std::vector<PatchWave>> waves(static_cast<std::size_t>(locals));
  for (const int r : ranks.locals()) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      ghosted[r].push_back(fields[f][r]);
      waves[r].emplace_back(ranks.patch(r), fields[f][r].data());
      ranks.work(r, waves[r].back().from_seeds(seeds[f][r]), Work::bfs);
    }
  }
  DistanceReport report;
  std::vector<char> changed(static_cast<std::size_t>(locals), 0);
  do {
    if (ranks.decomposition().size() == 1)
      continue; // there are no ghosts: only the maxima are asked for
    ranks.update_ghosts(ghosted);
    report.rounds += 1;
    for (const int r : ranks.locals()) {
      changed[r] = 0;
      for (PatchWave& wave : waves[r]) {
        std::int64_t visits = collect_offers(ranks.patch(r), wave.d(), wave);
        if (wave.has_offers()) changed[r] = 1;
        wave.close_ghosts();
        visits += wave.from_offers();
        ranks.work(r, visits, Work::bfs);
      }
    }
  } while (anything_changed(ranks, changed, maxima, report));
  return report;
  // lab 2 end
}

inline SolveDistances make_bfs(Ranks& ranks, const DistanceOptions&) {
  return [&ranks](const DistanceProblem& problem) {
    DistanceSeeds found;
    return bfs_distances(ranks, problem.fields, seeds_of(ranks, problem, found), problem.maxima);
  };
}

} // namespace nunatak
