// See remap.hpp.
#include "io/layouts/remap.hpp"

#include "io/error.hpp"
#include "io/layouts/exchange.hpp"
#include "io/layouts/exchange_plan.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

struct Post {
  std::size_t v;
  Hyperslab slab; ///< the caller's, or in a buffer
};

/// How the posts of a sequence of variables are moved, from the slabs that they had when it was made.
struct Schedule {
  std::vector<std::optional<Box>> mine;
  std::vector<std::size_t> groups;
  std::vector<Plan> plans;                  ///< of the parts
  std::vector<std::vector<std::int64_t>> n; ///< posts to the inner format, by part and group: the same on all ranks
};

class Remap final : public Format {
public:
  Remap(MPI_Comm comm, const Options& options, const Topology& topology, std::vector<int> aggregators, BoxesOf boxes_of,
        std::unique_ptr<Format> inner)
      : m_comm(comm), m_topology(topology), m_aggregators(std::move(aggregators)), m_boxes_of(std::move(boxes_of)),
        m_inner(std::move(inner)), m_limit(static_cast<std::int64_t>(options.buffer * m_aggregators.size())) {
    MPI_Comm_rank(comm, &m_rank);
  }

  void define(const Schema& schema) override {
    m_schema = &schema;
    m_inner->define(schema);
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
      m_boxes.push_back(m_boxes_of(schema, v));
      std::int64_t bytes = 0;
      for (const auto& boxes : m_boxes.back()) {
        for (const Box& box : boxes) bytes += static_cast<std::int64_t>(box.elements() * bytes_of(schema.variables[v].type));
      }
      m_bytes.push_back(bytes);
    }
  }

  void put(std::size_t v, const Hyperslab& slab) override {
    const std::int64_t n_parts = (m_bytes[v] + m_limit - 1) / m_limit;
    if (m_waiting + m_bytes[v] > m_limit) move_pending();
    if (n_parts > 1) return move({{v, slab}}, static_cast<std::size_t>(n_parts));
    Post copy{v, slab};
    const Type type = m_schema->variables[v].type;
    if (m_posts.size() == m_copies.size()) m_copies.emplace_back();
    std::byte* const data = m_copies[m_posts.size()].of_size(slab.elements() * bytes_of(type));
    pack(slab, type, data);
    copy.slab.data = data;
    copy.slab.type = type;
    copy.slab.stride = contiguous_strides(slab.count);
    m_posts.push_back(copy);
    m_waiting += m_bytes[v];
  }

  void wait() override {
    move_pending();
    inner([&] { m_inner->wait(); });
    if (!m_error.empty()) throw Error(m_error);
  }
  void flush() override { m_inner->flush(); }
  void close() override { m_inner->close(); }
  Work work() const override {
    Work sum = m_inner->work();
    return sum += m_work;
  }
  std::map<std::string, std::string> hints() const override { return m_inner->hints(); }
  std::vector<OutputFile> files() const override { return m_inner->files(); }

private:
  /// A rank on which the inner format fails still takes part in the next rounds: others do not know.
  template <class F> void inner(const F& f) {
    try {
      f();
    } catch (const std::exception& e) {
      if (m_error.empty()) m_error = e.what();
    }
  }

  /// Add the time of f to the exchange.
  template <class F> void timed(const F& f) {
    const double start = MPI_Wtime();
    f();
    m_work.exchange_seconds += MPI_Wtime() - start;
  }

  void move_pending() {
    if (!m_posts.empty()) move(m_posts, 1);
    m_posts.clear();
    m_waiting = 0;
  }

  /// Move the posts to the aggregators and have them written, in `n_parts` steps.
  void move(const std::vector<Post>& posts, std::size_t n_parts) {
    std::vector<std::int64_t> records;
    const Schedule* schedule = nullptr;
    timed([&] { schedule = &schedule_of(posts, n_parts, records); });
    for (std::size_t part = 0; part < n_parts; ++part) {
      timed([&] { move_values(schedule->plans[part], posts); });
      write(schedule->plans[part], schedule->n[part], posts, schedule->groups, records);
      inner([&] { m_inner->wait(); });
    }
  }

  std::optional<Box> box_of(const Post& post) const {
    if (post.slab.elements() == 0) return std::nullopt;
    const std::ptrdiff_t lead = m_schema->has_records(m_schema->variables[post.v]) ? 1 : 0;
    return Box{{post.slab.start.begin() + lead, post.slab.start.end()}, {post.slab.count.begin() + lead, post.slab.count.end()}};
  }

  /// The schedule that fits the posts of all ranks; `records` of the posts, which a rank with an empty slab does not know.
  const Schedule& schedule_of(const std::vector<Post>& posts, std::size_t n_parts, std::vector<std::int64_t>& records) {
    std::vector<std::size_t> variables;
    std::vector<std::optional<Box>> mine;
    for (const Post& post : posts) {
      variables.push_back(post.v);
      mine.push_back(box_of(post));
    }
    if (m_schedules.size() >= 32 && m_schedules.count(variables) == 0) m_schedules.clear(); // a file has two or three
    Schedule& schedule = m_schedules[variables];
    std::vector<std::int64_t> most{schedule.plans.empty() || schedule.mine != mine ? 1 : 0};
    for (std::size_t n = 0; n < posts.size(); ++n) {
      const bool knows = mine[n] && m_schema->has_records(m_schema->variables[posts[n].v]);
      most.push_back(knows ? static_cast<std::int64_t>(posts[n].slab.start[0]) : -1);
    }
    MPI_Allreduce(MPI_IN_PLACE, most.data(), static_cast<int>(most.size()), MPI_INT64_T, MPI_MAX, m_comm);
    records.assign(most.begin() + 1, most.end());
    const std::vector<std::size_t> groups = groups_of(variables, records);
    if (most[0] == 0 && groups == schedule.groups) return schedule;
    schedule.mine = mine;
    schedule.groups = groups;
    plan(schedule, variables, n_parts);
    return schedule;
  }

  /// Posts of the same variable and record have the same number.
  static std::vector<std::size_t> groups_of(const std::vector<std::size_t>& variables, const std::vector<std::int64_t>& records) {
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> number;
    std::vector<std::size_t> groups;
    for (std::size_t n = 0; n < variables.size(); ++n)
      groups.push_back(number.emplace(std::pair{variables[n], records[n]}, number.size()).first->second);
    return groups;
  }

  /// From the slabs of all ranks: one gather to all, one reduction.
  void plan(Schedule& schedule, const std::vector<std::size_t>& variables, std::size_t n_parts) {
    Round round;
    round.groups = schedule.groups;
    std::vector<std::size_t> ranks; // number of dimensions
    for (const std::size_t v : variables) ranks.push_back(whole_box(*m_schema, v).count.size());
    round.slabs = gather_boxes(m_comm, schedule.mine, ranks);
    std::vector<std::size_t> of_group; // variable
    for (std::size_t n = 0; n < variables.size(); ++n) {
      if (round.groups[n] == of_group.size()) of_group.push_back(variables[n]);
    }
    for (const std::size_t v : of_group) round.types.push_back(m_schema->variables[v].type);
    schedule.plans.clear();
    std::vector<std::int64_t> n_targets(n_parts * of_group.size(), 0);
    for (std::size_t part = 0; part < n_parts; ++part) {
      round.boxes.clear();
      for (const std::size_t v : of_group) {
        round.boxes.emplace_back();
        for (const auto& boxes : m_boxes[v]) round.boxes.back().push_back(part_of(boxes, part, n_parts));
      }
      schedule.plans.push_back(make_plan(m_rank, m_aggregators, round));
      for (const Target& target : schedule.plans.back().targets) n_targets[part * of_group.size() + target.group] += 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, n_targets.data(), static_cast<int>(n_targets.size()), MPI_INT64_T, MPI_MAX, m_comm);
    schedule.n.clear();
    for (auto n = n_targets.begin(); n != n_targets.end(); n += static_cast<std::ptrdiff_t>(of_group.size()))
      schedule.n.emplace_back(n, n + static_cast<std::ptrdiff_t>(of_group.size()));
  }

  /// The part `box` of this rank's post.
  Hyperslab part_of_post(const Post& post, const Box& box) const {
    Hyperslab part = post.slab;
    const std::size_t lead = part.count.size() - box.count.size();
    for (std::size_t d = 0; d < box.count.size(); ++d) part = slice(part, lead + d, box.start[d], box.start[d] + box.count[d]);
    return part;
  }

  /// After it the targets are complete in m_assembled.
  void move_values(const Plan& plan, const std::vector<Post>& posts) {
    std::size_t outgoing = 0, incoming = 0;
    for (const Channel& c : plan.sends) outgoing += c.bytes;
    for (const Channel& c : plan.receives) incoming += c.bytes;
    std::byte *out = m_outgoing.of_size(outgoing), *in = m_incoming.of_size(incoming),
              *assembled = m_assembled.of_size(plan.target_bytes);
    std::vector<Message> sends, receives;
    for (const Channel& c : plan.receives) {
      receives.push_back({c.rank, in, c.bytes});
      in += c.bytes;
    }
    for (const Channel& c : plan.sends) {
      for (const Transfer& t : c.transfers)
        pack(part_of_post(posts[t.post], t.box), m_schema->variables[posts[t.post].v].type, out + t.offset);
      sends.push_back({c.rank, out, c.bytes});
      out += c.bytes;
      m_work.message_bytes += static_cast<std::int64_t>(c.bytes);
      if (node_of(c.rank) != node_of(m_rank)) m_work.off_node_bytes += static_cast<std::int64_t>(c.bytes);
    }
    m_work.messages += exchange(m_comm, receives, sends);

    const auto place = [&](const Transfer& t, Hyperslab part) { // into its target
      const Target& target = plan.targets[t.target];
      const Type type = m_schema->variables[posts[t.post].v].type;
      const std::vector<std::ptrdiff_t> stride = contiguous_strides(target.box.count);
      std::ptrdiff_t at = 0;
      for (std::size_t d = 0; d < stride.size(); ++d)
        at += stride[d] * static_cast<std::ptrdiff_t>(t.box.start[d] - target.box.start[d]);
      const std::size_t lead = part.count.size() - stride.size();
      part.start.erase(part.start.begin(), part.start.begin() + static_cast<std::ptrdiff_t>(lead));
      part.count.erase(part.count.begin(), part.count.begin() + static_cast<std::ptrdiff_t>(lead));
      part.stride.erase(part.stride.begin(), part.stride.begin() + static_cast<std::ptrdiff_t>(lead));
      pack(part, type, assembled + target.offset + at * static_cast<std::ptrdiff_t>(bytes_of(type)), stride);
    };
    for (const Transfer& t : plan.own) place(t, part_of_post(posts[t.post], t.box));
    for (std::size_t c = 0; c < plan.receives.size(); ++c) {
      for (const Transfer& t : plan.receives[c].transfers) {
        place(t, {t.box.start, t.box.count, contiguous_strides(t.box.count), receives[c].data + t.offset,
                  m_schema->variables[posts[t.post].v].type, false, false});
      }
    }
  }

  /// Post the targets of this rank, and empty slabs where other ranks have more.
  void write(const Plan& plan, const std::vector<std::int64_t>& n, const std::vector<Post>& posts,
             const std::vector<std::size_t>& groups, const std::vector<std::int64_t>& records) {
    std::byte* const assembled = m_assembled.of_size(plan.target_bytes);
    auto target = plan.targets.begin();
    for (std::size_t g = 0; g < n.size(); ++g) {
      const auto post = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), g) - groups.begin());
      const std::size_t v = posts[post].v;
      const Variable& variable = m_schema->variables[v];
      for (std::int64_t k = 0; k < n[g]; ++k) {
        Box box = whole_box(*m_schema, v);
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
        if (m_schema->has_records(variable)) {
          slab.start.insert(slab.start.begin(), static_cast<std::size_t>(records[post]));
          slab.count.insert(slab.count.begin(), 1);
          slab.stride.insert(slab.stride.begin(), 0);
        }
        inner([&] { m_inner->put(v, slab); });
      }
    }
  }

  int node_of(int rank) const { return m_topology.node_of[static_cast<std::size_t>(rank)]; }

  MPI_Comm m_comm;
  int m_rank = 0;
  Topology m_topology;
  std::vector<int> m_aggregators;
  BoxesOf m_boxes_of;
  std::unique_ptr<Format> m_inner;
  const Schema* m_schema = nullptr;
  std::vector<Boxes> m_boxes;          ///< of each variable
  std::vector<std::int64_t> m_bytes;   ///< of a record of each variable, over all aggregators
  std::int64_t m_limit, m_waiting = 0; ///< bytes of copies over all ranks, as all ranks count them
  std::vector<Post> m_posts;           ///< since the last round
  std::vector<Buffer> m_copies;        ///< of their values
  std::map<std::vector<std::size_t>, Schedule> m_schedules;
  Buffer m_outgoing, m_incoming, m_assembled;
  std::string m_error;
  Work m_work;
};

} // namespace

std::unique_ptr<Format> make_remap(MPI_Comm comm, const Options& options, const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner) {
  return std::make_unique<Remap>(comm, options, topology, std::move(aggregators), std::move(boxes_of), std::move(inner));
}

} // namespace nunatak::io
