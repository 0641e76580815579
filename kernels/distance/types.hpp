// Distances along the grid: problem, report and solver (distance.hpp has the table of solvers).
#pragma once

#include "kernels/grid/ranks.hpp"

#include <functional>
#include <string>
#include <vector>

namespace nunatak {

/// Distance fields on all local ranks: field[f][local]. On entry: seeds 1, other cells of the
/// domain 0, cells outside -1, in owned cells. On return: distances in owned cells (seed 1, its
/// neighbour 2, ...), 0 where no seed reaches, -1 outside. Ghosts are work space.
using DistanceFields = std::vector<std::vector<SharedArray2<int>>>;

/// Flat positions (j (xm + 2) + i) of the seeds, for bfs and buckets: seeds[f][local].
using DistanceSeeds = std::vector<std::vector<std::vector<int>>>;

/// Values of a local rank to be maximised over all ranks once the distances are final, in the
/// reduction that detects the end; may also be called earlier. Equal sizes on all ranks.
using DistanceMaxima = std::function<std::vector<std::int64_t>(int local)>;

struct DistanceProblem {
  DistanceFields fields;
  DistanceSeeds seeds = {};   ///< may be empty: then found in the fields if needed
  DistanceMaxima maxima = {}; ///< may be empty
  /// members[rank] != 0: the rank owns cells of the domain. The same on all ranks; may be empty.
  std::vector<char> members = {};
};

struct DistanceReport {
  int rounds = 0;                   ///< message rounds between neighbours
  std::vector<std::int64_t> maxima; ///< of DistanceMaxima, over all ranks
};

/// Options of fmm, in m.
struct DistanceOptions {
  double dx = 1.0; ///< cell size
  double dy = 1.0;
  double unit = 0.0; ///< unit of the distances; 0: dx
};

/// Solves successive problems on the same ranks.
using SolveDistances = std::function<DistanceReport(const DistanceProblem& problem)>;

/// A solver: a row of the table in distance.cpp.
struct DistanceSolver {
  std::string name;
  bool counts_steps; ///< along the grid: such solvers agree bitwise
  std::string doc;   ///< description for -help: begins with a noun
  /// `ranks` must outlive the result.
  SolveDistances (*make)(Ranks& ranks, const DistanceOptions& options);
};

/// Cells of the domains of all fields on one local rank.
inline std::int64_t cells_of_domain(const Ranks& ranks, const DistanceFields& fields, int local) {
  const Patch p = ranks.patch(local);
  std::int64_t cells = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      int outside = -1; // negative if the cell is outside in all fields
      for (const auto& field : fields) outside &= field[local](j, i);
      cells += outside >= 0;
    }
  }
  return cells;
}

/// Positions of the cells of value 1.
inline DistanceSeeds find_seeds(Ranks& ranks, const DistanceFields& fields) {
  DistanceSeeds seeds(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (const int r : ranks.locals()) {
      seeds[f].emplace_back();
      const Patch p = ranks.patch(r);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          if (fields[f][r](j, i) == 1) seeds[f].back().push_back(j * (p.xm + 2) + i);
        }
      }
    }
  }
  return seeds;
}

/// The seeds of the problem, or those of its fields, stored in `found`.
inline const DistanceSeeds& seeds_of(Ranks& ranks, const DistanceProblem& problem,
                                     DistanceSeeds& found) {
  return problem.seeds.empty() ? found = find_seeds(ranks, problem.fields) : problem.seeds;
}

/// One reduction: the maxima over all ranks of more(), for the report, and of `values`, returned.
template <class T>
std::int64_t largest_of(Ranks& ranks, const std::vector<T>& values, const DistanceMaxima& more,
                        DistanceReport& report) {
  std::vector<std::vector<std::int64_t>> all;
  for (const int r : ranks.locals()) {
    all.push_back(more ? more(r) : std::vector<std::int64_t>{});
    all.back().push_back(values[r]);
  }
  ranks.max(all);
  const std::int64_t largest = all[0].back();
  all[0].pop_back();
  report.maxima = std::move(all[0]);
  return largest;
}

/// The same: true if anything changed on any rank.
inline bool anything_changed(Ranks& ranks, const std::vector<char>& changed,
                             const DistanceMaxima& more, DistanceReport& report) {
  return largest_of(ranks, changed, more, report) != 0;
}

} // namespace nunatak
