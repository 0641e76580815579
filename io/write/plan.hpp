// What the ranks of a decomposition send and write of a record, for any number of ranks on one
// process: no MPI, no values, no file. For models of output (miniapp/bench/output_model.hpp).
//
// The writer's own functions decide (boxes of layouts, Waiting, messages, PendingRuns);
// tests/io/test_plan.cpp compares with what it counts. With PnetCDF the plan is that of ROMIO's two
// phases: one rank per node (or Options::aggregators) gets and writes an equal piece of what a
// collective call covers.
#pragma once

#include "io/disk/classic_header.hpp"
#include "io/layouts/auto.hpp"
#include "io/methods/method.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nunatak::io {

/// What a rank puts of a variable, without the record.
struct Part {
  int rank = 0;
  Box box;
};
/// The parts of all ranks cover the variable, each value once. Along the first dimension in which
/// they do not all begin together, those that begin together end together.
using Parts = std::shared_ptr<const std::vector<Part>>;
/// Sorts parts, without empty ones, by their begin (row-major).
Parts make_parts(std::vector<Part> parts);

/// Is given a plan in its order: messages, then the writes that need them, then next().
class PlanWatch {
public:
  virtual ~PlanWatch() = default;
  /// From one rank to another; servers have the numbers after those of the ranks.
  virtual void message(int from, int to, std::int64_t bytes) = 0;
  virtual void write(int rank, std::uint64_t begin, std::uint64_t bytes) = 0; ///< one call
  virtual void next() = 0; ///< what follows begins after all before it, but for writes behind
};

/// A new file with `records` records, 1 or more; variables are put in the order of the schema.
/// `parts`: by variable. `layout`: where variables begin (packed_layout() if unknown). False if not
/// all is known that the method sends and writes: only direct into one file, with servers or
/// without, serial, and pnetcdf or hybrid in the layout native have a plan.
bool plan_records(const Schema& schema, const ClassicLayout& layout, Options options,
                  const Topology& topology, const Stripes& stripes, const std::vector<Parts>& parts,
                  std::size_t records, PlanWatch& watch);

} // namespace nunatak::io
