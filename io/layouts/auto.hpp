// The layout `auto`: for each variable, from the parts that the ranks really have, whether values move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one that has many short runs sends them to
// ranks that write long ones. The model: a call costs as much as 64 KiB sent. Of all ranks together,
//
//   native   calls (one for each run of the file) x 64 KiB
//   moved    bytes sent + (messages + calls) x 64 KiB
//
// and the cheaper way is taken; of equal ones, native. Bytes written are the same in both, and do not count. So runs of more than
// 64 KiB stay where they are. Moved values go to every rank (or N per node): each writes one run of the variable, which ends at
// a multiple of Options::stripe in the file (of the first record; later ones are shifted by the length of a record). Where a run
// has fewer than eight stripes, it ends at a half of one, a quarter, ..., at least 4 KiB: else ranks would have unequal shares.
//
//   file   |....|....|....|....|....|....|      stripes
//          |aaaaaaaaa|bbbbbbbbb|ccccccccc|      runs of three ranks
//
// Decided when a variable of a shape and type is put for the first time, by one small reduction, the same on all ranks, for all
// such variables. Used by registry.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

namespace nunatak::io {

/// The runs as boxes: variable `v`, whose first value is byte `begin` of the file, cut into one nearly equal run for each
/// aggregator. What is shorter than a stripe goes to one of them, to another one for each variable.
Boxes run_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe, std::uint64_t begin);

/// The runs of the file that a box of a variable is made of: those of its slowest dimensions of which the next ones are not
/// whole.
std::size_t runs_in(const Box& box, const Box& whole);

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending. `is_copied`: as in make_remap().
std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
                                  const std::vector<int>& aggregators, std::unique_ptr<Format> inner, bool is_copied);

} // namespace nunatak::io
