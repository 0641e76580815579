// Distances by bucket queues on patches that send to few neighbours (see distance.hpp).
//
//   +------+------+------+    1. Each patch runs a wave from its own seeds (wave.hpp).
//   |  ....|......|      |    2. Neighbouring patches send each other the cells along their
//   |    . * | *  ..|      |       boundary (boundary.hpp). From then on only patches whose domains
//   +------+------+------+       touch (*) exchange messages, and only of values that improved.
//   |      |      |  ....|    3. Rounds: read the messages, run a wave from what they offer, write
//   +------+------+------+       the next messages.
//
// The members are the ranks that own cells of the domain (.); other ranks take no part in the
// rounds. A message holds all fields.
//
// Termination: after round s a non-blocking maximum is started among the members (1 if a member has
// a message to send); its result is read after round s + lag. If it is 0, no message was in flight,
// and nothing has changed since. The lag is about the duration of a reduction. Values only
// decrease, and where no offer is better they are the distances: the same bits for any order of
// events.
//
// Communicates, among the members: per round one message to each of up to four neighbours, every
// `lag` rounds one non-blocking reduction; nothing if there is at most one member. Among all ranks:
// one maximum if the problem does not list the members, and the maxima if wanted.
#pragma once

#include "kernels/distance/boundary.hpp"

#include <memory>

namespace nunatak {

/// Rounds after which a maximum over `members` ranks is read, at least 1: a reduction step takes
/// half a round, since a rank has one message in it instead of four.
inline int lag_of(std::size_t members) {
  int steps = 0;
  while (std::size_t{1} << steps < members) ++steps;
  return std::max(1, (steps + 1) / 2);
}

/// Called on members only. The caller reduces the maxima of a problem.
class BucketDistances {
public:
  BucketDistances(Ranks& ranks, Group& members)
      : m_ranks(ranks), m_members(members), m_lag(lag_of(members.members().size())) {}

  void solve(const DistanceFields& fields, const DistanceSeeds& seeds) {
    start(fields, seeds);
    if (m_members.members().size() == 1) return;
    for (int maximum_of = 0;;) { // the round that started the maximum in progress
      advance();
      if (maximum_of > 0 && m_rounds == maximum_of + m_lag) {
        if (m_members.finish_max() == 0) return;
        maximum_of = 0;
      }
      if (maximum_of > 0) continue;
      m_members.start_max(m_sends);
      maximum_of = m_rounds;
    }
  }

  int rounds() const { return m_rounds; }

private:
  /// A local rank that is a member. Boundaries and packets have the same order.
  struct LocalMember {
    int local;
    std::vector<PatchWave> waves; // per field
    std::vector<DistanceBoundary> boundaries;
  };

  bool is_member(int rank) const {
    return std::binary_search(m_members.members().begin(), m_members.members().end(), rank);
  }

  void start(const DistanceFields& fields, const DistanceSeeds& seeds) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    m_out.resize(locals);
    m_in.resize(locals);
    m_sends.resize(locals);
    for (const int r : m_ranks.locals()) {
      if (!is_member(m_ranks.first() + r)) continue;
      m_local.push_back({r, {}, {}});
      LocalMember& member = m_local.back();
      std::int64_t visits = 0;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        member.waves.emplace_back(m_ranks.patch(r), fields[f][r].data());
        visits += member.waves[f].from_seeds(seeds[f][r]);
      }
      for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        const int other = m_ranks.decomposition().neighbour(m_ranks.first() + r, dx, dy);
        if (other < 0 || !is_member(other)) continue;
        member.boundaries.emplace_back(m_ranks.patch(r), dx, dy, other, fields.size());
        m_out[r].push_back({other, {}});
        m_in[r].push_back({other, {}});
        visits += member.boundaries.back().write_all(member.waves, m_out[r].back().words);
      }
      m_ranks.work(r, visits, Work::buckets);
    }
  }

  void advance() {
    for (const LocalMember& member : m_local) {
      for (std::size_t s = 0; s < member.boundaries.size(); ++s)
        m_in[member.local][s].words.resize(member.boundaries[s].longest());
    }
    m_ranks.exchange(m_out, m_in);
    m_rounds += 1;
    for (LocalMember& member : m_local) {
      const int r = member.local;
      const Turn turn(m_ranks, m_ranks.first() + r);
      std::int64_t visits = 0;
      for (std::size_t s = 0; s < member.boundaries.size(); ++s)
        visits += member.boundaries[s].read(m_in[r][s].words, member.waves);
      if (m_rounds == 1) close_boundaries(member);
      bool reached = false;
      for (PatchWave& wave : member.waves) {
        if (!wave.has_offers()) continue;
        visits += wave.from_offers();
        reached = true;
      }
      m_sends[r] = 0;
      for (std::size_t s = 0; s < member.boundaries.size(); ++s) {
        std::vector<int>& words = m_out[r][s].words;
        words.clear();
        if (reached) visits += member.boundaries[s].write_better(member.waves, words);
        if (!words.empty()) m_sends[r] = 1;
      }
      m_ranks.work(r, visits, Work::buckets);
    }
  }

  /// Stops messages across boundaries where the domain does not continue.
  void close_boundaries(LocalMember& member) {
    for (std::size_t s = member.boundaries.size(); s-- > 0;) {
      if (member.boundaries[s].open(member.waves)) continue;
      const auto n = static_cast<std::ptrdiff_t>(s);
      member.boundaries.erase(member.boundaries.begin() + n);
      m_out[member.local].erase(m_out[member.local].begin() + n);
      m_in[member.local].erase(m_in[member.local].begin() + n);
    }
  }

  Ranks& m_ranks;
  Group& m_members;
  int m_lag, m_rounds = 0;
  std::vector<LocalMember> m_local;
  std::vector<std::vector<Packet>> m_out, m_in; // per local rank
  std::vector<std::int64_t> m_sends;            // per local rank: 1 if it has a message to send
};

class DistanceMembers {
public:
  /// `ranks` must outlive this object.
  explicit DistanceMembers(Ranks& ranks) : m_ranks(ranks) {}

  /// The members as a group; null if no local rank is one. Communicates one maximum if the problem
  /// does not list them and there are several ranks, and what Ranks::group needs if they differ
  /// from those of the last call. Throws invalid_argument unless `members` has one entry per rank.
  Group* find(const DistanceProblem& problem) {
    const auto size = static_cast<std::size_t>(m_ranks.decomposition().size());
    const std::vector<char> is_member = !problem.members.empty() ? problem.members
                                        : size == 1              ? std::vector<char>{1}
                                                                 : ask_all(problem.fields);
    if (is_member.size() != size) {
      throw std::invalid_argument("distances: members: expected an entry for each of " +
                                  std::to_string(size) + " ranks, found " +
                                  std::to_string(is_member.size()));
    }
    std::vector<int> members;
    bool take_part = false;
    for (int rank = 0; rank < m_ranks.decomposition().size(); ++rank) {
      if (is_member[rank] == 0) continue;
      members.push_back(rank);
      take_part =
          take_part || (rank >= m_ranks.first() && rank < m_ranks.first() + m_ranks.local_size());
    }
    if (m_group && m_group->members() == members) return m_group.get();
    m_group.reset();
    if (take_part) m_group = m_ranks.group(members);
    return m_group.get();
  }

private:
  std::vector<char> ask_all(const DistanceFields& fields) {
    const auto size = static_cast<std::size_t>(m_ranks.decomposition().size());
    std::vector<std::vector<std::int64_t>> owns(static_cast<std::size_t>(m_ranks.local_size()),
                                                std::vector<std::int64_t>(size, 0));
    for (const int r : m_ranks.locals())
      owns[r][m_ranks.first() + r] = cells_of_domain(m_ranks, fields, r) > 0;
    m_ranks.max(owns);
    return {owns[0].begin(), owns[0].end()};
  }

  Ranks& m_ranks;
  std::unique_ptr<Group> m_group; // of the last call
};

inline SolveDistances make_buckets(Ranks& ranks, const DistanceOptions&) {
  return
      [&ranks, members = std::make_shared<DistanceMembers>(ranks)](const DistanceProblem& problem) {
        DistanceReport report;
        if (Group* group = members->find(problem)) {
          DistanceSeeds found;
          BucketDistances buckets(ranks, *group);
          buckets.solve(problem.fields, seeds_of(ranks, problem, found));
          report.rounds = buckets.rounds();
        }
        if (!problem.maxima) return report;
        const std::vector<int> rounds(static_cast<std::size_t>(ranks.local_size()), report.rounds);
        report.rounds = static_cast<int>(largest_of(ranks, rounds, problem.maxima, report));
        return report;
      };
}

} // namespace nunatak
