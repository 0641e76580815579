// P x Q ranks in one process: the same messages as with MPI, moved by memcpy and counted, for tests
// and scaling studies; with a LogGP machine (loggp.hpp) every rank has a clock. The host or
// asynchronous loops (device/halo_loops.hpp) move ghosts.
#pragma once

#include "kernels/grid/device/halo_loops.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/grid/virtual/loggp.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace nunatak {

/// What moves ghosts; apart: the host, each array in messages of its own, as a DMDA does.
enum class Halo { host, loops, apart };
constexpr Halo default_halo = loops_on_host ? Halo::host : Halo::loops;

inline void copy_in_loop(const std::byte* from, std::byte* to, std::size_t bytes) {
  const auto n = static_cast<std::int64_t>(bytes);
  Kokkos::parallel_for(
      "ghosts: message", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
      KOKKOS_LAMBDA(std::int64_t k) { to[k] = from[k]; });
}

class VirtualRanks final : public Ranks {
public:
  explicit VirtualRanks(Decomposition decomposition, std::optional<LogGP> machine = std::nullopt,
                        Halo halo = default_halo)
      : Ranks(std::move(decomposition)), m_all(static_cast<std::size_t>(m_decomposition.size())),
        m_work(m_all.size(), 0), m_halo(halo) {
    if (machine) m_clock.emplace(*machine, m_decomposition.size());
    std::iota(m_all.begin(), m_all.end(), 0);
  }

  int local_size() const override { return m_decomposition.size(); }
  int first() const override { return 0; }

  /// The clock of these ranks, if there is a machine.
  const std::optional<VirtualClock>& clock() const { return m_clock; }
  const std::vector<std::int64_t>& work_of_ranks() const { return m_work; } ///< visits of cells
  void restart_clock(bool anew = true) {
    if (m_clock) m_clock->restart(anew);
    std::fill(m_work.begin(), m_work.end(), 0);
  }

  void launch_ghosts(const std::vector<std::vector<Ghosted>>& arrays) override {
    const Communication communication(m_clock);
    if (m_halo == Halo::apart) {
      for (std::size_t n = 0; n < arrays[0].size(); ++n) {
        std::vector<std::vector<Ghosted>> one;
        for (const auto& of_rank : arrays) one.push_back({of_rank[n]});
        exchange_on_host(by_level(m_decomposition, 0, one));
        m_traffic.exchanges += 1;
      }
      return;
    }
    if (m_halo == Halo::loops) {
      exchange_by_loops(arrays);
    } else {
      exchange_on_host(by_level(m_decomposition, 0, arrays));
    }
    m_traffic.exchanges += 1;
  }

  void sum(std::vector<std::vector<std::int64_t>>& values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void max(std::vector<std::vector<std::int64_t>>& values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  void sum(std::vector<std::vector<ReproducibleSum>>& values) override {
    reduce(values, [](ReproducibleSum a, const ReproducibleSum& b) { return a += b; });
  }

  std::vector<std::int64_t>
  gather_all(const std::vector<std::vector<std::int64_t>>& contributions) override {
    const Communication communication(m_clock);
    std::vector<std::int64_t> all;
    for (const auto& c : contributions) all.insert(all.end(), c.begin(), c.end());
    for (const std::size_t bytes : {m_all.size() * sizeof(int), all.size() * sizeof(all[0])}) {
      m_traffic.collectives += 1; // the lengths, then the contents
      m_traffic.collective_bytes += static_cast<std::int64_t>(bytes);
      if (m_clock)
        m_clock->collective(
            m_all, m_clock->machine().gather_all(local_size(), static_cast<double>(bytes)));
    }
    return all;
  }
  void exchange(const std::vector<std::vector<Packet>>& out,
                std::vector<std::vector<Packet>>& in) override {
    const Communication communication(m_clock);
    std::size_t sent = 0, received = 0;
    for (int rank = 0; rank < local_size(); ++rank) {
      for (const Packet& packet : out[rank]) {
        deliver(rank, packet, in[packet.rank]);
        count_message(rank, packet.rank, packet.words.size() * sizeof(int));
        sent += 1;
      }
      received += in[rank].size();
    }
    if (sent != received) {
      throw std::logic_error("messages: " + std::to_string(received) + " expected, " +
                             std::to_string(sent) + " sent");
    }
    if (m_clock) m_clock->deliver();
    m_traffic.exchanges += 1;
  }

  std::unique_ptr<Group> group(std::vector<int> members) override {
    return std::make_unique<VirtualGroup>(*this, std::move(members));
  }

  void start_turn() override {
    if (m_clock) m_clock->start_turn();
  }
  void end_turn(int rank) override {
    if (m_clock) m_clock->end_turn(rank);
  }
  void work(int local, std::int64_t visits, Work loop = Work::ssa) override {
    Ranks::work(local, visits, loop);
    m_work[local] += visits;
    if (m_clock) m_clock->work(local, visits, loop);
  }

private:
  /// To the end of the block the clock, if there is one, measures turns alone.
  class Communication {
  public:
    explicit Communication(std::optional<VirtualClock>& clock) : m_clock(clock) {
      if (m_clock) m_clock->set_communicating(true);
    }
    ~Communication() {
      if (m_clock) m_clock->set_communicating(false);
    }
    Communication(const Communication&) = delete;
    Communication& operator=(const Communication&) = delete;

  private:
    std::optional<VirtualClock>& m_clock;
  };

  void exchange_on_host(const std::vector<std::vector<Ghosted>>& arrays) {
    Kokkos::fence("nunatak: before the ghost exchange");
    struct Message {
      int from, to, dx, dy;
      std::size_t first, bytes; // in m_buffer
    };
    std::vector<Message> messages;
    std::size_t end = 0;
    for (const int rank : locals()) { // packing is work, as with MPI
      for_each_message(m_decomposition, rank, [&](int dx, int dy, int to, int) {
        if (to < 0) return;
        const Strip send = owned_strip(patch(rank), dx, dy);
        messages.push_back({rank, to, dx, dy, end, send.cells() * bytes_per_cell(arrays[rank])});
        end += messages.back().bytes;
        if (m_buffer.size() < end) m_buffer.resize(end);
        pack(patch(rank), send, arrays[rank], m_buffer.data() + messages.back().first);
      });
    }
    for (const Message& m : messages) {
      if (m.to != m.from) count_message(m.from, m.to, m.bytes);
    }
    if (m_clock) m_clock->deliver();
    std::stable_sort(messages.begin(), messages.end(),
                     [](const Message& a, const Message& b) { return a.to < b.to; });
    auto m = messages.begin();
    for (const int rank : locals()) {
      const Patch p = patch(rank);
      for (; m != messages.end() && m->to == rank; ++m)
        unpack(p, ghost_strip(p, -m->dx, -m->dy), arrays[rank], m_buffer.data() + m->first);
      for (const Ghosted& a : arrays[rank])
        replicate_edges(m_decomposition, p, a.data, a.cell_bytes);
    }
  }

  /// The send and receive buffers of a rank, in memory of the loops.
  struct Loops {
    HaloLoops halo;
    Kokkos::View<std::uint64_t*, WorkMem> out, in;
    Loops(const Decomposition& d, int rank) : halo(d, rank) {}
    void reserve(std::size_t cell_bytes) {
      const std::size_t words = (static_cast<std::size_t>(halo.cells()) * cell_bytes + 7) / 8;
      if (out.size() >= words) return;
      for (auto* buffer : {&out, &in})
        *buffer = Kokkos::View<std::uint64_t*, WorkMem>(
            Kokkos::view_alloc("ghosts", Kokkos::WithoutInitializing), words);
    }
    std::byte* sent() const { return reinterpret_cast<std::byte*>(out.data()); }
    std::byte* received() const { return reinterpret_cast<std::byte*>(in.data()); }
  };

  // Loops run one after another, without waits between them.
  void exchange_by_loops(const std::vector<std::vector<Ghosted>>& arrays) {
    for (int rank = static_cast<int>(m_loops.size()); rank < local_size(); ++rank)
      m_loops.emplace_back(m_decomposition, rank);
    const std::size_t cell_bytes = bytes_per_cell(arrays[0]);
    for (std::size_t r = 0; r < m_loops.size(); ++r) {
      m_loops[r].reserve(cell_bytes);
      if (m_loops[r].halo.cells() > 0) m_loops[r].halo.pack(arrays[r], m_loops[r].sent());
    }
    for (std::size_t r = 0; r < m_loops.size(); ++r) {
      for (const HaloLoops::Message& message : m_loops[r].halo.outgoing()) {
        const Loops& other = m_loops[message.rank];
        const auto& incoming = other.halo.incoming();
        const auto theirs =
            std::find_if(incoming.begin(), incoming.end(), [&](const HaloLoops::Message& m) {
              return m.dx == -message.dx && m.dy == -message.dy;
            });
        const std::size_t bytes = static_cast<std::size_t>(message.cells) * cell_bytes;
        copy_in_loop(m_loops[r].sent() + static_cast<std::size_t>(message.first) * cell_bytes,
                     other.received() + static_cast<std::size_t>(theirs->first) * cell_bytes,
                     bytes);
        if (message.rank != static_cast<int>(r))
          count_message(static_cast<int>(r), message.rank, bytes);
      }
    }
    if (m_clock) m_clock->deliver();
    for (std::size_t r = 0; r < m_loops.size(); ++r)
      m_loops[r].halo.unpack(arrays[r], m_loops[r].received());
  }

  class VirtualGroup final : public Group {
  public:
    VirtualGroup(VirtualRanks& ranks, std::vector<int> members)
        : Group(std::move(members)), m_ranks(ranks) {}

    void start_max(const std::vector<std::int64_t>& values) override {
      const Communication communication(m_ranks.m_clock);
      if (m_maximum)
        throw std::logic_error("group of ranks: expected no maximum in progress, found one");
      m_maximum = values[members().at(0)];
      for (const int rank : members()) m_maximum = std::max(*m_maximum, values[rank]);
      m_ranks.m_traffic.lagged += 1;
      m_ranks.m_traffic.collective_bytes += 8 * size();
      auto& clock = m_ranks.m_clock;
      if (!clock) return;
      m_work.clear();
      for (const int rank : members()) m_work.push_back(clock->own(rank));
      m_end = clock->collective(members(), clock->machine().lagged(size(), 8), false);
    }
    std::int64_t finish_max() override {
      const Communication communication(m_ranks.m_clock);
      const std::int64_t maximum = m_maximum.value();
      m_maximum.reset();
      if (auto& clock = m_ranks.m_clock) {
        // work since the start, of the busiest member: the collective has not advanced meanwhile
        double most = 0.0;
        for (std::size_t n = 0; n < m_work.size(); ++n)
          most = std::max(most, clock->own(members()[n]) - m_work[n]);
        m_end.time += most;
        clock->reach(members(), m_end);
      }
      return maximum;
    }

  private:
    int size() const { return static_cast<int>(members().size()); }
    VirtualRanks& m_ranks;
    std::optional<std::int64_t> m_maximum;
    VirtualClock::Path m_end;
    std::vector<double> m_work; // of the members at the start of the maximum, s
  };

  void count_message(int from, int to, std::size_t bytes) {
    m_traffic.messages += 1;
    m_traffic.bytes += static_cast<std::int64_t>(bytes);
    if (m_clock) m_clock->send(from, to, static_cast<std::int64_t>(bytes));
  }

  static void deliver(int from, const Packet& packet, std::vector<Packet>& in) {
    for (Packet& expected : in) {
      if (expected.rank != from) continue;
      if (expected.words.size() < packet.words.size()) {
        throw std::logic_error("messages: rank " + std::to_string(from) + " sends " +
                               std::to_string(packet.words.size()) + " words to rank " +
                               std::to_string(packet.rank) + ", which expects at most " +
                               std::to_string(expected.words.size()));
      }
      expected.words = packet.words;
      return;
    }
    throw std::logic_error("messages: rank " + std::to_string(packet.rank) +
                           " expects none from rank " + std::to_string(from));
  }

  template <class T, class Op> void reduce(std::vector<std::vector<T>>& values, Op op) {
    const Communication communication(m_clock);
    for (std::size_t r = 1; r < values.size(); ++r) {
      if (values[r].size() != values[0].size())
        throw std::logic_error("reduction over ranks: sizes differ");
      for (std::size_t n = 0; n < values[0].size(); ++n)
        values[0][n] = op(values[0][n], values[r][n]);
    }
    for (std::size_t r = 1; r < values.size(); ++r) values[r] = values[0];
    const std::size_t bytes = sizeof(T) * values[0].size();
    m_traffic.collectives += 1;
    m_traffic.collective_bytes += static_cast<std::int64_t>(bytes * values.size());
    if (m_clock)
      m_clock->collective(m_all,
                          m_clock->machine().reduction(local_size(), static_cast<double>(bytes)));
  }

  std::optional<VirtualClock> m_clock;
  std::vector<int> m_all;           // 0, 1, ..., size - 1
  std::vector<std::int64_t> m_work; // visits of cells
  Halo m_halo;
  std::vector<std::byte> m_buffer; // the messages of an exchange of ghosts
  std::vector<Loops> m_loops;      // of all ranks, from the first exchange on
};

} // namespace nunatak
