#include "io/layouts/remap.hpp"

#include "io/data/exchange.hpp"

#include <algorithm>
#include <future>
#include <iterator>
#include <map>
#include <utility>

namespace nunatak::io {

namespace {

struct Put {
  std::size_t v, record; ///< or no_record
  /// Where the values of each box lie, row-major; or the caller's slabs.
  std::vector<const std::byte*> values = {};
  Slabs slabs = {};

  /// Copies a transfer to its place in the row-major values of `box`.
  void copy(const Transfer& t, const Box& box, std::byte* to, Type type) const {
    if (!slabs.empty()) return pack_into(box, to, slice(slabs[t.from], t.box), type);
    copy_values(t.box, t.mine, values[t.from], box, to, bytes_of(type));
  }
};

/// What the inner format is given of a put: as many slabs on all ranks.
struct Write {
  std::size_t v, record;
  Slabs slabs;
};

/// How the puts of a sequence of variables are moved, from the boxes of their hyperslabs.
struct Schedule {
  std::shared_ptr<const OwnBoxes> mine;
  std::vector<Boxes> cut;  ///< what is written of a variable larger than a round, by part
  std::vector<Plan> plans; ///< by part
  /// Hyperslabs for the inner format, by part and put: the same on all ranks.
  std::vector<std::vector<std::int64_t>> n_slabs;
};

class Remap final : public Format {
public:
  Remap(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
        std::vector<int> aggregators, BoxesOf boxes_of, std::unique_ptr<Format> inner,
        bool writes_behind, Choice choice)
      : m_inner(std::move(inner)), m_choice(std::move(choice)), m_comm(comm), m_schema(schema),
        m_topology(topology), m_aggregators(std::move(aggregators)),
        m_boxes_of(std::move(boxes_of)),
        m_waiting(round_bytes(options, writes_behind), m_aggregators.size()),
        m_writes_behind(writes_behind) {}

  void define() override {
    m_inner->define();
    m_boxes.resize(m_schema.variables.size());
    m_bytes.resize(m_boxes.size());
  }

  void put(std::size_t v, std::size_t record, const Slabs& slabs) override {
    if (m_choice.moves && !m_choice.moves(v, slabs)) return inner().put(v, record, slabs);
    if (m_boxes[v].empty()) {
      m_boxes[v] = m_boxes_of(m_schema, v);
      for (const auto& boxes : m_boxes[v]) m_bytes[v] += elements_of(boxes) * bytes_of(type_of(v));
    }
    m_n_put += static_cast<std::int64_t>(slabs.size());
    const bool is_further_part =
        !m_puts.empty() && m_puts.back().v == v && m_puts.back().record == record;
    if (!is_further_part && (!m_waiting.has_room(m_bytes[v]) || m_n_slabs > most_slabs))
      move_pending();
    const std::size_t n_parts = m_waiting.parts(m_bytes[v]);
    if (n_parts > 1) {
      Slabs some;
      std::copy_if(slabs.begin(), slabs.end(), std::back_inserter(some),
                   [](const Hyperslab& slab) { return slab.elements() > 0; });
      OwnBoxes mine;
      mine.add({some.begin(), some.end()});
      return move({{v, record, {}, std::move(some)}}, std::move(mine), n_parts);
    }
    m_n_slabs += slabs.size();
    if (!is_further_part) {
      end_put();
      m_puts.push_back({v, record});
      m_waiting.add(m_bytes[v]);
    }
    const std::vector<const std::byte*> values = m_waiting.keep(slabs, type_of(v));
    m_last.reserve(m_last.size() + slabs.size());
    for (std::size_t n = 0; n < slabs.size(); ++n) {
      if (slabs[n].elements() == 0) continue;
      m_last.push_back(slabs[n]);
      m_puts.back().values.push_back(values[n]);
    }
  }

  void wait() override {
    move_pending();
    m_error.keep([&] { inner().wait(); });
    m_error.rethrow();
  }
  Work work() const override {
    Work sum = m_written.valid() ? m_known_work : m_inner->work();
    return sum += m_work;
  }
  /// With a choice its text as "layout".
  std::map<std::string, std::string> hints() const override {
    std::map<std::string, std::string> hints = m_inner->hints();
    if (m_choice.text) hints["layout"] = m_choice.text();
    return hints;
  }

  // The rest is the inner format's.
  std::uint64_t expected_size(std::uint64_t n) const override { return m_inner->expected_size(n); }
  std::optional<std::uint64_t> first_byte(std::size_t v) const override {
    return m_inner->first_byte(v);
  }
  void close() override { inner().close(); }
  void save() override { inner().save(); }
  bool grows_in_place() const override { return m_inner->grows_in_place(); }
  void flush_values() override { inner().flush_values(); }
  void count_records() override { inner().count_records(); }
  Reopened reopen(const std::string& path, std::uint64_t records) override {
    return inner().reopen(path, records);
  }
  Sums own_sums(std::size_t records) const override { return m_inner->own_sums(records); }
  std::vector<OutputFile> files() const override { return m_inner->files(); }

private:
  template <class F> void timed(const F& f) {
    const double start = MPI_Wtime();
    f();
    m_work.exchange_seconds += MPI_Wtime() - start;
  }

  /// Nothing more comes of the last put.
  void end_put() {
    if (!m_puts.empty()) m_mine.add(std::exchange(m_last, {}));
  }

  void move_pending() {
    end_put();
    const std::vector<Put> puts = std::exchange(m_puts, {}); // gone also if moving fails
    OwnBoxes mine = std::exchange(m_mine, {});
    m_waiting.clear();
    m_n_slabs = 0;
    if (!puts.empty()) move(puts, std::move(mine), 1);
  }

  /// Move the puts to the aggregators, which write them, in `n_parts` steps.
  void move(const std::vector<Put>& puts, OwnBoxes mine, std::size_t n_parts) {
    const Schedule* schedule = nullptr;
    timed([&] { schedule = &schedule_of(puts, std::move(mine), n_parts); });
    for (std::size_t part = 0; part < n_parts; ++part) {
      const Plan& plan = schedule->plans[part];
      timed([&] { move_values(plan, puts); });
      write(writes_of(plan, schedule->n_slabs[part], puts),
            m_writes_behind && plan.target_bytes > 0);
    }
  }

  /// The schedule for the puts of all ranks. One small reduction.
  const Schedule& schedule_of(const std::vector<Put>& puts, OwnBoxes mine, std::size_t n_parts) {
    std::vector<std::size_t> variables;
    for (const Put& put : puts) variables.push_back(put.v);
    if (m_schedules.count(variables) == 0 && m_bytes_kept > most_kept) {
      m_schedules.clear();
      m_bytes_kept = 0;
    }
    Schedule& schedule = m_schedules[variables];
    const bool has_changed = schedule.plans.empty() || !(*schedule.mine == mine);
    std::int64_t of_all[] = {has_changed ? 1 : 0, m_n_put, -m_n_put};
    MPI_Allreduce(MPI_IN_PLACE, of_all, 3, MPI_INT64_T, MPI_MAX, m_comm);
    if (of_all[1] != -of_all[2])
      throw Error("variable '" + m_schema.variables[puts.back().v].name +
                  "': expected as many blocks from every rank, found " +
                  std::to_string(-of_all[2]) + " to " + std::to_string(of_all[1]) +
                  " in this file so far");
    if (of_all[0] == 0) return schedule;
    schedule = {std::make_shared<const OwnBoxes>(std::move(mine)), {}, {}, {}};
    plan(schedule, puts, n_parts);
    return schedule;
  }

  /// Makes plans from the boxes of this rank and what others send it. Several parts are of one put.
  void plan(Schedule& schedule, const std::vector<Put>& puts, std::size_t n_parts) {
    Round round{{}, schedule.mine, {}};
    for (const Put& put : puts) {
      round.types.push_back(type_of(put.v));
      round.boxes.push_back(&m_boxes[put.v]);
    }
    for (const auto& list : schedule.mine->lists) m_bytes_kept += list.size() * sizeof(Box);
    schedule.cut.resize(n_parts > 1 ? n_parts : 0);
    for (std::size_t part = 0; part < n_parts; ++part) {
      if (n_parts > 1) {
        Boxes& cut = schedule.cut[part];
        for (const auto& boxes : m_boxes[puts[0].v]) {
          cut.push_back(part_of(boxes, part, n_parts));
          m_bytes_kept += cut.back().size() * sizeof(Box);
        }
        round.boxes[0] = &cut;
      }
      std::vector<Channel> sends = make_sends(m_aggregators, round);
      std::vector<Channel> receives = trade(m_comm, m_aggregators, round, sends);
      schedule.plans.push_back(
          make_plan(m_rank, m_aggregators, round, std::move(sends), std::move(receives)));
      m_bytes_kept += schedule.plans.back().memory();
      std::vector<std::int64_t>& n = schedule.n_slabs.emplace_back(puts.size(), 0);
      for (std::size_t p = 0; p < puts.size(); ++p) {
        for (const Target& target : schedule.plans.back().targets[p])
          n[p] += static_cast<std::int64_t>(target.parts.size());
      }
      MPI_Allreduce(MPI_IN_PLACE, n.data(), static_cast<int>(n.size()), MPI_INT64_T, MPI_MAX,
                    m_comm);
    }
  }

  /// Completes the targets in m_assembled.
  void move_values(const Plan& plan, const std::vector<Put>& puts) {
    const auto is_own = [&](const Channel& c) { return c.rank == m_rank; };
    std::size_t bytes_in = 0, bytes_out = 0;
    for (const Channel& c : plan.receives) bytes_in += is_own(c) ? 0 : c.bytes;
    for (const Channel& c : plan.sends) bytes_out += c.bytes;
    std::byte *in = m_incoming.of_size(bytes_in), *out = m_outgoing.of_size(bytes_out);
    std::byte* const assembled = m_assembled.of_size(plan.target_bytes);
    std::vector<Message> receives, sends;
    for (const Channel& c : plan.receives) {
      if (is_own(c)) continue;
      receives.push_back({c.rank, in, c.bytes});
      in += c.bytes;
    }
    for (const Channel& c : plan.sends) {
      sends.push_back({c.rank, out, c.bytes});
      out += c.bytes;
      const auto sent = static_cast<std::int64_t>(c.bytes);
      m_work.message_bytes += sent;
      if (node_of(c.rank) != node_of(m_rank)) m_work.off_node_bytes += sent;
    }
    const auto fill = [&](std::size_t n) {
      plan.sends[n].for_each([&](const Channel::Segment& s, const Transfer& t) {
        const Type type = type_of(puts[s.put].v);
        puts[s.put].copy(t, t.box, sends[n].data + s.offset + t.before * bytes_of(type), type);
      });
    };
    const auto take = [&](std::size_t n) {
      const Channel& c = plan.receives[n];
      c.for_each([&](const Channel::Segment& s, const Transfer& t) {
        const Type type = type_of(puts[s.put].v);
        const Target& target = plan.targets[s.put][t.to];
        std::byte* const to = assembled + target.offset;
        if (is_own(c)) return puts[s.put].copy(t, target.box, to, type);
        const std::byte* const from = receives[n].data + s.offset + t.before * bytes_of(type);
        copy_values(t.box, t.box, from, target.box, to, bytes_of(type));
      });
    };
    m_work.messages += exchange(m_comm, receives, sends, fill, take);
    if (receives.size() < plan.receives.size()) take(receives.size()); // its own
  }

  /// The targets of this rank, and empty slabs where other ranks have more.
  std::vector<Write> writes_of(const Plan& plan, const std::vector<std::int64_t>& n_slabs,
                               const std::vector<Put>& puts) {
    std::vector<Write> writes;
    for (std::size_t p = 0; p < puts.size(); ++p) {
      const std::size_t v = puts[p].v;
      Hyperslab nothing = row_major({{0}, {0}}, nullptr, type_of(v));
      nothing.lasting = true;
      Slabs slabs;
      for (const Target& target : plan.targets[p]) {
        Hyperslab all = row_major(target.box, m_assembled.data() + target.offset, type_of(v));
        all.lasting = target.is_covered();
        for (const Box& box : target.parts) slabs.push_back(slice(all, box));
      }
      slabs.resize(static_cast<std::size_t>(n_slabs[p]), nothing);
      if (!slabs.empty()) writes.push_back({v, puts[p].record, std::move(slabs)});
    }
    return writes;
  }

  /// Writes what lies in m_assembled; `behind`: the next round is assembled meanwhile.
  void write(std::vector<Write> writes, bool behind) {
    Format& format = inner(); // the round before is written
    const auto call = [this, &format,
                       all = std::make_shared<const std::vector<Write>>(std::move(writes))] {
      for (const Write& w : *all) m_error.keep([&] { format.put(w.v, w.record, w.slabs); });
      m_error.keep([&] { format.wait(); });
    };
    if (!behind) return call();
    m_known_work = format.work();
    std::swap(m_assembled, m_behind);
    // deferred: at the next inner(), where the system has no thread left, from a copy of `call`
    m_written = std::async(std::launch::async | std::launch::deferred, call);
  }

  /// The inner format, when it has written what is given to it.
  Format& inner() {
    if (m_written.valid()) m_written.get();
    return *m_inner;
  }

  static constexpr std::size_t most_slabs =
      1U << 20; ///< in a round: 16 bytes each, if variables share theirs
  static constexpr std::size_t most_kept = 40'000'000; ///< bytes of plans
  Type type_of(std::size_t v) const { return m_schema.variables[v].type; }
  int node_of(int rank) const { return m_topology.node_of[static_cast<std::size_t>(rank)]; }

  std::unique_ptr<Format> m_inner;
  Choice m_choice;
  MPI_Comm m_comm;
  const Schema& m_schema;
  int m_rank = rank_in(m_comm);
  Topology m_topology;
  std::vector<int> m_aggregators;
  BoxesOf m_boxes_of;
  std::vector<Boxes> m_boxes;       ///< of each variable, once it was put
  std::vector<std::size_t> m_bytes; ///< of a record of each variable, over all aggregators
  Waiting m_waiting;
  std::vector<Put> m_puts; ///< since the last round
  OwnBoxes m_mine;         ///< of the puts before the last one
  std::vector<Box> m_last; ///< of this one
  std::size_t m_n_slabs = 0;
  std::int64_t m_n_put = 0; ///< blocks, some empty: the same on all ranks
  std::map<std::vector<std::size_t>, Schedule> m_schedules;
  std::size_t m_bytes_kept = 0; ///< of plans made since they were cleared
  Buffer m_outgoing, m_incoming, m_assembled, m_behind;
  KeptError m_error;         ///< of the inner format: this rank still takes part in the next rounds
  Work m_work, m_known_work; ///< of this layout; of the inner format before it writes behind
  bool m_writes_behind;
  std::future<void> m_written; ///< behind; the destructor waits
};

} // namespace

std::unique_ptr<Format> make_remap(MPI_Comm comm, const Schema& schema, const Options& options,
                                   const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner,
                                   bool writes_behind, Choice choice) {
  return std::make_unique<Remap>(comm, schema, options, topology, std::move(aggregators),
                                 std::move(boxes_of), std::move(inner), writes_behind,
                                 std::move(choice));
}

} // namespace nunatak::io
