// Layouts: a Format that moves values to the ranks that write them, and lets another Format write
// them there.
//
//   File -> Remap   put(): copies
//                   wait(): ranks --one message per pair--> aggregators -> put(), wait() of the
//                   inner format
//
// Which rank writes what: partition.hpp. Per record one small reduction (did any rank's boxes
// change?) and the messages. The boxes of all ranks are gathered once, and again when they have
// changed.
//
// Memory: at most Options::copy_bytes() per aggregator, on average, waits in copies on the ranks
// that put them; while it is moved it is held once more in messages on both sides, and once more on
// the aggregators in the order of the file. Larger records go in several rounds, variables larger
// than all buffers in parts.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

#include <functional>

namespace nunatak::io {

/// What each aggregator writes of variable v.
using BoxesOf = std::function<Boxes(const Schema& schema, std::size_t v)>;

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending; boxes_of
/// gives their boxes in this order. Boxes of aggregators may overlap: what lies in both goes to
/// both. The inner format gets lasting slabs, of a variable and record equally many on every rank
/// (empty ones included).
std::unique_ptr<Format> make_remap(MPI_Comm comm, const Schema& schema, const Options& options,
                                   const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner);

} // namespace nunatak::io
