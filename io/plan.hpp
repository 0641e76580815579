// What the ranks of a decomposition send and write of a record, for any number of ranks on one
// process: no MPI, no values, no file. For models of output (miniapp/tools/output_model.hpp).
//
// The decisions are made by the functions that the writer itself calls: the boxes of a layout
// (partition.hpp), what moves with `auto` (auto.hpp), when copies are moved (Waiting in pack.hpp),
// messages (exchange.hpp, async/wire.hpp), batches of servers (async/wire.hpp), runs of the file
// (PendingRuns in formats/runs.hpp). tests/io/test_plan.cpp compares with what the writer counts.
// With PnetCDF the plan is that of ROMIO's two phases: one rank per node (or Options::aggregators)
// gets and writes an equal piece of what a collective call covers.
#pragma once

#include "io/options.hpp"
#include "io/read/classic_header.hpp"
#include "io/schema.hpp"
#include "io/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nunatak::io {

/// Edges of the ranks' parts along the two distributed dimensions of a schema, from 0 to the
/// length; rank = row * columns + column. What lacks one of the dimensions is put by rank 0.
struct Cut {
  std::vector<std::size_t> rows, columns;
  int ranks() const { return static_cast<int>((rows.size() - 1) * (columns.size() - 1)); }
};

/// Is given a plan in its order: messages, then the writes that need them, then next().
class PlanWatch {
public:
  virtual ~PlanWatch() = default;
  /// From one rank to another; servers have the numbers after those of the ranks.
  virtual void message(int from, int to, std::int64_t bytes) = 0;
  virtual void write(int rank, std::uint64_t begin, std::uint64_t bytes) = 0; ///< one call
  virtual void next() = 0; ///< what follows begins when all before it has ended
};

/// The first record of a file, with variables that have none, put in the order of the schema.
/// `layout`: where variables begin (packed_layout() if unknown). Error, with the reason, for a
/// method without a plan.
void plan_record(const Schema& schema, const ClassicLayout& layout, Options options,
                 const Topology& topology, const Cut& cut, PlanWatch& watch);

} // namespace nunatak::io
