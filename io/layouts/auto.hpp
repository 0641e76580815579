// The layout `auto` decides for each variable whether its values move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one with many
// short ones sends them. Model: a call costs as much as sending C bytes (8 KiB). Summed over ranks,
//
//   native   calls, one for each run of the file x C
//   moved    bytes sent + calls x C, where one call writes a whole run of many variables
//
// The cheaper is taken; native if they are equal, and for what one rank has in one run. So runs of
// more than C bytes stay where they are. Bytes written are the same in both, and messages, which
// carry all variables together, are not counted. Moved values go to every rank (or N per node). The
// file is dealt to these: its head in one piece each, the rest in runs, round-robin, regardless of
// variables. A run is a stripe of the file system (stripe_of()), or several short ones, and begins
// at a stripe (in the first record; later records are shifted by the record length). The head is
// what remains when every aggregator has the same number of runs; its pieces are whole pages.
//
//   file   |..|..|..|..|..|....|....|....|....|....|....|    pieces of the head, stripes
//          | u |   v     |          w            |   x  |    variables
//          |aa|bb|cc|    aaaa|bbbb|cccc|aaaa|bbbb|cccc|      of three ranks
//
// The ranks write to consecutive stripes at a time, which lie on different servers, and what a rank
// receives is contiguous: a format that merges neighbours (`direct`) writes many small variables by
// one call. Decided when a variable is first put, by one small reduction.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

namespace nunatak::io {

/// How the first record of a file, with everything before it, is dealt.
struct Deal {
  std::size_t aggregators = 1, piece = 1, run = 1; ///< lengths in bytes
  std::uint64_t head = 0;                          ///< bytes, a multiple of whole runs
  std::size_t usual = 1;                           ///< the length, piece or run, of most bytes

  struct Part {
    std::uint64_t end;
    std::size_t aggregator;
  };
  Part part_at(std::uint64_t byte) const; ///< the piece or run that contains this byte of the file
};
/// `end` of the first record, in bytes of the file.
Deal deal_of(std::uint64_t end, std::size_t aggregators, std::size_t stripe);
/// The boxes of variable `v`, whose first value is byte `begin` of the file. An element across a
/// border belongs to the later part; a variable without dimensions is not cut.
Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin);

/// Where the variables of a file begin, and how its first record is dealt.
struct DealtFile {
  std::vector<std::uint64_t> begin;
  Deal deal;

  DealtFile(const Schema& schema, std::vector<std::uint64_t> begin_, std::size_t aggregators,
            std::size_t stripe);
  Boxes boxes(const Schema& schema, std::size_t v) const {
    return run_boxes(schema, v, deal, begin[v]);
  }
};

/// What the model above counts of a variable, of one rank or of several together.
struct MoveCounts {
  std::int64_t calls = 0, bytes = 0, sent = 0; ///< native calls; bytes; of them sent if they move
};
/// Of the rank that has `mine` of variable `v`, and writes the boxes `own` if values move.
MoveCounts move_counts(const Schema& schema, std::size_t v, const Box& mine,
                       const std::vector<Box>& own);
/// Whether a variable moves, from the counts of all ranks.
bool pays_to_move(const MoveCounts& counts, const Deal& deal);

/// The boxes if the variables lie as in packed_layout(), without asking the format.
Boxes auto_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe);

/// The number of contiguous runs of the file in a box of a variable.
std::size_t runs_in(const Box& box, const Box& whole);

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending.
std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options,
                                  const Topology& topology, const std::vector<int>& aggregators,
                                  std::unique_ptr<Format> inner, std::size_t stripe);

} // namespace nunatak::io
