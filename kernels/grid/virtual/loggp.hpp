// Time on a modelled machine: the LogGP model, with a clock per rank (virtual_ranks.hpp drives it).
//
//   rank 0  |o|. . .                    L: latency of the network    o: time a processor spends on
//              \  L + (n - 1) G            a message, on either side
//   rank 1      \. . |o|                g: least time between two messages of a rank
//                                       G: time per byte of a long message
//
// The clock of a rank advances when it works, sends or receives; receiving waits for the message.
// Collectives are trees of ceil(log2 P) steps. A step takes L + 2 o, or the time that
// perf/calibrate has measured for that collective (`Steps`), plus:
//   maximum, sum    (n - 1) G per step      n bytes, recursive doubling (G may be measured, too)
//   gather on all   (N - 1) G once          N bytes of all ranks together
// No rank leaves a collective before the last one has entered it. A non-blocking maximum advances
// only while its ranks are idle, as in MPI libraries. The clock that ends last is the critical
// path; its work and its numbers of messages and collectives are recorded along with the time.
//
// Work is either counted (visits of cells, each of `visit` seconds of its loop) or measured: the
// time that this process has spent in the turns of a rank (Ranks::end_turn), and an equal share of
// what it has spent between turns and outside communication. There are as many of both, in the same
// order, each time the same is computed: after restart(false) each takes the least time of all runs
// so far, so that an interruption of one run does not count. Patches in one process share its
// caches: a rank with a core for itself may be faster.
//
// Ranks may share `cores` cores: work then takes the first free core. Default parameters are
// assumptions, not measurements: state them with each result. perf/calibrate measures them;
// docs/results.md compares the model with an emulated cluster.
//
// Alexandrov, Ionescu, Schauser & Scheiman (1995), LogGP: incorporating long messages into the LogP
// model, SPAA.
#pragma once

#include "kernels/grid/ranks.hpp"

#include <Kokkos_Timer.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

namespace nunatak {

/// Seconds. The defaults are typical of fast networks.
struct LogGP {
  double L = 1.5e-6, o = 0.4e-6, g = 0.3e-6;
  double G = 0.1e-9; ///< per byte: 10 GB/s
  /// Per visit of a cell (Ranks::work), by Work, as measured by perf/calibrate_loops.py on one core
  /// of an Intel Xeon with AMX.
  std::array<double, work_kinds> visit = {1.5e-9, 0.38e-9, 4.0e-9,  3.7e-9, 72e-9,
                                          8.6e-9, 0.27e-9, 0.92e-9, 2.4e-9, 1.25e-9,
                                          2.9e-9, 3.1e-9,  2.0e-9};
  bool measured_work = false; ///< work is measured, not counted
  int cores = 0;              ///< shared by all ranks; 0: one core per rank

  /// Seconds of a step of each kind of collective; 0: L + 2 o.
  struct Steps {
    double reduction = 0.0, lagged = 0.0, gather_all = 0.0;
    double reduction_byte = 0.0; ///< per byte and step of a sum or maximum; 0: G
  } step = {};

  static double steps(int ranks) { return ranks > 1 ? std::ceil(std::log2(ranks)) : 0.0; }
  double stream(double bytes) const { return std::max(bytes - 1.0, 0.0) * G; }
  double reduction(int ranks, double bytes) const {
    const double byte = step.reduction_byte > 0.0 ? step.reduction_byte : G;
    return steps(ranks) * (step_of(step.reduction) + std::max(bytes - 1.0, 0.0) * byte);
  }
  double lagged(int ranks, double bytes) const {
    return steps(ranks) * (step_of(step.lagged) + stream(bytes));
  }
  double gather_all(int ranks, double bytes_of_all) const {
    return ranks > 1 ? steps(ranks) * step_of(step.gather_all) + stream(bytes_of_all) : 0.0;
  }

private:
  double step_of(double measured) const { return measured > 0.0 ? measured : L + 2.0 * o; }
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
      : m_machine(machine), m_rank(static_cast<std::size_t>(ranks)), m_wire(m_rank.size(), 0.0),
        m_own(m_rank.size(), 0.0), m_core(static_cast<std::size_t>(machine.cores), 0.0) {}

  const LogGP& machine() const { return m_machine; }
  const Path& of(int rank) const { return m_rank[rank]; }
  Path critical() const {
    Path path = *std::max_element(m_rank.begin(), m_rank.end());
    path.time += m_share;
    path.work += m_share;
    return path;
  }

  /// anew: other work than before; else the same once more. Throws logic_error if the last run had
  /// fewer turns than one before.
  void restart(bool anew = true) {
    if (!anew && m_turn != m_least.size())
      throw std::logic_error("virtual clock: fewer turns than in a run before");
    std::fill(m_rank.begin(), m_rank.end(), Path{});
    std::fill(m_wire.begin(), m_wire.end(), 0.0);
    std::fill(m_own.begin(), m_own.end(), 0.0);
    std::fill(m_core.begin(), m_core.end(), 0.0);
    if (anew) m_least.clear();
    m_turn = 0;
    m_share = 0.0;
    m_timer.reset();
  }

  void work(int rank, std::int64_t visits, Work loop) {
    const double seconds = m_machine.visit[static_cast<std::size_t>(loop)];
    if (!m_machine.measured_work) spend(rank, seconds * static_cast<double>(visits));
  }
  void start_turn() {
    if (!m_machine.measured_work) return;
    if (!m_communicates) m_share += since_last() / static_cast<double>(m_rank.size());
    m_timer.reset();
  }
  void end_turn(int rank) {
    if (m_machine.measured_work) spend(rank, since_last());
  }
  /// True until communication ends: in it no work is measured but that of turns.
  void set_communicating(bool communicates) {
    start_turn();
    if (m_share > 0.0) spend(Ranks::every_rank, std::exchange(m_share, 0.0));
    m_communicates = communicates;
  }
  /// Seconds of work of a rank since the restart.
  double own(int rank) const { return m_own[rank]; }

  /// Seconds of a rank, or of every one.
  void spend(int rank, double seconds) {
    if (rank == Ranks::every_rank) {
      for (int r = 0; r < static_cast<int>(m_rank.size()); ++r) spend(r, seconds);
      return;
    }
    m_own[rank] += seconds;
    const auto core = std::min_element(m_core.begin(), m_core.end());
    if (core != m_core.end()) at(rank).time = std::max(at(rank).time, *core);
    at(rank).time += seconds;
    at(rank).work += seconds;
    if (core != m_core.end()) *core = at(rank).time;
  }

  /// Sends a message, which deliver() receives.
  void send(int from, int to, std::int64_t bytes) {
    Path& sender = at(from);
    double& wire = m_wire[from]; // time at which it is free again
    sender.time += m_machine.o;
    Path arrival = sender;
    const double stream = m_machine.stream(static_cast<double>(bytes));
    arrival.time = std::max(sender.time, wire);
    wire = arrival.time + std::max(m_machine.g, stream);
    arrival.time += m_machine.L + stream;
    arrival.messages += 1;
    m_in_flight.push_back({to, arrival});
  }

  void deliver() {
    std::stable_sort(m_in_flight.begin(), m_in_flight.end(),
                     [](const Letter& a, const Letter& b) { return a.arrival < b.arrival; });
    for (const Letter& letter : m_in_flight) {
      at(letter.to) = std::max(at(letter.to), letter.arrival);
      at(letter.to).time += m_machine.o;
    }
    m_in_flight.clear();
  }

  /// A collective of `members` that takes `seconds` once all have entered. Returns its end.
  template <class Members>
  Path collective(const Members& members, double seconds, bool wait = true) {
    Path end;
    for (const int rank : members) end = std::max(end, at(rank));
    end.time += seconds;
    end.collectives += 1;
    if (wait) reach(members, end);
    return end;
  }

  /// Advances the clocks of `members` to `end` at least.
  template <class Members> void reach(const Members& members, const Path& end) {
    for (const int rank : members) at(rank) = std::max(at(rank), end);
  }

private:
  struct Letter {
    int to;
    Path arrival;
  };
  Path& at(int rank) { return m_rank[rank]; }
  /// Seconds since a turn began or ended, the least of all runs; the next ones count from here.
  double since_last() {
    const auto passed = static_cast<float>(m_timer.seconds());
    if (m_turn == m_least.size()) m_least.push_back(passed);
    float& least = m_least[m_turn++];
    least = std::min(least, passed);
    m_timer.reset();
    return least;
  }

  LogGP m_machine;
  std::vector<Path> m_rank;
  std::vector<double> m_wire;  // when a rank may send again
  std::vector<double> m_own;   // work
  std::vector<double> m_core;  // when a shared core is free
  Kokkos::Timer m_timer;       // since a turn began or ended, or a communication
  std::vector<float> m_least;  // seconds of each turn, and of the work before it
  std::size_t m_turn = 0;      // place in m_least
  double m_share = 0.0;        // of work between turns, not yet spent
  bool m_communicates = false; // work between turns is not measured
  std::vector<Letter> m_in_flight;
};

} // namespace nunatak
