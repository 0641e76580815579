#include "io/layouts/remap.hpp"

#include "io/agree.hpp"
#include "io/layouts/exchange.hpp"

#include <map>
#include <utility>

namespace nunatak::io {

namespace {

struct Put {
  std::size_t v;
  Hyperslab slab; ///< the caller's, or a copy
};

using Group = std::pair<std::size_t, std::size_t>; ///< a variable, and a record of it or no_record

/// How the puts of a sequence of variables are moved, from the boxes of their hyperslabs.
struct Schedule {
  std::vector<std::optional<Box>> mine;
  std::vector<std::size_t> groups; ///< of each put
  std::vector<Plan> plans;         ///< by part
  /// Puts to the inner format, by part and group: the same on all ranks.
  std::vector<std::vector<std::int64_t>> n_targets;
};

class Remap final : public Format {
public:
  Remap(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
        std::vector<int> aggregators, BoxesOf boxes_of, std::unique_ptr<Format> inner,
        Choice choice)
      : m_inner(std::move(inner)), m_choice(std::move(choice)), m_comm(comm), m_schema(schema),
        m_topology(topology), m_aggregators(std::move(aggregators)),
        m_boxes_of(std::move(boxes_of)), m_waiting(options.copy_bytes(), m_aggregators.size()) {}

  void define() override {
    m_inner->define();
    m_boxes.resize(m_schema.variables.size());
    m_bytes.resize(m_boxes.size());
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    if (m_choice.moves && !m_choice.moves(v, slab)) return m_inner->put(v, slab);
    if (m_boxes[v].empty()) {
      m_boxes[v] = m_boxes_of(m_schema, v);
      for (const auto& boxes : m_boxes[v]) m_bytes[v] += elements_of(boxes) * bytes_of(type_of(v));
    }
    const bool is_further_part = !m_puts.empty() && m_puts.back().v == v;
    const std::size_t bytes = is_further_part ? 0 : m_bytes[v];
    if (!is_further_part && (!m_waiting.has_room(bytes) || m_puts.size() > most_puts))
      move_pending();
    const std::size_t n_parts = m_waiting.parts(m_bytes[v]);
    if (n_parts > 1 && slab.of == 1) return move({{v, slab}}, n_parts);
    Put copy{v, slab};
    copy.slab.now_packed(m_copies.keep(slab, type_of(v)), type_of(v));
    m_puts.push_back(copy);
    m_waiting.add(bytes);
  }

  void wait() override {
    move_pending();
    inner([&] { m_inner->wait(); });
    m_error.rethrow();
  }
  Work work() const override {
    Work sum = m_inner->work();
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
  void close() override { m_inner->close(); }
  bool grows_in_place() const override { return m_inner->grows_in_place(); }
  void flush_values() override { m_inner->flush_values(); }
  void count_records() override { m_inner->count_records(); }
  Reopened reopen(const std::string& path, std::uint64_t records) override {
    return m_inner->reopen(path, records);
  }
  Sums own_sums(std::size_t records) const override { return m_inner->own_sums(records); }
  std::vector<OutputFile> files() const override { return m_inner->files(); }

private:
  /// A rank whose inner format fails still takes part in the next rounds.
  template <class F> void inner(const F& f) { m_error.keep(f); }

  template <class F> void timed(const F& f) {
    const double start = MPI_Wtime();
    f();
    m_work.exchange_seconds += MPI_Wtime() - start;
  }

  void move_pending() {
    if (!m_puts.empty()) move(m_puts, m_waiting.parts(m_waiting.bytes()));
    m_puts.clear();
    m_copies.clear();
    m_waiting.clear();
  }

  /// Move the puts to the aggregators, which write them, in `n_parts` steps.
  void move(const std::vector<Put>& puts, std::size_t n_parts) {
    std::vector<Group> groups;
    const Schedule* schedule = nullptr;
    timed([&] { schedule = &schedule_of(puts, n_parts, groups); });
    for (std::size_t part = 0; part < n_parts; ++part) {
      timed([&] { move_values(schedule->plans[part], puts); });
      write(schedule->plans[part], schedule->n_targets[part], groups);
      inner([&] { m_inner->wait(); });
    }
  }

  /// The schedule for the puts of all ranks, and their groups. One small reduction.
  const Schedule& schedule_of(const std::vector<Put>& puts, std::size_t n_parts,
                              std::vector<Group>& groups) {
    std::vector<std::size_t> variables, group_of_put;
    std::vector<std::optional<Box>> mine;
    std::map<Group, std::size_t> number;
    for (const auto& [v, slab] : puts) {
      const bool has_record = m_schema.has_records(m_schema.variables[v]);
      variables.push_back(v);
      mine.emplace_back();
      if (slab.elements() > 0) mine.back() = slab.box(has_record);
      const Group group{v, has_record ? slab.start[0] : no_record};
      const auto [found, is_new] = number.emplace(group, groups.size());
      if (is_new) groups.push_back(group);
      group_of_put.push_back(found->second);
    }
    // a file has two or three
    if (m_schedules.size() >= 32 && m_schedules.count(variables) == 0) m_schedules.clear();
    Schedule& schedule = m_schedules[variables];
    int has_changed = schedule.plans.empty() || schedule.mine != mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &has_changed, 1, MPI_INT, MPI_MAX, m_comm);
    if (has_changed == 0 && group_of_put == schedule.groups) return schedule;
    schedule = {std::move(mine), std::move(group_of_put), {}, {}};
    plan(schedule, puts, groups, n_parts);
    return schedule;
  }

  /// Makes plans from the boxes of all ranks: one gather to all, one reduction.
  void plan(Schedule& schedule, const std::vector<Put>& puts, const std::vector<Group>& groups,
            std::size_t n_parts) {
    Round round;
    round.groups = schedule.groups;
    std::vector<std::size_t> dimensions; // of each put
    for (const Put& put : puts) dimensions.push_back(whole_box(m_schema, put.v).count.size());
    round.given = gather_boxes(m_comm, schedule.mine, dimensions);
    for (const auto& [v, record] : groups) round.types.push_back(type_of(v));
    for (std::size_t part = 0; part < n_parts; ++part) {
      round.boxes.clear();
      for (const auto& [v, record] : groups) {
        round.boxes.emplace_back();
        for (const auto& boxes : m_boxes[v])
          round.boxes.back().push_back(part_of(boxes, part, n_parts));
      }
      schedule.plans.push_back(make_plan(m_rank, m_aggregators, round));
      std::vector<std::int64_t>& n = schedule.n_targets.emplace_back(groups.size(), 0);
      for (const Target& target : schedule.plans.back().targets) n[target.group] += 1;
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
      for (const Transfer& t : c.transfers)
        pack(slice(puts[t.put].slab, t.box), type_of(puts[t.put].v), out + t.offset);
      sends.push_back({c.rank, out, c.bytes});
      out += c.bytes;
      const auto sent = static_cast<std::int64_t>(c.bytes);
      m_work.message_bytes += sent;
      if (node_of(c.rank) != node_of(m_rank)) m_work.off_node_bytes += sent;
    }
    m_work.messages += exchange(m_comm, receives, sends);
    auto message = receives.begin();
    for (const Channel& c : plan.receives) {
      for (const Transfer& t : c.transfers) {
        const auto& [v, slab] = puts[t.put];
        const Target& target = plan.targets[t.target];
        const std::size_t bytes = bytes_of(type_of(v));
        std::byte* const to = assembled + target.offset;
        if (!is_own(c)) {
          copy(t.box, t.box, message->data + t.offset, target.box, to, bytes);
          continue;
        }
        const Hyperslab part = slice(slab, t.box);
        std::vector<std::ptrdiff_t> stride = contiguous_strides(target.box.count);
        stride.insert(stride.begin(), part.count.size() - stride.size(), 0); // the record
        pack(part, type_of(v), to + place_in(target.box, t.box) * bytes, stride);
      }
      if (!is_own(c)) ++message;
    }
  }

  /// Put the targets of this rank, and empty slabs where other ranks have more.
  void write(const Plan& plan, const std::vector<std::int64_t>& n_targets,
             const std::vector<Group>& groups) {
    auto target = plan.targets.begin();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto [v, record] = groups[g];
      for (std::int64_t k = 0; k < n_targets[g]; ++k) {
        Hyperslab slab;
        slab.type = type_of(v);
        slab.lasting = true;
        slab.empty = target == plan.targets.end() || target->group != g;
        if (slab.empty) {
          slab.start = slab.count = whole_box(m_schema, v).start; // zeros
        } else {
          slab.start = target->box.start;
          slab.count = target->box.count;
          slab.data = m_assembled.data() + target->offset;
          ++target;
        }
        slab.stride = contiguous_strides(slab.count);
        if (record != no_record) slab.insert_record(record);
        inner([&, v = v] { m_inner->put(v, slab); });
      }
    }
  }

  static constexpr std::size_t most_puts = 16384; ///< in a round: their boxes take memory

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
  Copies m_copies;         ///< of their values
  std::map<std::vector<std::size_t>, Schedule> m_schedules;
  Buffer m_outgoing, m_incoming, m_assembled;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> make_remap(MPI_Comm comm, const Schema& schema, const Options& options,
                                   const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner, Choice choice) {
  return std::make_unique<Remap>(comm, schema, options, topology, std::move(aggregators),
                                 std::move(boxes_of), std::move(inner), std::move(choice));
}

} // namespace nunatak::io
