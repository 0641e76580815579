// See layouts.hpp.
#include "io/layouts/layouts.hpp"

#include "io/error.hpp"
#include "io/layouts/remap.hpp"
#include "io/layouts/split_files.hpp"

namespace nunatak::io {

namespace {

BoxesOf boxes_of(const std::string& layout, std::size_t aggregators, std::size_t stripe) {
  if (layout == "zslab") return [=](const Schema& s, std::size_t v) { return slab_boxes(s, v, aggregators); };
  if (layout == "morton") return [=](const Schema& s, std::size_t v) { return morton_boxes(s, v, aggregators, stripe); };
  const bool repeated = layout == "file-per-aggregator"; // what several files need is in all of them
  return [=](const Schema& s, std::size_t v) { return Rectangles(s, aggregators).boxes(v, repeated); };
}

} // namespace

OpenFormat in_layout(MPI_Comm comm, const Options& options, const Topology& topology, OpenOn* open) {
  const Layout layout = parse_layout(options);
  if (layout.name == "native") {
    return [=](const std::string& path) { return open(comm, path, options); };
  }
  const int per_node = layout.every_rank ? static_cast<int>(topology.node_of.size()) : layout.per_node;
  const std::vector<int> ranks = aggregators(topology, per_node);
  return [=](const std::string& path) {
    auto inner =
        layout.name == "file-per-aggregator" ? make_split_files(comm, path, options, ranks, open) : open(comm, path, options);
    return make_remap(comm, options, topology, ranks, boxes_of(layout.name, ranks.size(), options.stripe), std::move(inner));
  };
}

} // namespace nunatak::io
