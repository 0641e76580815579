// Distances by bucket queues on patches that send to few neighbours (see distance.hpp).
//
//   +------+------+------+    1. Each patch runs a wave from its own seeds (distance/wave.hpp).
//   |  ....|......|      |    2. Patches send each other the cells along their common seam
//   (distance/seam.hpp). From then on |  . * | *  ..|      |       only those exchange messages
//   whose domains touch (*), and only of values that improved.
//   +------+------+------+    3. Rounds: read the messages, run a wave from what they offer, write
//   the next messages. |      |      |  ....|
//   +------+------+------+    A patch without cells of the domain (.) takes no member. All fields
//   go in one message.
//
// The end: after round s a maximum is started among the members (has any a message to send?) and
// looked at after round s + lag. If it is 0, nothing was under way then, and nothing has changed
// since. No rank waits for it: the lag is about as long as a reduction takes. Values only decrease,
// and where no offer is better they are the distances: the same bits for any order of events.
//
// Communicates, among the ranks that own cells of the domain: per round one message to each of up
// to four neighbours; every `lag` rounds one reduction that does not block. Nothing if there is one
// such rank, or none.
#pragma once

#include "kernels/distance/members.hpp"
#include "kernels/distance/seam.hpp"

namespace nunatak {

/// To be called on the members only: the ranks that own cells of the domain. lag: rounds from the
/// start of a maximum until it is looked at, at least 1. guard: number of rounds after which it
/// gives up, 0: never. Maxima of `problem` are left to the caller.
class BucketDistances {
public:
  BucketDistances(Ranks& ranks, Group& members, int lag, int guard)
      : m_ranks(ranks), m_members(members), m_lag(lag), m_guard(guard) {}

  /// False if it gave up, the same on all members: fields are then as before.
  bool solve(const DistanceFields& fields, const DistanceSeeds& seeds) {
    start(fields, seeds);
    if (m_members.members().size() == 1) return true;
    for (int maximum_of = 0;;) { // the round after which the maximum under way was started
      advance();
      const bool give_up = m_rounds == m_guard;
      if (maximum_of > 0 && (m_rounds == maximum_of + m_lag || give_up)) {
        if (m_members.finish_max() == 0) return true;
        maximum_of = 0;
      }
      if (give_up) {
        for (const LocalMember& member : m_local) {
          for (const auto& field : fields) reset(m_ranks.patch(member.local), field[member.local]);
        }
        return false;
      }
      if (maximum_of > 0) continue;
      m_members.start_max(m_sends);
      maximum_of = m_rounds;
    }
  }

  int rounds() const { return m_rounds; }

private:
  /// A local rank that is a member. Its seams are in the order of its packets.
  struct LocalMember {
    int local;
    std::vector<PatchWave> waves; // per field
    std::vector<DistanceSeam> seams;
  };

  bool is_member(int rank) const {
    return std::binary_search(m_members.members().begin(), m_members.members().end(), rank);
  }

  void start(const DistanceFields& fields, const DistanceSeeds& seeds) {
    const auto locals = static_cast<std::size_t>(m_ranks.local_size());
    m_out.resize(locals), m_in.resize(locals), m_sends.resize(locals);
    for (int r = 0; r < m_ranks.local_size(); ++r) {
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
        member.seams.emplace_back(m_ranks.patch(r), dx, dy, other, fields.size());
        m_out[r].push_back({other, {}});
        m_in[r].push_back({other, {}});
        visits += member.seams.back().write_all(member.waves, m_out[r].back().words);
      }
      m_ranks.work(r, visits);
    }
  }

  static void reset(const Patch& p, const SharedArray2<int>& d) {
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) d(j, i) = d(j, i) > 1 ? 0 : d(j, i);
    }
  }

  /// A round.
  void advance() {
    for (const LocalMember& member : m_local) {
      for (std::size_t s = 0; s < member.seams.size(); ++s)
        m_in[member.local][s].words.resize(member.seams[s].longest());
    }
    m_ranks.exchange(m_out, m_in);
    m_rounds += 1;
    for (LocalMember& member : m_local) {
      const int r = member.local;
      std::int64_t visits = 0;
      for (std::size_t s = 0; s < member.seams.size(); ++s)
        visits += member.seams[s].read(m_in[r][s].words, member.waves);
      if (m_rounds == 1) close_seams(member);
      bool reached = false;
      for (PatchWave& wave : member.waves) {
        if (!wave.has_offers()) continue;
        visits += wave.from_offers();
        reached = true;
      }
      m_sends[r] = 0;
      for (std::size_t s = 0; s < member.seams.size(); ++s) {
        std::vector<int>& words = m_out[r][s].words;
        words.clear();
        if (reached) visits += member.seams[s].write_better(member.waves, words);
        if (!words.empty()) m_sends[r] = 1;
      }
      m_ranks.work(r, visits);
    }
  }

  /// No more messages where the domain does not continue.
  void close_seams(LocalMember& member) {
    for (std::size_t s = member.seams.size(); s-- > 0;) {
      if (member.seams[s].open(member.waves)) continue;
      const auto n = static_cast<std::ptrdiff_t>(s);
      member.seams.erase(member.seams.begin() + n);
      m_out[member.local].erase(m_out[member.local].begin() + n);
      m_in[member.local].erase(m_in[member.local].begin() + n);
    }
  }

  Ranks& m_ranks;
  Group& m_members;
  int m_lag, m_guard, m_rounds = 0;
  std::vector<LocalMember> m_local;
  std::vector<std::vector<Packet>> m_out, m_in; // per local rank
  std::vector<std::int64_t> m_sends;            // per local rank: 1 if it has a message to send
};

inline SolveDistances make_buckets(Ranks& ranks, const DistanceOptions&) {
  return
      [&ranks, members = std::make_shared<DistanceMembers>(ranks)](const DistanceProblem& problem) {
        const DistanceCost cost = members->find(problem);
        DistanceReport report;
        if (Group* group = members->group()) {
          DistanceSeeds found;
          BucketDistances buckets(ranks, *group, cost.lag(), 0);
          buckets.solve(problem.fields, seeds_of(ranks, problem, found));
          report.rounds = buckets.rounds();
        }
        share_report(ranks, problem.maxima, report);
        return report;
      };
}

} // namespace nunatak
