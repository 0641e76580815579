#include "io/layouts/remap.hpp"

#include "io/agree.hpp"
#include "io/formats/quota.hpp"
#include "io/layouts/exchange.hpp"
#include "io/layouts/exchange_plan.hpp"
#include "io/layouts/format_around.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

struct Put {
  std::size_t v;
  Hyperslab slab; ///< the caller's, or a copy
};

/// How the puts of a sequence of variables are moved, from the boxes of their hyperslabs.
struct Schedule {
  std::vector<std::optional<Box>> mine;
  std::vector<std::size_t> groups;
  std::vector<Plan> plans; ///< by part
  /// Puts to the inner format, by part and group: the same on all ranks.
  std::vector<std::vector<std::int64_t>> n;
};

class Remap final : public FormatAround {
public:
  Remap(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
        std::vector<int> aggregators, BoxesOf boxes_of, std::unique_ptr<Format> inner)
      : FormatAround(std::move(inner)), m_comm(comm), m_schema(schema), m_topology(topology),
        m_aggregators(std::move(aggregators)), m_boxes_of(std::move(boxes_of)) {
    m_waiting.limit = static_cast<std::int64_t>(options.copy_bytes() * m_aggregators.size());
  }

  void define() override {
    m_inner->define();
    for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
      m_boxes.push_back(m_boxes_of(m_schema, v));
      std::size_t elements = 0;
      for (const auto& boxes : m_boxes.back()) elements += elements_of(boxes);
      m_bytes.push_back(static_cast<std::int64_t>(elements * bytes_of(m_schema.variables[v].type)));
    }
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    // several parts of a variable are put
    const bool goes_on = !m_puts.empty() && m_puts.back().v == v;
    const std::int64_t bytes = goes_on ? 0 : m_bytes[v];
    if (!m_waiting.has_room(bytes)) move_pending();
    const auto n_parts = static_cast<std::size_t>(m_waiting.parts(m_bytes[v]));
    if (n_parts > 1) return move({{v, slab}}, n_parts);
    Put copy{v, slab};
    const Type type = m_schema.variables[v].type;
    copy.slab.now_packed(m_copies.keep(slab, type), type);
    m_puts.push_back(copy);
    m_waiting.bytes += bytes;
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

private:
  /// A rank whose inner format fails still takes part in the next rounds.
  template <class F> void inner(const F& f) { m_error.keep(f); }

  template <class F> void timed(const F& f) {
    const double start = MPI_Wtime();
    f();
    m_work.exchange_seconds += MPI_Wtime() - start;
  }

  void move_pending() {
    if (!m_puts.empty()) move(m_puts, 1);
    m_puts.clear();
    m_copies.clear();
    m_waiting.bytes = 0;
  }

  /// Move the puts to the aggregators, which write them, in `n_parts` steps.
  void move(const std::vector<Put>& puts, std::size_t n_parts) {
    std::vector<std::int64_t> records;
    const Schedule* schedule = nullptr;
    timed([&] { schedule = &schedule_of(puts, n_parts, records); });
    for (std::size_t part = 0; part < n_parts; ++part) {
      timed([&] { move_values(schedule->plans[part], puts); });
      write(schedule->plans[part], schedule->n[part], puts, schedule->groups, records);
      inner([&] { m_inner->wait(); });
    }
  }

  std::optional<Box> box_of(const Put& put) const {
    if (put.slab.elements() == 0) return std::nullopt;
    return put.slab.box(m_schema.has_records(m_schema.variables[put.v]));
  }

  /// The schedule for the puts of all ranks, and their `records`, which empty slabs do not have.
  const Schedule& schedule_of(const std::vector<Put>& puts, std::size_t n_parts,
                              std::vector<std::int64_t>& records) {
    std::vector<std::size_t> variables;
    std::vector<std::optional<Box>> mine;
    for (const Put& put : puts) {
      variables.push_back(put.v);
      mine.push_back(box_of(put));
    }
    // a file has two or three
    if (m_schedules.size() >= 32 && m_schedules.count(variables) == 0) m_schedules.clear();
    Schedule& schedule = m_schedules[variables];
    std::vector<std::int64_t> most{schedule.plans.empty() || schedule.mine != mine ? 1 : 0};
    for (std::size_t n = 0; n < puts.size(); ++n) {
      const bool knows = mine[n] && m_schema.has_records(m_schema.variables[puts[n].v]);
      most.push_back(knows ? static_cast<std::int64_t>(puts[n].slab.start[0]) : -1);
    }
    MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT64_T, MPI_MAX,
                  m_comm);
    records.assign(most.begin() + 1, most.end());
    const std::vector<std::size_t> groups = groups_of(variables, records);
    if (most[0] == 0 && groups == schedule.groups) return schedule;
    schedule.mine = mine;
    schedule.groups = groups;
    plan(schedule, variables, n_parts);
    return schedule;
  }

  /// The group of each put: one for each variable and record.
  static std::vector<std::size_t> groups_of(const std::vector<std::size_t>& variables,
                                            const std::vector<std::int64_t>& records) {
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> number;
    std::vector<std::size_t> groups;
    for (std::size_t n = 0; n < variables.size(); ++n)
      groups.push_back(
          number.emplace(std::pair{variables[n], records[n]}, number.size()).first->second);
    return groups;
  }

  /// Makes plans from the boxes of all ranks: one gather to all, one reduction.
  void plan(Schedule& schedule, const std::vector<std::size_t>& variables, std::size_t n_parts) {
    Round round;
    round.groups = schedule.groups;
    std::vector<std::size_t> ranks; // numbers of dimensions
    for (const std::size_t v : variables) ranks.push_back(whole_box(m_schema, v).count.size());
    round.given = gather_boxes(m_comm, schedule.mine, ranks);
    std::vector<std::size_t> of_group; // its variable
    for (std::size_t n = 0; n < variables.size(); ++n) {
      if (round.groups[n] == of_group.size()) of_group.push_back(variables[n]);
    }
    for (const std::size_t v : of_group) round.types.push_back(m_schema.variables[v].type);
    schedule.plans.clear();
    std::vector<std::int64_t> n_targets(n_parts * of_group.size(), 0);
    for (std::size_t part = 0; part < n_parts; ++part) {
      round.boxes.clear();
      for (const std::size_t v : of_group) {
        round.boxes.emplace_back();
        for (const auto& boxes : m_boxes[v])
          round.boxes.back().push_back(part_of(boxes, part, n_parts));
      }
      schedule.plans.push_back(make_plan(m_rank, m_aggregators, round));
      for (const Target& target : schedule.plans.back().targets)
        n_targets[part * of_group.size() + target.group] += 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, n_targets.data(), static_cast<int>(n_targets.size()), MPI_INT64_T,
                  MPI_MAX, m_comm);
    schedule.n.clear();
    for (auto n = n_targets.begin(); n != n_targets.end();
         n += static_cast<std::ptrdiff_t>(of_group.size()))
      schedule.n.emplace_back(n, n + static_cast<std::ptrdiff_t>(of_group.size()));
  }

  /// Completes the targets in m_assembled.
  void move_values(const Plan& plan, const std::vector<Put>& puts) {
    m_assembled.of_size(plan.target_bytes);
    std::vector<Message> receives = make_receives(plan);
    m_work.messages += exchange(m_comm, receives, make_sends(plan, puts));
    for (const Transfer& t : plan.own)
      place(plan, t, type_of_put(puts[t.put]), slice(puts[t.put].slab, t.box));
    for (std::size_t c = 0; c < plan.receives.size(); ++c) {
      for (const Transfer& t : plan.receives[c].transfers) {
        const Type type = type_of_put(puts[t.put]);
        place(plan, t, type,
              {t.box.start, t.box.count, contiguous_strides(t.box.count),
               receives[c].data + t.offset, type, false, false});
      }
    }
  }

  std::vector<Message> make_receives(const Plan& plan) {
    std::size_t bytes = 0;
    for (const Channel& c : plan.receives) bytes += c.bytes;
    std::byte* in = m_incoming.of_size(bytes);
    std::vector<Message> receives;
    for (const Channel& c : plan.receives) {
      receives.push_back({c.rank, in, c.bytes});
      in += c.bytes;
    }
    return receives;
  }

  std::vector<Message> make_sends(const Plan& plan, const std::vector<Put>& puts) {
    std::size_t bytes = 0;
    for (const Channel& c : plan.sends) bytes += c.bytes;
    std::byte* out = m_outgoing.of_size(bytes);
    std::vector<Message> sends;
    for (const Channel& c : plan.sends) {
      for (const Transfer& t : c.transfers)
        pack(slice(puts[t.put].slab, t.box), type_of_put(puts[t.put]), out + t.offset);
      sends.push_back({c.rank, out, c.bytes});
      out += c.bytes;
      const auto sent = static_cast<std::int64_t>(c.bytes);
      m_work.message_bytes += sent;
      if (node_of(c.rank) != node_of(m_rank)) m_work.off_node_bytes += sent;
    }
    return sends;
  }

  void place(const Plan& plan, const Transfer& t, Type type, Hyperslab part) {
    const Target& target = plan.targets[t.target];
    const std::vector<std::ptrdiff_t> stride = contiguous_strides(target.box.count);
    std::ptrdiff_t at = 0;
    for (std::size_t d = 0; d < stride.size(); ++d)
      at += stride[d] * static_cast<std::ptrdiff_t>(t.box.start[d] - target.box.start[d]);
    // 1: drop the record dimension
    const auto lead = static_cast<std::ptrdiff_t>(part.count.size() - stride.size());
    part.start.erase(part.start.begin(), part.start.begin() + lead);
    part.count.erase(part.count.begin(), part.count.begin() + lead);
    part.stride.erase(part.stride.begin(), part.stride.begin() + lead);
    pack(part, type,
         m_assembled.data() + target.offset + at * static_cast<std::ptrdiff_t>(bytes_of(type)),
         stride);
  }

  /// Put the targets of this rank, and empty slabs where other ranks have more.
  void write(const Plan& plan, const std::vector<std::int64_t>& n, const std::vector<Put>& puts,
             const std::vector<std::size_t>& groups, const std::vector<std::int64_t>& records) {
    std::byte* const assembled = m_assembled.of_size(plan.target_bytes);
    auto target = plan.targets.begin();
    for (std::size_t g = 0; g < n.size(); ++g) {
      const auto put =
          static_cast<std::size_t>(std::find(groups.begin(), groups.end(), g) - groups.begin());
      const std::size_t v = puts[put].v;
      const Variable& variable = m_schema.variables[v];
      for (std::int64_t k = 0; k < n[g]; ++k) {
        Box box = whole_box(m_schema, v);
        Hyperslab slab;
        slab.type = variable.type;
        slab.lasting = true;
        slab.empty = target == plan.targets.end() || target->group != g;
        if (slab.empty) {
          box.start.assign(box.start.size(), 0);
          box.count.assign(box.count.size(), 0);
        } else {
          slab.data = assembled + target->offset;
          box = (target++)->box;
        }
        slab.stride = contiguous_strides(box.count);
        slab.start = std::move(box.start);
        slab.count = std::move(box.count);
        if (m_schema.has_records(variable))
          slab.insert_record(static_cast<std::size_t>(records[put]));
        inner([&] { m_inner->put(v, slab); });
      }
    }
  }

  Type type_of_put(const Put& put) const { return m_schema.variables[put.v].type; }
  int node_of(int rank) const { return m_topology.node_of[static_cast<std::size_t>(rank)]; }

  MPI_Comm m_comm;
  const Schema& m_schema;
  int m_rank = rank_in(m_comm);
  Topology m_topology;
  std::vector<int> m_aggregators;
  BoxesOf m_boxes_of;
  std::vector<Boxes> m_boxes;        ///< of each variable
  std::vector<std::int64_t> m_bytes; ///< of a record of each variable, over all aggregators
  Waiting m_waiting{0};              ///< copies over all ranks, counted alike by all ranks
  std::vector<Put> m_puts;           ///< since the last round
  Copies m_copies;                   ///< of their values
  std::map<std::vector<std::size_t>, Schedule> m_schedules;
  Buffer m_outgoing, m_incoming, m_assembled;
  KeptError m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> make_remap(MPI_Comm comm, const Schema& schema, const Options& options,
                                   const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner) {
  return std::make_unique<Remap>(comm, schema, options, topology, std::move(aggregators),
                                 std::move(boxes_of), std::move(inner));
}

} // namespace nunatak::io
