// The ranks that own cells of the domain, for the solvers that run on these only (buckets, gather,
// auto).
//
//   +---+---+---+      # domain: ranks 0, 1, 3 and 4 are members. The other ranks take no part but
//   in one gather, if the caller | ##|#  |   |      does not know the members, and in the reduction
//   of the maxima, if any are asked for.
//   +---+---+---+
//   | ##|## |   |
//   +---+---+---+
#pragma once

#include "kernels/distance/cost.hpp"
#include "kernels/distance/types.hpp"

#include <algorithm>

namespace nunatak {

class DistanceMembers {
public:
  /// `ranks` must outlive this object, which keeps the group of ranks between calls.
  explicit DistanceMembers(Ranks& ranks) : m_ranks(ranks) {}

  /// Finds the members of a problem; returns what the cost is made of.
  /// Communicates: one gather of the cells of the domain of each rank, if the problem has no
  /// members; and what Ranks::group needs if they are other ranks than those of the last call.
  /// invalid_argument if `members` has not an entry for each rank.
  DistanceCost find(const DistanceProblem& problem) {
    const Decomposition& d = m_ranks.decomposition();
    const std::vector<std::int64_t> cells =
        problem.members.empty() ? gather_cells(problem) : cells_of_patches(problem);
    std::vector<int> members;
    DistanceCost cost;
    for (int r = 0; r < d.size(); ++r) {
      if (cells[r] > 0) members.push_back(r);
      cost.cells += cells[r];
    }
    if (problem.cells > 0) cost.cells = problem.cells;
    cost.members = static_cast<int>(members.size());
    cost.patch = static_cast<double>(d.Mx) * d.My / d.size();
    if (m_group && m_group->members() == members) return cost;
    const bool take_part = std::any_of(members.begin(), members.end(), [&](int rank) {
      return rank >= m_ranks.first() && rank < m_ranks.first() + m_ranks.local_size();
    });
    m_group.reset();
    if (take_part) m_group = m_ranks.group(members);
    return cost;
  }

  /// The members as a group; null if no local rank is one.
  Group* group() { return m_group.get(); }

private:
  std::vector<std::int64_t> gather_cells(const DistanceProblem& problem) {
    std::vector<std::vector<std::int64_t>> mine;
    for (int r = 0; r < m_ranks.local_size(); ++r)
      mine.push_back({cells_of_domain(m_ranks, problem.fields, r)});
    return m_ranks.gather_all(
        mine, std::vector<int>(static_cast<std::size_t>(m_ranks.decomposition().size()), 1));
  }

  std::vector<std::int64_t> cells_of_patches(const DistanceProblem& problem) const {
    const Decomposition& d = m_ranks.decomposition();
    if (problem.members.size() != static_cast<std::size_t>(d.size())) {
      throw std::invalid_argument("distances: members: expected an entry for each of " +
                                  std::to_string(d.size()) + " ranks, found " +
                                  std::to_string(problem.members.size()));
    }
    std::vector<std::int64_t> cells;
    for (int r = 0; r < d.size(); ++r) cells.push_back(problem.members[r] ? d.patch(r).cells() : 0);
    return cells;
  }

  Ranks& m_ranks;
  std::unique_ptr<Group> m_group; // of the last call
};

/// The report of the members becomes that of all ranks: one max-reduction if maxima are asked for,
/// else nothing (ranks without cells of the domain may then know of no rounds). `gathered`: were
/// the distances found by `gather`, in place of another solver?
inline void share_report(Ranks& ranks, const DistanceMaxima& maxima, DistanceReport& report,
                         bool gathered = false) {
  if (maxima) {
    std::vector<std::vector<std::int64_t>> values;
    for (int r = 0; r < ranks.local_size(); ++r) {
      values.push_back(maxima(r));
      values.back().insert(values.back().end(), {report.rounds, gathered});
    }
    ranks.max(values);
    gathered = values[0].back() != 0;
    values[0].pop_back();
    report.rounds = static_cast<int>(values[0].back());
    values[0].pop_back();
    report.maxima = std::move(values[0]);
  }
  if (gathered) report.solver = "gather";
}

} // namespace nunatak
