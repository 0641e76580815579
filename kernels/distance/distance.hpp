// Distances along the grid: from each cell of a domain to the nearest seed, by steps to one of 4 neighbours inside the domain.
//
//   1 2 3 . 7      '.' is outside (-1); 1 is a seed; the 0 is part of the domain, but no seed reaches it.
//   . . 4 5 6      Reese et al. (2018), The Cryosphere 12, 1969, section 2: distance to the grounding line, to the front.
//   0 . . . .
//
// Solvers, the same bits on any domain and decomposition:
//   sweep     distance/sweep.hpp     over the grid once per level; twenty lines, tells right from wrong
//   bfs       distance/bfs.hpp       a queue per patch, rounds of ghosts on all ranks, a reduction per round
//   buckets   distance/buckets.hpp   messages only where the domain continues, of what has changed; nobody waits for reductions
//   gather    distance/gather.hpp    the domain to few ranks, solved there
//   device    distance/device/distance.hpp    tiles on the execution space
//   auto      buckets or gather, or buckets until gather would have cost less (distance/cost.hpp)
// And one of another kind: fsm (eikonal.hpp), the straight distance in metres, given in cells.
// Several fields are solved together: one message per neighbour and round, whatever their number.
#pragma once

#include "kernels/distance/bfs.hpp"
#include "kernels/distance/buckets.hpp"
#include "kernels/distance/device/distance.hpp"
#include "kernels/distance/eikonal.hpp"
#include "kernels/distance/gather.hpp"
#include "kernels/distance/sweep.hpp"

namespace nunatak {

struct DistanceOptions {
  static constexpr int by_model = -1;
  LogGP machine = {};   ///< lags and `auto` are chosen for it
  int guard = by_model; ///< `auto` gives up buckets after so many rounds; 0: never
  double dx = 1.0;      ///< of a cell, m: for fsm
  double dy = 1.0;
};

class Distances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object, which keeps the group of ranks between calls.
  Distances(Ranks& ranks, DistanceSolver solver, const DistanceOptions& options = {})
      : m_ranks(ranks), m_solver(solver), m_options(options) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument("distances: expected a grid that is not periodic, found a periodic one");
    }
    if (options.guard < DistanceOptions::by_model) {
      throw std::invalid_argument("distances: guard is " + std::to_string(options.guard) +
                                  ", expected -1, 0, or a number of rounds");
    }
  }

  /// Host memory. Communicates: sweep, bfs: per round one ghost exchange and one maximum. device, fsm: see there. buckets,
  /// gather, auto: see there; one gather if the members are not known, one maximum if there are maxima. The report is the same
  /// on all ranks if there are maxima; else ranks without cells of the domain may know of no rounds.
  DistanceReport solve(const DistanceProblem& problem) {
    DistanceReport report;
    switch (m_solver) {
    case DistanceSolver::sweep:
      report = sweep_distances(m_ranks, problem.fields, problem.maxima);
      break;
    case DistanceSolver::bfs:
      report = bfs_distances(m_ranks, problem.fields, seeds_of(problem), problem.maxima);
      break;
    case DistanceSolver::device:
      report = device_distances(m_ranks, problem.fields, problem.maxima);
      break;
    case DistanceSolver::fsm:
      report = eikonal_distances(m_ranks, m_options.dx, m_options.dy, problem);
      break;
    case DistanceSolver::buckets:
    case DistanceSolver::gather:
    case DistanceSolver::automatic:
      return among_members(problem);
    }
    report.solver = m_solver;
    return report;
  }

private:
  const DistanceSeeds& seeds_of(const DistanceProblem& problem) {
    if (!problem.seeds.empty()) return problem.seeds;
    return m_seeds = find_seeds(m_ranks, problem.fields);
  }

  DistanceReport among_members(const DistanceProblem& problem) {
    const DistanceCost cost = find_members(problem);
    const int fields = static_cast<int>(problem.fields.size());
    const bool automatic = m_solver == DistanceSolver::automatic, by_model = m_options.guard == DistanceOptions::by_model;
    DistanceReport report;
    report.solver = m_solver;
    if (automatic) {
      const bool gather = by_model && cost.gather(fields) < cost.fewest_rounds(fields);
      report.solver = gather ? DistanceSolver::gather : DistanceSolver::buckets;
    }
    if (m_takes_part && report.solver == DistanceSolver::buckets) {
      const int guard = !automatic ? 0 : by_model ? cost.guard(fields) : m_options.guard;
      BucketDistances buckets(m_ranks, *m_members, cost.lag(), guard);
      if (!buckets.solve(problem.fields, seeds_of(problem))) report.solver = DistanceSolver::gather;
      report.rounds = buckets.rounds();
    }
    if (m_takes_part && report.solver == DistanceSolver::gather) gather_distances(m_ranks, *m_members, problem);
    if (problem.maxima) agree(problem.maxima, report);
    return report;
  }

  /// Who owns cells of the domain: as told, or by one gather of their numbers.
  DistanceCost find_members(const DistanceProblem& problem) {
    DistanceCost cost{m_options.machine};
    std::vector<std::int64_t> cells;
    if (problem.members.empty()) {
      std::vector<std::vector<std::int64_t>> mine;
      for (int r = 0; r < m_ranks.local_size(); ++r) mine.push_back({cells_of_domain(m_ranks, problem.fields, r)});
      cells = m_ranks.gather_all(mine, std::vector<int>(static_cast<std::size_t>(m_ranks.decomposition().size()), 1));
    } else {
      if (problem.members.size() != static_cast<std::size_t>(m_ranks.decomposition().size())) {
        throw std::invalid_argument("distances: members: expected an entry for each of " +
                                    std::to_string(m_ranks.decomposition().size()) + " ranks, found " +
                                    std::to_string(problem.members.size()));
      }
      for (int r = 0; r < m_ranks.decomposition().size(); ++r)
        cells.push_back(problem.members[r] ? m_ranks.decomposition().patch(r).cells() : 0);
    }
    std::vector<int> members;
    for (int r = 0; r < m_ranks.decomposition().size(); ++r) {
      if (cells[r] > 0) members.push_back(r);
      cost.cells += cells[r];
    }
    if (problem.cells > 0) cost.cells = problem.cells;
    cost.members = static_cast<int>(members.size());
    cost.patch = static_cast<double>(m_ranks.decomposition().Mx) * m_ranks.decomposition().My / m_ranks.decomposition().size();
    if (m_members && m_members->members() == members) return cost;
    m_takes_part = std::any_of(members.begin(), members.end(), [&](int rank) {
      return rank >= m_ranks.first() && rank < m_ranks.first() + m_ranks.local_size();
    });
    m_members.reset();
    if (m_takes_part) m_members = m_ranks.group(members);
    return cost;
  }

  /// One maximum over all ranks: what the caller wants, who solved, rounds.
  void agree(const DistanceMaxima& maxima, DistanceReport& report) {
    std::vector<std::vector<std::int64_t>> values;
    for (int r = 0; r < m_ranks.local_size(); ++r) {
      values.push_back(maxima(r));
      values.back().push_back(report.rounds);
      values.back().push_back(static_cast<std::int64_t>(report.solver));
    }
    m_ranks.max(values);
    report.solver = static_cast<DistanceSolver>(values[0].back());
    values[0].pop_back();
    report.rounds = static_cast<int>(values[0].back());
    values[0].pop_back();
    report.maxima = std::move(values[0]);
  }

  Ranks& m_ranks;
  DistanceSolver m_solver;
  DistanceOptions m_options;
  std::unique_ptr<Group> m_members; // of the last call; empty where no local rank is a member
  bool m_takes_part = false;
  DistanceSeeds m_seeds; // where the caller does not know them
};

} // namespace nunatak
