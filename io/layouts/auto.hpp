// The layout `auto`: for each variable, from the parts that the ranks really have, whether values move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one that has many short runs sends them to
// ranks that write long ones. The model: a call costs as much as Options::call bytes sent (8 KiB). Of all ranks together,
//
//   native   calls, one for each run of the file x 8 KiB
//   moved    bytes sent + calls x 8 KiB, of which one writes a whole run of many variables
//
// and the cheaper way is taken; of equal ones, and for what one rank has in one run, native. Bytes written are the same in both,
// and do not count; nor do messages, which carry all variables together. So runs of more than 8 KiB stay where they are. Moved
// values go to every rank (or N per node). The file is dealt to them as cards are: runs of equal length, to one rank after the
// other, whatever variables lie in them. A run begins at a multiple of the stripe (stripe.hpp; in the first record, later ones
// are shifted by the length of a record) and has so many stripes that each rank gets about eight runs of a record; where there
// are fewer stripes, a half of one, a quarter, ..., at least 4 KiB.
//
//   file   |....|....|....|....|....|....|      stripes
//          |  u   |   v          |  w    |      variables
//          |aaaa|bbbb|cccc|aaaa|bbbb|cccc|      runs of three ranks
//
// So whatever is moved at a time, all ranks take part in it, and what a rank gets of it lies together in the file: a format that
// joins neighbours (`direct`) makes one call of many small variables.
//
// Decided when a variable of a shape and type is put for the first time, by one small reduction, the same on all ranks, for all
// such variables. Used by registry.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"
#include "io/layouts/stripe.hpp"

namespace nunatak::io {

/// The length of a run.
std::size_t run_bytes(const Schema& schema, std::size_t aggregators, std::size_t stripe);
/// Of variable `v`, whose first value is byte `begin` of the file: run n of the file, which begins at byte n `run`, belongs to
/// aggregator n modulo their number. An element on a border belongs to the later run; a variable without dimensions to one.
Boxes run_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t run, std::uint64_t begin);

/// The runs of the file that a box of a variable is made of: those of its slowest dimensions of which the next ones are not
/// whole.
std::size_t runs_in(const Box& box, const Box& whole);

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending. `is_copied`: as in make_remap().
std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options, const Topology& topology,
                                  const std::vector<int>& aggregators, std::unique_ptr<Format> inner, bool is_copied,
                                  const Stripe& stripe);

} // namespace nunatak::io
