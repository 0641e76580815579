// Distances along the grid: what a problem is made of, for all solvers (distance.hpp is the front door).
#pragma once

#include "kernels/grid/ranks.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

enum class DistanceSolver { sweep, bfs, buckets, gather, device, automatic, fsm };

/// All solvers and their names.
inline const std::vector<std::pair<DistanceSolver, std::string>>& distance_solvers() {
  using S = DistanceSolver;
  static const std::vector<std::pair<S, std::string>> all = {
      {S::sweep, "sweep"},   {S::bfs, "bfs"},        {S::buckets, "buckets"}, {S::gather, "gather"},
      {S::device, "device"}, {S::automatic, "auto"}, {S::fsm, "fsm"}};
  return all;
}

/// All but one count steps along the grid, and agree in every bit; `fsm` measures straight lines.
inline bool counts_steps(DistanceSolver solver) { return solver != DistanceSolver::fsm; }

inline const std::string& name_of(DistanceSolver solver) {
  for (const auto& [known, name] : distance_solvers()) {
    if (known == solver) return name;
  }
  throw std::logic_error("distance solver without a name");
}

/// An invalid_argument for a name that is not there.
inline DistanceSolver distance_solver(const std::string& name) {
  std::string expected;
  for (const auto& [solver, known] : distance_solvers()) {
    if (known == name) return solver;
    expected += (expected.empty() ? "" : ", ") + known;
  }
  throw std::invalid_argument("distance solver '" + name + "': expected one of " + expected);
}

/// Distance fields to be solved, each over all local ranks: field[f][local].
/// Before: seeds 1, other cells of the domain 0, cells outside -1, in owned cells. After: the distances in owned cells (seed 1,
/// its neighbour 2, ...), 0 where no seed reaches, -1 outside. Ghosts are work space.
using DistanceFields = std::vector<std::vector<Array2<int>>>;

/// Flat positions (j (xm + 2) + i) of the seeds: seeds[f][local]; what all solvers but `sweep` start from.
using DistanceSeeds = std::vector<std::vector<std::vector<int>>>;

/// Numbers of this local rank that are to be maximised over all ranks once the distances are final (sweep, bfs: in the same
/// collective that finds out that nothing changes any more). Equal sizes on all ranks.
using DistanceMaxima = std::function<std::vector<std::int64_t>(int local)>;

/// What is asked for.
struct DistanceProblem {
  DistanceFields fields;
  DistanceSeeds seeds = {};   ///< may be empty: they are then looked for
  DistanceMaxima maxima = {}; ///< may be empty
  /// Of each rank: does it own cells of the domain of any field? Empty if the caller does not know. The same on all ranks, as
  /// `cells`.
  std::vector<char> members = {};
  std::int64_t cells = 0; ///< of the domain, over all ranks; 0 if the caller does not know
};

struct DistanceReport {
  DistanceSolver solver = DistanceSolver::sweep; ///< who found the answer
  int rounds = 0;                                ///< of messages between neighbours
  std::vector<std::int64_t> maxima;              ///< of DistanceMaxima, over all ranks
};

/// Cells of the domains of all fields together, on one local rank.
inline std::int64_t cells_of_domain(const Ranks& ranks, const DistanceFields& fields, int local) {
  const Patch p = ranks.patch(local);
  std::int64_t cells = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      int outside = -1; // stays negative if it is in all fields
      for (const auto& field : fields) outside &= field[local](j, i);
      cells += outside >= 0;
    }
  }
  return cells;
}

/// Positions of the cells of value 1.
inline DistanceSeeds find_seeds(const Ranks& ranks, const DistanceFields& fields) {
  DistanceSeeds seeds(fields.size());
  for (std::size_t f = 0; f < fields.size(); ++f) {
    for (int r = 0; r < ranks.local_size(); ++r) {
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

/// One collective: the maxima of [changed, what `more` gives]. True if anything changed on any rank.
inline bool anything_changed(Ranks& ranks, const std::vector<char>& changed, const DistanceMaxima& more, DistanceReport& report) {
  std::vector<std::vector<std::int64_t>> values;
  for (std::size_t r = 0; r < changed.size(); ++r) {
    values.push_back(more ? more(static_cast<int>(r)) : std::vector<std::int64_t>{});
    values.back().push_back(changed[r]);
  }
  ranks.max(values);
  const bool any = values[0].back() != 0;
  values[0].pop_back();
  report.maxima = std::move(values[0]);
  return any;
}

} // namespace nunatak
