#include "io/layouts/auto.hpp"

#include "io/formats/runs.hpp"
#include "io/layouts/remap.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nunatak::io {

namespace {

/// A call of the file system takes as long as sending this many bytes, and so does a lock.
constexpr double call_cost = 8 << 10, lock_cost = 128 << 10;

/// The elements first <= n < last of a box in row-major order, as boxes.
void append_run(const Box& box, std::size_t first, std::size_t last, std::vector<Box>& boxes,
                std::size_t d = 0) {
  if (first >= last) return;
  std::size_t row = 1;
  for (std::size_t e = d + 1; e < box.count.size(); ++e) row *= box.count[e];
  const std::size_t whole = (first + row - 1) / row, end = last / row; // rows
  const auto part = [&](std::size_t index, std::size_t begin, std::size_t stop) {
    Box one = box;
    one.start[d] += index;
    one.count[d] = 1;
    append_run(one, begin, stop, boxes, d + 1);
  };
  if (whole > end) return part(end, first % row, last % row); // within one row
  if (first % row != 0) part(whole - 1, first % row, row);
  if (end > whole) {
    boxes.push_back(box);
    boxes.back().start[d] += whole;
    boxes.back().count[d] = end - whole;
  }
  if (last % row != 0) part(end, 0, last % row);
}

class ByCost {
public:
  ByCost(MPI_Comm comm, const Schema& schema, const Topology& topology,
         const std::vector<int>& aggregators, const Stripes& stripes, const Format& native)
      : m_comm(comm), m_schema(schema), m_deal{aggregators.size(), stripes.bytes, stripes.servers},
        m_topology(topology), m_aggregators(aggregators), m_locks(stripes.locks), m_native(native),
        m_costs(schema.variables.size()) {}

  bool moves(std::size_t v, const Slabs& slabs) {
    std::optional<Cost>& cost = m_costs[v];
    if (!cost) {
      Cost& last = m_of_shape[{whole_box(m_schema, v).count, m_schema.variables[v].type}];
      if (last.calls <= 1) last = cost_of(v, slabs); // what one rank has says nothing of others
      cost = last;
      Totals& totals = cost->moves ? m_move : m_stay;
      totals.variables += 1;
      totals.calls += cost->calls;
      totals.sent += cost->sent;
    }
    return cost->moves;
  }

  /// What each aggregator writes of a variable that moves.
  Boxes boxes(std::size_t v) {
    if (m_packed.variables.empty()) m_packed = packed_layout(m_schema);
    return run_boxes(m_schema, v, m_deal,
                     m_native.first_byte(v).value_or(m_packed.variables[v].begin));
  }

  std::string text() const {
    const auto n = [](std::int64_t number) { return std::to_string(number); };
    return n(m_stay.variables) + " variable(s) stay: " + n(m_stay.calls) + " calls; " +
           n(m_move.variables) + " variable(s) move: " + n(m_move.sent) +
           " bytes sent instead of " + n(m_move.calls) + " calls; stripes of " +
           std::to_string(m_deal.run) + " bytes";
  }

private:
  /// The costs of all ranks together.
  struct Cost {
    std::int64_t calls = 0, sent = 0; ///< native calls; bytes sent if the values move
    bool moves = false;
  };

  /// From what all ranks have of a variable: two small reductions for its shape and type.
  Cost cost_of(std::size_t v, const Slabs& slabs) {
    if (distributed_places(m_schema, v).empty()) return {1, 0, false}; // one rank has all of it
    MoveCounts counts;
    const Boxes of_aggregators = boxes(v);
    const int rank = rank_in(m_comm);
    const auto near = near_aggregators(m_topology, m_aggregators, rank);
    for (const Hyperslab& slab : slabs) {
      if (slab.elements() > 0) counts += move_counts(m_schema, v, slab, of_aggregators, near);
    }
    std::vector<std::int64_t> bytes_of_nodes(static_cast<std::size_t>(m_topology.n_nodes), 0);
    const int node = m_topology.node_of[static_cast<std::size_t>(rank)];
    bytes_of_nodes[static_cast<std::size_t>(node)] = counts.bytes;
    MPI_Allreduce(MPI_IN_PLACE, &counts, 3, MPI_INT64_T, MPI_SUM, m_comm);
    MPI_Allreduce(MPI_IN_PLACE, bytes_of_nodes.data(), m_topology.n_nodes, MPI_INT64_T, MPI_SUM,
                  m_comm);
    return {counts.calls, counts.sent, should_move(counts, bytes_of_nodes, m_deal, m_locks)};
  }

  struct Totals {
    std::int64_t variables = 0, calls = 0, sent = 0;
  };
  MPI_Comm m_comm;
  const Schema& m_schema;
  Deal m_deal;
  Topology m_topology;
  std::vector<int> m_aggregators;
  bool m_locks;
  const Format& m_native;
  ClassicLayout m_packed; ///< where variables begin if the format does not know
  std::map<std::pair<Indices, Type>, Cost> m_of_shape;
  std::vector<std::optional<Cost>> m_costs; ///< of each variable, once it was put
  Totals m_stay, m_move;
};

} // namespace

std::vector<std::size_t> near_aggregators(const Topology& topology,
                                          const std::vector<int>& aggregators, int rank) {
  const auto node = [&](int r) {
    return topology.n_nodes > 1 ? topology.node_of[static_cast<std::size_t>(r)] : r;
  };
  std::vector<std::size_t> near;
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    if (node(aggregators[a]) == node(rank)) near.push_back(a);
  }
  return near;
}

MoveCounts move_counts(const Schema& schema, std::size_t v, const Box& mine, const Boxes& boxes,
                       const std::vector<std::size_t>& near) {
  const auto size = static_cast<std::int64_t>(bytes_of(schema.variables[v].type)),
             bytes = static_cast<std::int64_t>(mine.elements()) * size;
  std::int64_t sent = bytes;
  for (const std::size_t a : near) {
    for (const Box& box : boxes[a])
      sent -= static_cast<std::int64_t>(meet(mine, box).elements()) * size;
  }
  return {static_cast<std::int64_t>(runs_in(mine, whole_box(schema, v))), bytes, sent};
}

bool should_move(const MoveCounts& counts, const std::vector<std::int64_t>& bytes_of_nodes,
                 const Deal& deal, bool locks) {
  const auto calls = static_cast<double>(counts.calls), bytes = static_cast<double>(counts.bytes),
             sent = static_cast<double>(counts.sent);
  const auto most = *std::max_element(bytes_of_nodes.begin(), bytes_of_nodes.end());
  const double late =
                   static_cast<double>(most) * static_cast<double>(bytes_of_nodes.size()) - bytes,
               native = calls * (call_cost + (locks ? lock_cost * sent / bytes : 0.0)) + late,
               moved = sent + bytes / static_cast<double>(deal.run) * call_cost;
  return calls > 1.0 && moved < native;
}

std::vector<int> one_per_server(const std::vector<int>& aggregators, const Stripes& stripes) {
  if (stripes.servers == 0 || stripes.servers >= aggregators.size()) return aggregators;
  std::vector<int> chosen;
  for (std::size_t s = 0; s < stripes.servers; ++s)
    chosen.push_back(aggregators[s * aggregators.size() / stripes.servers]);
  return chosen;
}

Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin) {
  const Box whole = whole_box(schema, v);
  const std::size_t size = bytes_of(schema.variables[v].type), total = whole.elements();
  const std::uint64_t end = begin + total * size;
  Boxes boxes(deal.aggregators);
  if (whole.count.empty()) {
    boxes[deal.owner(begin)] = {whole};
    return boxes;
  }
  const auto border = [&](std::uint64_t byte) { // the element that begins at or contains it
    return std::min<std::size_t>(total, (byte - begin) / size);
  };
  for (std::uint64_t byte = begin; byte < end;) {
    const std::uint64_t stop = (byte / deal.run + 1) * deal.run;
    append_run(whole, border(byte), border(stop), boxes[deal.owner(byte)]);
    byte = stop;
  }
  return boxes;
}

namespace {

/// Where a variable begins in the part of a file with, or without, records.
std::uint64_t begin_in_section(const Schema& schema, std::size_t v) {
  const std::vector<ClassicLayout::Extent> places = packed_layout(schema).variables;
  std::uint64_t first = places[v].begin;
  for (const ClassicLayout::Extent& place : places) {
    if (place.is_record == places[v].is_record) first = std::min(first, place.begin);
  }
  return places[v].begin - first;
}

} // namespace

Boxes segment_boxes(const Schema& schema, std::size_t v, std::size_t aggregators,
                    std::size_t stripe) {
  if (distributed_places(schema, v) != std::vector<std::size_t>{0})
    return morton_boxes(schema, v, aggregators, stripe);
  return run_boxes(schema, v, {aggregators, stripe}, begin_in_section(schema, v));
}

std::size_t runs_in(const Box& box, const Box& whole) {
  std::size_t runs = box.elements(), d = box.count.size();
  while (d > 0) {
    runs /= box.count[d - 1]; // runs that are part of a row, or whole rows
    if (box.count[d - 1] != whole.count[d - 1]) break;
    --d;
  }
  return runs;
}

std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options,
                                  const Topology& topology, const std::vector<int>& aggregators,
                                  std::unique_ptr<Format> inner, bool writes_behind,
                                  const Stripes& stripes) {
  if (stripes.locks) inner->use_stripe(stripes.bytes);
  const std::vector<int> owners = one_per_server(aggregators, stripes);
  const auto by_cost = std::make_shared<ByCost>(comm, schema, topology, owners, stripes, *inner);
  const Choice choice{[=](std::size_t v, const Slabs& slabs) { return by_cost->moves(v, slabs); },
                      [=] { return by_cost->text(); }};
  return make_remap(
      comm, schema, options, topology, owners,
      [=](const Schema&, std::size_t v) { return by_cost->boxes(v); }, std::move(inner),
      writes_behind, choice);
}

} // namespace nunatak::io
