// Time on a modelled machine: the LogGP model, with a clock per rank (virtual_ranks.hpp drives it).
//
//   rank 0  |o|. . .                    L: latency of the network    o: time a processor spends on a message, on either side
//              \  L + (n - 1) G         g: least time between two messages of a rank
//   rank 1      \. . |o|                G: time per byte of a long message
//
// A rank's clock moves when it works and when it sends or receives; receiving waits for the message. Collectives are trees:
//   maximum, sum:      ceil(log2 P) (L + 2 o + (n - 1) G)           n bytes, recursive doubling
//   gather, scatter:   ceil(log2 P) (L + 2 o) + (N - 1) G           N bytes of all ranks together, binomial tree
//   gather on all:     the same (recursive doubling)
// No rank leaves a collective before the last one has entered it. The clock that ends last is the critical path: how much of it
// was work, and how many messages and collectives lie on it, travels along with the time.
//
// Alexandrov, Ionescu, Schauser & Scheiman (1995), LogGP: incorporating long messages into the LogP model, SPAA.
// The numbers are assumptions about a machine, not measurements: state them with each result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nunatak {

/// Seconds. The defaults are of the size that fast networks have.
struct LogGP {
  double L = 1.5e-6, o = 0.4e-6, g = 0.3e-6;
  double G = 0.1e-9;   ///< per byte: 10 GB/s
  double visit = 3e-9; ///< per visit of a cell (Ranks::work)

  static double steps(int ranks) { return ranks > 1 ? std::ceil(std::log2(ranks)) : 0.0; }
  double message(double bytes) const { return 2.0 * o + L + std::max(bytes - 1.0, 0.0) * G; }
  double reduction(int ranks, double bytes) const { return steps(ranks) * message(bytes); }
  double gather(int ranks, double bytes_of_all) const {
    return ranks > 1 ? steps(ranks) * (L + 2.0 * o) + std::max(bytes_of_all - 1.0, 0.0) * G : 0.0;
  }
};

class VirtualClock {
public:
  /// The chain of events that determines the clock of a rank.
  struct Path {
    double time = 0.0, work = 0.0; ///< s
    std::int64_t messages = 0, collectives = 0;
    bool operator<(const Path& other) const { return time < other.time; }
  };

  VirtualClock(const LogGP& machine, int ranks)
      : m_machine(machine), m_rank(static_cast<std::size_t>(ranks)), m_wire(m_rank.size(), 0.0) {}

  const LogGP& machine() const { return m_machine; }
  const Path& of(int rank) const { return m_rank[static_cast<std::size_t>(rank)]; }
  Path critical() const { return *std::max_element(m_rank.begin(), m_rank.end()); }

  /// All ranks at time 0.
  void restart() {
    std::fill(m_rank.begin(), m_rank.end(), Path{});
    std::fill(m_wire.begin(), m_wire.end(), 0.0);
  }

  void work(int rank, std::int64_t visits) {
    const double seconds = m_machine.visit * static_cast<double>(visits);
    at(rank).time += seconds, at(rank).work += seconds;
  }

  /// A message leaves; it arrives with deliver().
  void send(int from, int to, std::int64_t bytes) {
    Path& sender = at(from);
    double& wire = m_wire[static_cast<std::size_t>(from)]; // free again from then on
    sender.time += m_machine.o;
    Path arrival = sender;
    const double stream = std::max(static_cast<double>(bytes) - 1.0, 0.0) * m_machine.G;
    arrival.time = std::max(sender.time, wire);
    wire = arrival.time + std::max(m_machine.g, stream);
    arrival.time += m_machine.L + stream;
    arrival.messages += 1;
    m_under_way.push_back({to, arrival});
  }

  /// All messages under way are received, in the order of their arrival.
  void deliver() {
    std::stable_sort(m_under_way.begin(), m_under_way.end(),
                     [](const Letter& a, const Letter& b) { return a.arrival < b.arrival; });
    for (const Letter& letter : m_under_way) {
      at(letter.to) = std::max(at(letter.to), letter.arrival);
      at(letter.to).time += m_machine.o;
    }
    m_under_way.clear();
  }

  /// A collective of `members` that takes `seconds` once all have entered it; returns its end, for those who do not wait.
  template <class Members> Path collective(const Members& members, double seconds, bool wait = true) {
    Path end;
    for (const int rank : members) end = std::max(end, at(rank));
    end.time += seconds;
    end.collectives += 1;
    if (wait) reach(members, end);
    return end;
  }

  /// The clocks of `members` go on to `end` at least.
  template <class Members> void reach(const Members& members, const Path& end) {
    for (const int rank : members) at(rank) = std::max(at(rank), end);
  }

private:
  struct Letter {
    int to;
    Path arrival;
  };
  Path& at(int rank) { return m_rank[static_cast<std::size_t>(rank)]; }

  LogGP m_machine;
  std::vector<Path> m_rank;
  std::vector<double> m_wire; // when a rank may send again
  std::vector<Letter> m_under_way;
};

} // namespace nunatak
