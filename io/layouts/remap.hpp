// Layouts: a Format that moves values to ranks where another Format writes them.
//
//   File -> Remap   put(): copies
//                   wait(): ranks --one message per pair--> aggregators -> put(), wait() of the
//                           inner format
//
// Between nodes the card of an aggregator also sends what is written. So that it does not rest, a
// thread makes put() and wait() of the inner format while the next round is moved.
//
// Which rank writes what: partition.hpp. Communication per record: one small reduction (whether any
// rank's boxes changed) and the messages; when they change, what each rank will send
// (exchange.hpp).
//
// Memory: per aggregator on average at most Options::copy_bytes() wait in copies on the ranks that
// put them; moving takes as much in messages on both sides (MPI may hold them once more) and in the
// order of the file on the aggregators. If a thread writes, a round is half as large, and two are
// in memory. Larger records are moved in several rounds, larger variables in parts. Plans are kept
// up to 40 MB and those of one round.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nunatak::io {

/// What each aggregator writes of variable v.
using BoxesOf = std::function<Boxes(const Schema& schema, std::size_t v)>;

/// Which variables move (without it all do); the others are put into the inner format (auto.hpp).
struct Choice {
  /// Collective when a variable is first put, and the same on all ranks.
  std::function<bool(std::size_t v, const Slabs& slabs)> moves;
  std::function<std::string()> text; ///< for the report
};

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending, in the
/// order of boxes_of. Where boxes overlap, both aggregators receive the values. The inner format
/// gets lasting slabs, as many of each variable and record on every rank, some empty; where what is
/// put leaves gaps, slabs with strides. `writes_behind`: a thread writes, so that put() and wait()
/// of the inner format must make no MPI call.
std::unique_ptr<Format> make_remap(MPI_Comm comm, const Schema& schema, const Options& options,
                                   const Topology& topology, std::vector<int> aggregators,
                                   BoxesOf boxes_of, std::unique_ptr<Format> inner,
                                   bool writes_behind = false, Choice choice = {});

/// Bytes that wait per aggregator on average until they are moved.
inline std::size_t round_bytes(const Options& options, bool writes_behind) {
  return options.copy_bytes() / (writes_behind ? 2 : 1);
}

} // namespace nunatak::io
