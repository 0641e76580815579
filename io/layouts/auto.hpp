// The layout `auto`: for each variable, from the parts that the ranks really have, whether values
// move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one that has
// many short runs sends them to ranks that write long ones. The model: a call costs as much as C
// bytes sent (-io_call_cost, 8 KiB). Of all ranks together,
//
//   native   calls, one for each run of the file x C
//   moved    bytes sent + calls x C, of which one writes a whole run of many variables
//
// and the cheaper of both is taken; if they are equal, and for what one rank has in one run,
// native. Bytes written are the same in both, and do not count; nor do messages, which carry all
// variables together. So runs of more than C bytes stay where they are. Moved values go to every
// rank (or N per node), to which the file is dealt: its head in one piece for each, the rest in
// runs, dealt round-robin, whatever variables lie in them. A run is a stripe of the file system
// (stripe.hpp), or several where they are short, and begins where a stripe does (in the first
// record; later ones are shifted by the length of a record). The head is what is left over when
// every aggregator has as many runs as the others; its pieces are whole pages.
//
//   file   |..|..|..|..|..|....|....|....|....|....|....|    pieces of the head, stripes
//          | u |   v     |          w            |   x  |    variables
//          |aa|bb|cc|    aaaa|bbbb|cccc|aaaa|bbbb|cccc|      of three ranks
//
// At any time the ranks write to stripes that follow one another, which lie on as many servers:
// none waits for another. So all ranks take part in whatever is moved at a time, and what a rank
// gets lies together in the file: a format that joins neighbours (`direct`) makes one call of many
// small variables.
//
// Decided when a variable of a shape and type is put for the first time, by one small reduction,
// the same on all ranks, for all such variables. Used by registry.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"
#include "io/layouts/stripe.hpp"

namespace nunatak::io {

/// How the first record of a file, with all that lies before it, is dealt.
struct Deal {
  std::size_t aggregators = 1, piece = 1, run = 1; ///< lengths in bytes
  std::uint64_t head = 0;                          ///< bytes, whole runs
  std::size_t usual = 1;                           ///< of both lengths that of most bytes

  struct Part {
    std::uint64_t end;
    std::size_t aggregator;
  };
  Part part_at(std::uint64_t byte) const; ///< the piece or run that holds this byte of the file
};
/// `end`: of the first record, in the file.
Deal deal_of(std::uint64_t end, std::size_t aggregators, std::size_t stripe);
/// Of variable `v`, whose first value is byte `begin` of the file. An element on a border belongs
/// to the later part; a variable without dimensions to one.
Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin);

/// The boxes where the format is not asked where a variable begins: as in packed_layout().
Boxes auto_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe);

/// The runs of the file that a box of a variable is made of: those of its slowest dimensions of
/// which the next ones are not whole.
std::size_t runs_in(const Box& box, const Box& whole);

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending.
std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options,
                                  const Topology& topology, const std::vector<int>& aggregators,
                                  std::unique_ptr<Format> inner, const Stripe& stripe);

} // namespace nunatak::io
