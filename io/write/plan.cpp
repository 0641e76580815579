#include "io/write/plan.hpp"

#include "io/data/exchange.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/remap.hpp"
#include "io/methods/registry.hpp"
#include "io/write/servers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace nunatak::io {

namespace {

class Planner {
public:
  Planner(const Schema& schema, const ClassicLayout& layout, const Options& options,
          const Topology& topology, const Stripes& stripes, const std::vector<Parts>& parts,
          PlanWatch& watch)
      : m_schema(schema), m_layout(layout), m_options(options), m_topology(topology),
        m_stripes(stripes), m_parts(parts), m_watch(watch), m_row(layout_row(options)),
        m_collects(has_features(options, mpi_io)), m_has_servers(options.transport != "sync"),
        m_copies(options.copy_bytes(), 1) {
    const std::size_t ranks = topology.node_of.size();
    if (m_has_servers) {
      m_movers.resize(static_cast<std::size_t>(parse_transport(options.transport)));
      std::iota(m_movers.begin(), m_movers.end(), static_cast<int>(ranks));
      m_batch.resize(m_movers.size());
    } else if (options.format == "serial") {
      m_movers = {0};
    } else if (m_collects) {
      m_movers = aggregators(topology, std::max(1, options.aggregators));
    } else if (m_row.boxes != nullptr) {
      m_movers = aggregators_of(options, topology);
      if (m_row.chooses) m_movers = one_per_server(m_movers, stripes);
    }
    m_deal = {m_movers.size(), stripes.bytes, stripes.servers};
    m_copies = Waiting(round_bytes(options, writes_behind(options, topology, stripes)),
                       m_collects ? ranks : m_movers.size());
    m_runs.resize(ranks + (m_has_servers ? m_movers.size() : 0));
  }

  void put(std::size_t v, std::size_t record) {
    m_record = record;
    if (m_movers.empty() || (m_row.chooses && !m_has_servers && !moves(v))) {
      return for_each_part(v, whole_box(m_schema, v),
                           [&](int rank, const Box& part) { write(v, rank, part); });
    }
    const std::size_t bytes = m_schema.bytes(m_schema.variables[v]);
    std::vector<std::size_t> of_servers;
    if (m_has_servers) of_servers = server_bytes(boxes_of(v), type_of(v));
    if (m_has_servers ? ends_before(m_batch, of_servers, m_options.batch_bytes())
                      : !m_copies.has_room(bytes))
      move(1);
    m_puts.push_back(v);
    const std::size_t n_parts = m_has_servers ? 1 : m_copies.parts(bytes);
    if (n_parts > 1) return move(n_parts);
    m_copies.add(bytes);
    for (std::size_t s = 0; s < of_servers.size(); ++s) m_batch[s] += of_servers[s];
  }

  void end() {
    move(1);
    write_pending();
    if (has_features(m_options, by_runs)) // the number of records
      m_watch.write(m_has_servers ? m_movers[0] : 0, 4, m_layout.count_bytes);
    m_watch.next();
  }

private:
  Type type_of(std::size_t v) const { return m_schema.variables[v].type; }

  /// What each of m_movers writes of a variable.
  Boxes boxes_of(std::size_t v) const {
    if (m_has_servers) return server_boxes(m_options, m_schema, v, m_movers.size());
    if (m_options.format == "serial") return {{whole_box(m_schema, v)}};
    if (m_row.chooses) return run_boxes(m_schema, v, m_deal, m_layout.variables[v].begin);
    if (!m_collects) return m_row.boxes(m_schema, v, m_movers.size(), m_stripes.bytes);
    std::uint64_t begin = ~std::uint64_t{0}, end = 0; // of all that is collected
    for (const std::size_t u : m_puts) {
      begin = std::min(begin, m_layout.variables[u].begin);
      end = std::max(end, m_layout.variables[u].begin + m_layout.variables[u].size);
    }
    const Deal pieces{m_movers.size(), (end - begin + m_movers.size() - 1) / m_movers.size()};
    return run_boxes(m_schema, v, pieces, m_layout.variables[v].begin - begin);
  }

  /// f(rank, part) for what each rank has of a box.
  template <class F> void for_each_part(std::size_t v, const Box& box, const F& f) const {
    const std::vector<Part>& parts = *m_parts[v];
    const Box &first = parts.front().box, &last = parts.back().box;
    if (parts.size() == 1) return f(parts[0].rank, box);
    std::size_t d = 0; // along which parts are ordered
    while (first.start[d] == last.start[d]) ++d;
    const auto is_before = [&](const Part& p) {
      return p.box.start[d] + p.box.count[d] <= box.start[d];
    };
    for (auto part = std::partition_point(parts.begin(), parts.end(), is_before);
         part != parts.end() && part->box.start[d] < box.start[d] + box.count[d]; ++part) {
      const Box both = meet(part->box, box);
      if (both.elements() > 0) f(part->rank, both);
    }
  }

  using Shape = std::pair<Indices, Type>;
  Shape shape_of(std::size_t v) const { return {whole_box(m_schema, v).count, type_of(v)}; }

  /// The choice of `auto`, made once for each shape and type of which ranks have several runs.
  bool moves(std::size_t v) {
    const auto found = m_moves.find(shape_of(v));
    if (found != m_moves.end()) return found->second;
    const Boxes boxes = run_boxes(m_schema, v, m_deal, m_layout.variables[v].begin);
    MoveCounts sum;
    std::vector<std::int64_t> of_nodes(static_cast<std::size_t>(m_topology.n_nodes), 0);
    for_each_part(v, whole_box(m_schema, v), [&](int rank, const Box& part) {
      const MoveCounts counts =
          move_counts(m_schema, v, part, boxes, near_aggregators(m_topology, m_movers, rank));
      sum += counts;
      const int node = m_topology.node_of[static_cast<std::size_t>(rank)];
      of_nodes[static_cast<std::size_t>(node)] += counts.bytes;
    });
    if (sum.calls <= 1) return false;
    return m_moves[shape_of(v)] = should_move(sum, of_nodes, m_deal, m_stripes.locks);
  }

  /// What waits goes to the ranks or servers that write it, in `n_parts` steps.
  void move(std::size_t n_parts) {
    std::vector<Boxes> boxes;
    for (const std::size_t v : m_puts) boxes.push_back(boxes_of(v));
    for (std::size_t p = 0; p < n_parts && !m_puts.empty(); ++p) {
      m_watch.next();
      std::vector<std::vector<std::pair<std::size_t, Box>>> targets(m_movers.size());
      for (std::size_t a = 0; a < m_movers.size(); ++a) {
        std::map<int, std::int64_t> bytes; // by sender
        for (std::size_t k = 0; k < m_puts.size(); ++k) {
          std::map<int, std::size_t> elements;
          for (const Box& box : part_of(boxes[k][a], p, n_parts)) {
            targets[a].emplace_back(m_puts[k], box);
            send(m_puts[k], box, m_movers[a], elements);
          }
          for (const auto& [rank, n] : elements)
            bytes[rank] += static_cast<std::int64_t>(whole_words(n * bytes_of(type_of(m_puts[k]))));
        }
        for (const auto& [rank, n] : bytes) m_watch.message(rank, m_movers[a], n);
      }
      for (std::size_t a = 0; a < m_movers.size(); ++a) {
        for (const auto& [v, box] : targets[a]) write(v, m_movers[a], box);
      }
      if (!m_has_servers) write_pending();
    }
    m_puts.clear();
    m_copies.clear();
    std::fill(m_batch.begin(), m_batch.end(), 0);
  }

  /// A box to one of m_movers: to a server in messages of their own, else added to `elements`.
  void send(std::size_t v, const Box& box, int to, std::map<int, std::size_t>& elements) {
    for_each_part(v, box, [&](int rank, const Box& part) {
      if (rank == to) return;
      if (!m_has_servers) {
        elements[rank] += part.elements();
        return;
      }
      for (const Box& one : message_boxes(part, type_of(v), m_options.pool)) {
        const std::size_t head = message_head(0, {v, 0, 0}, one).size();
        m_watch.message(rank, to,
                        static_cast<std::int64_t>(head + one.elements() * bytes_of(type_of(v))));
      }
    });
  }

  void write(std::size_t v, int rank, const Box& box) {
    if (m_options.format == "null") return;
    const bool has_records = m_schema.has_records(m_schema.variables[v]);
    const auto values = [&](const Hyperslab& part, std::size_t at) {
      const std::size_t bytes = part.elements() * bytes_of(type_of(v));
      return m_values.of_size(std::max(bytes, PendingRuns::most)) + at;
    };
    m_runs[static_cast<std::size_t>(rank)].put(
        m_schema, m_layout, v, has_records ? m_record : no_record,
        Hyperslab{box, Strides(box.count.size(), 0), nullptr, type_of(v)}, values,
        [&] { write_runs(rank); });
  }

  void write_runs(int rank) {
    const int ranks = static_cast<int>(m_topology.node_of.size()),
              number = rank < ranks ? rank : rank - ranks; // of those that write
    m_runs[static_cast<std::size_t>(rank)].flush(number, [&](const auto& runs, std::size_t) {
      for (const Run& run : runs) m_watch.write(rank, run.begin, run.size);
    });
  }
  void write_pending() {
    for (std::size_t r = 0; r < m_runs.size(); ++r) write_runs(static_cast<int>(r));
  }

  const Schema& m_schema;
  const ClassicLayout& m_layout;
  const Options& m_options;
  const Topology& m_topology;
  const Stripes& m_stripes;
  const std::vector<Parts>& m_parts;
  PlanWatch& m_watch;
  const LayoutRow& m_row;
  bool m_collects, m_has_servers; ///< MPI-IO moves values; servers write
  std::vector<int> m_movers;      ///< ranks or servers that write what others put, ascending
  Deal m_deal;                    ///< auto
  std::size_t m_record = 0;
  std::map<Shape, bool> m_moves;
  std::vector<std::size_t> m_puts;  ///< variables that wait
  Waiting m_copies;                 ///< their bytes
  std::vector<std::size_t> m_batch; ///< their bytes on each server
  std::vector<PendingRuns> m_runs;  ///< by rank
  Buffer m_values;                  ///< never touched: it gives places
};

} // namespace

Parts make_parts(std::vector<Part> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.box.start < b.box.start; });
  return std::make_shared<const std::vector<Part>>(std::move(parts));
}

bool plan_records(const Schema& schema, const ClassicLayout& layout, Options options,
                  const Topology& topology, const Stripes& stripes, const std::vector<Parts>& parts,
                  std::size_t records, PlanWatch& watch) {
  options.layout = layout_of(options);
  check(options);
  if (has_features(options, aggregates) || layout_row(options).subfiles ||
      (has_features(options, mpi_io) && options.layout != "native") ||
      (options.transport != "sync" && !has_features(options, by_runs)))
    return false;
  Planner planner(schema, layout, options, topology, stripes, parts, watch);
  for (std::size_t record = 0; record < records; ++record) {
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
      if (record == 0 || schema.has_records(schema.variables[v])) planner.put(v, record);
    }
    planner.end();
  }
  return true;
}

} // namespace nunatak::io
