// output_plan: what one record of a workload (nunatak-io) sends and writes on so many ranks, from
// the functions that the writers use: JSON for output_model.py. Nothing is sent or written.
//
//   output_plan -workload pism:G5km -scale 0.3 -ranks 8 -layouts native,zslab,box:1 > plan.json
//
// Per layout and rank: messages (to, bytes), and the calls of the format `posix` in their order
// (offset, bytes). With -counts per layout only how many of both there are, and the most that a
// rank has: for thousands of ranks. Land, which MOM's ranks fill, is sent as the writers do:
// repeated values once (io/layouts/repeats.hpp).
#include "io/formats/raw.hpp"
#include "io/layouts/exchange_plan.hpp"
#include "io/layouts/repeats.hpp"
#include "io/layouts/stripe.hpp"
#include "io/layouts/topology.hpp"
#include "io/registry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

using namespace nunatak;
using Json = nlohmann::ordered_json;
namespace t = nunatak::tools;

namespace {

struct Wanted {
  std::string workload = "pism:G5km", layouts = "native,zslab";
  double scale = 1.0;
  int ranks = 8, ranks_per_node = 1, variables = 0;
  bool counts = false;
};

/// Messages or calls of all ranks together: how many, their bytes, and the rank that has most.
struct Count {
  std::uint64_t number = 0, bytes = 0, most = 0, most_bytes = 0;

  /// What one rank has: pairs of which the second are bytes.
  void add(const Json& of_rank) {
    std::uint64_t sum = 0;
    for (const Json& one : of_rank) sum += one[1].get<std::uint64_t>();
    number += of_rank.size(), bytes += sum;
    most = std::max<std::uint64_t>(most, of_rank.size()), most_bytes = std::max(most_bytes, sum);
  }
  Json json() const {
    return {{"number", number}, {"bytes", bytes}, {"most", most}, {"most_bytes", most_bytes}};
  }
};

/// What a rank gives of a variable, in the order of the file; as many boxes on every rank, empty
/// ones included.
std::vector<io::Box> given_boxes(const t::Workload& w, const t::WorkloadVariable& v,
                                 std::size_t rank, std::size_t ranks) {
  std::vector<io::Box> boxes;
  for (const io::Box& in_memory : t::boxes_of(w, v, rank, ranks)) {
    io::Box& box = boxes.emplace_back();
    for (const std::size_t d : t::file_order(w, v, w.order))
      box.start.push_back(in_memory.start[d]), box.count.push_back(in_memory.count[d]);
  }
  return boxes;
}

class Record {
public:
  Record(const Wanted& wanted)
      : m_workload(t::make_workload(wanted.workload, wanted.scale, false,
                                    static_cast<std::size_t>(wanted.variables))),
        m_schema(t::schema_of(m_workload, m_workload.order)),
        m_ranks(static_cast<std::size_t>(wanted.ranks)), m_per_node(wanted.ranks_per_node),
        m_counts(wanted.counts) {
    m_layout = io::raw_layout(m_schema, io::Options{}.align);
    for (const t::WorkloadVariable& v : m_workload.variables) {
      if (v.records) m_variables.push_back(&v);
    }
  }

  Json layout(const std::string& text) const {
    io::Options options;
    options.layout = text;
    const io::Layout layout = io::parse_layout(options);
    const auto boxes_of = io::layout_row(layout.name).boxes;
    io::Topology topology;
    for (std::size_t rank = 0; rank < m_ranks; ++rank)
      topology.node_of.push_back(static_cast<int>(rank) / m_per_node);
    topology.n_nodes = topology.node_of.back() + 1;
    const std::vector<int> writers =
        io::aggregators(topology, layout.every_rank ? 1 : layout.per_node);
    io::Round round;
    for (std::size_t n = 0; n < m_variables.size(); ++n) {
      const std::size_t v = m_schema.variable(m_variables[n]->name);
      const std::size_t puts = given_boxes(m_workload, *m_variables[n], 0, m_ranks).size();
      round.groups.insert(round.groups.end(), puts, n);
      round.types.push_back(m_schema.variables[v].type);
      if (boxes_of != nullptr)
        round.boxes.push_back(boxes_of(m_schema, v, writers.size(), io::default_stripe));
    }
    for (std::size_t rank = 0; rank < m_ranks; ++rank) {
      round.given.emplace_back();
      for (const t::WorkloadVariable* v : m_variables) {
        for (const io::Box& box : given_boxes(m_workload, *v, rank, m_ranks))
          round.given.back().push_back(box.elements() > 0 ? std::optional(box) : std::nullopt);
      }
    }
    Json json = {{"name", text}, {"writers", boxes_of == nullptr ? m_ranks : writers.size()}};
    Count sent, written;
    for (std::size_t rank = 0; rank < m_ranks; ++rank) {
      Json messages = Json::array(), calls = Json::array();
      if (boxes_of == nullptr) {
        for (std::size_t put = 0; put < round.groups.size(); ++put) {
          if (round.given[rank][put]) add_calls(round.groups[put], *round.given[rank][put], calls);
        }
      } else {
        const io::Plan plan = io::make_plan(static_cast<int>(rank), writers, round);
        for (const io::Channel& c : plan.sends) messages.push_back({c.rank, sent_bytes(c, round)});
        for (const io::Target& target : plan.targets) add_calls(target.group, target.box, calls);
      }
      if (m_counts) {
        sent.add(messages), written.add(calls);
      } else {
        json["ranks"].push_back({{"messages", messages}, {"calls", calls}});
      }
    }
    if (m_counts) json["messages"] = sent.json(), json["calls"] = written.json();
    return json;
  }

  std::uint64_t bytes() const { return m_workload.bytes_per_record(); }

private:
  /// Of a message, all variables of which are doubles if there is land. Other values tell their
  /// places, and so do not repeat.
  std::uint64_t sent_bytes(const io::Channel& channel, const io::Round& round) const {
    if (!m_workload.is_land) return channel.bytes;
    std::vector<std::uint64_t> words(
        1 + channel.bytes / sizeof(std::uint64_t)); // room, and a word for each value
    std::size_t next = 0;
    for (const io::Transfer& t : channel.transfers) {
      const t::WorkloadVariable& v = *m_variables[round.groups[t.put]];
      const std::vector<std::size_t> order = t::file_order(m_workload, v, m_workload.order);
      std::vector<std::size_t> index(order.size(), 0), at(order.size()); // in the box, in memory
      do {
        for (std::size_t d = 0; d < order.size(); ++d) at[order[d]] = t.box.start[d] + index[d];
        ++next;
        words[next] = m_workload.is_land(at[at.size() - 2], at.back()) ? 0 : next;
      } while (io::next_index(index, t.box.count));
    }
    return io::shorten({channel.rank, reinterpret_cast<std::byte*>(&words[1]), channel.bytes}).sent;
  }

  void add_calls(std::size_t n, const io::Box& box, Json& calls) const {
    io::Hyperslab slab;
    slab.start = box.start, slab.count = box.count;
    slab.insert_record(0);
    std::vector<io::Run> runs;
    io::append_runs(m_schema, m_layout, m_schema.variable(m_variables[n]->name), slab, nullptr,
                    runs);
    for (const io::Run& run : runs) calls.push_back({run.begin, run.size});
  }

  t::Workload m_workload;
  io::Schema m_schema;
  std::size_t m_ranks;
  int m_per_node;
  bool m_counts;
  io::RawLayout m_layout;
  std::vector<const t::WorkloadVariable*> m_variables;
};

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "output_plan", [&](Libraries&) {
    Wanted wanted;
    OptionTable table(
        "output_plan: what a record of output sends and writes, from the plans of the writers; "
        "prints JSON",
        "output_plan -workload pism:G5km -scale 0.3 -ranks 8 -layouts native,zslab,box:1");
    table.section("Record");
    table.add(text("workload", wanted.workload, "model and size, as nunatak-io knows them"));
    table.add(number("scale", wanted.scale, "", "factor of horizontal lengths", 0.0));
    table.add(number("variables", wanted.variables, "", "number of variables (0: all)", 0));
    table.add(number("ranks", wanted.ranks, "", "ranks", 1));
    table.add(number("ranks_per_node", wanted.ranks_per_node, "",
                     "ranks of a node: layouts choose writers on each", 1));
    table.add(flag("counts", wanted.counts, "numbers and sums only"));
    table.add(text("layouts", wanted.layouts, "list of layouts"));
    if (!table.read(argc, argv)) return;
    const Record record(wanted);
    Json json = {{"bytes", record.bytes()}, {"layouts", Json::array()}};
    for (const std::string& name : split(wanted.layouts, ','))
      json["layouts"].push_back(record.layout(name));
    std::cout << json.dump() << std::endl;
  });
}
