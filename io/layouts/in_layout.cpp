#include "io/layouts/in_layout.hpp"

#include "io/layouts/auto.hpp"
#include "io/layouts/remap.hpp"
#include "io/layouts/split_files.hpp"
#include "io/layouts/stripe.hpp"
#include "io/registry.hpp"

namespace nunatak::io {

OpenFormat open_in_layout(MPI_Comm comm, const Options& options, const Topology& topology) {
  const Layout layout = parse_layout(options);
  const LayoutRow& row = layout_row(layout.name);
  const int per_node =
      layout.every_rank ? static_cast<int>(topology.node_of.size()) : layout.per_node;
  const std::vector<int> ranks = aggregators(topology, per_node);
  return [=, &row](const std::string& path, const Schema& schema) {
    const Stripe stripe = stripe_at(comm, path, options);
    Options striped = options;
    striped.stripe = stripe.bytes;
    auto inner = row.subfiles ? make_split_files(comm, path, schema, striped, ranks, open_anew)
                              : open_anew(comm, path, schema, striped);
    if (row.chooses)
      return make_auto(comm, schema, striped, topology, ranks, std::move(inner), stripe);
    const BoxesOf boxes = [=, &row](const Schema& of, std::size_t v) {
      return row.boxes(of, v, ranks.size(), stripe.bytes);
    };
    return make_remap(comm, schema, striped, topology, ranks, boxes, std::move(inner));
  };
}

} // namespace nunatak::io
