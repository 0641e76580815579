// Who writes what of a map y x, in each layout: JSON for plot_layouts.py, from the functions that
// the writers use.
//
//   layout_map > layouts.json       a map of 12 x 18 doubles on 2 x 3 ranks, 3 per virtual node
//
// Per layout: the rank of each aggregator, its boxes (y, x, rows, columns), and what one record
// costs in messages.
#include "io/layouts/exchange_plan.hpp"
#include "io/layouts/topology.hpp"
#include "io/registry.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace nunatak::io;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t My = 12, Mx = 18, P = 2, Q = 3, ranks_per_node = 3;
constexpr std::size_t stripe = 3 * 3 * sizeof(double); // of morton: tiles of 3 x 3 cells

Json json_of(const Box& box) { return {box.start[0], box.start[1], box.count[0], box.count[1]}; }

} // namespace

int main() {
  Schema schema;
  schema.dimensions = {{"y", My, true}, {"x", Mx, true}};
  schema.variables = {{"thk", Type::float64, {"y", "x"}, {}}};
  Topology topology;
  topology.n_nodes = P * Q / ranks_per_node;
  Round round;
  round.groups = {0};
  round.types = {Type::float64};
  Json native;
  for (std::size_t rank = 0; rank < P * Q; ++rank) {
    topology.node_of.push_back(static_cast<int>(rank / ranks_per_node));
    const Box patch{{rank / Q * (My / P), rank % Q * (Mx / Q)}, {My / P, Mx / Q}};
    round.given.push_back({patch});
    native.push_back({json_of(patch)});
  }
  Json json = {{"My", My},
               {"Mx", Mx},
               {"node_of", topology.node_of},
               {"native", native},
               {"layouts", Json::array()}};
  for (const char* text :
       {"zslab", "zslab:1", "box:1", "box:2", "morton:1", "file-per-aggregator:2"}) {
    Options options;
    options.layout = text;
    const Layout layout = parse_layout(options);
    const std::vector<int> ranks =
        aggregators(topology, layout.every_rank ? static_cast<int>(P * Q) : layout.per_node);
    round.boxes = {layout_row(layout.name).boxes(schema, 0, ranks.size(), stripe)};
    std::size_t messages = 0, bytes = 0, off_node = 0;
    for (int rank = 0; rank < static_cast<int>(P * Q); ++rank) {
      for (const Channel& c : make_plan(rank, ranks, round).sends) {
        messages += 1;
        bytes += c.bytes;
        const auto node = [&](int r) { return topology.node_of[static_cast<std::size_t>(r)]; };
        if (node(rank) != node(c.rank)) off_node += c.bytes;
      }
    }
    Json boxes = Json::array();
    for (const auto& of_aggregator : round.boxes[0]) {
      boxes.push_back(Json::array());
      for (const Box& box : of_aggregator) boxes.back().push_back(json_of(box));
    }
    json["layouts"].push_back({{"name", text},
                               {"ranks", ranks},
                               {"boxes", boxes},
                               {"messages", messages},
                               {"message_bytes", bytes},
                               {"off_node_bytes", off_node}});
  }
  std::cout << json.dump(1) << std::endl;
  return 0;
}
