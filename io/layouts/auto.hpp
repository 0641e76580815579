// The layout `auto` decides for each variable whether its values move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one with many
// short ones sends them. What moves goes to one rank per node (or N; on one node to every rank),
// and each of these owns whole stripes of the file (stripe_of(); in the first record, later ones
// are shifted by the record length). Lustre and GPFS lock extents of a stripe for a node,
// so that writers of one stripe on two nodes take the lock from each other at every write; owners
// never meet. Stripes are owned
//
//   in turn    stripe s by aggregator s mod A: on each server always the same aggregators
//   in order   those that lie wholly in the variable: the n-th part of them by the n-th aggregator,
//              where ranks in the order of the file so find most of their values on their own node
//
//   file        |.....|.....|.....|.....|.....|.....|.....|     stripes
//               |   v       |         w                   |     variables
//   in turn     |aaaaa|bbbbb|ccccc|aaaaa|bbbbb|ccccc|aaaaa|     of three aggregators
//   w in order  |aaaaa|bbbbb|aaaaa|bbbbb|ccccc|bbbbb|aaaaa|     (a stripe at an edge: in turn)
//
// Model: a call costs as much as sending C bytes (8 KiB), and L more (128 KiB) if another node
// owns the stripe, on a file system with such locks; L is 0 on others. Summed over ranks, with the
// bytes sent between nodes,
//
//   native   calls, one for each run of the file x (C + L x sent in order / bytes)
//   moved    bytes sent + calls x C, where one call writes a stripe of many variables
//
// The cheapest is taken; native for what one rank has in one run; in order if that sends less than
// 3/4 of in turn. Bytes written are the same in all, and messages, which carry all variables
// together, are not counted. Decided when a variable is first put, by one small reduction.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

namespace nunatak::io {

/// Owners of runs of a file, all of the same length.
struct Deal {
  std::size_t aggregators = 1, run = 1; ///< bytes
};
enum class Move { none, in_turn, in_order };

/// The boxes of variable `v`, whose first value is byte `begin` of the file. An element across a
/// border belongs to the later part; a variable without dimensions is not cut.
Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin,
                Move move = Move::in_turn);

/// What the model above counts of a variable, of one rank or of several together.
struct MoveCounts {
  std::int64_t calls = 0, bytes = 0;      ///< native
  std::int64_t in_turn = 0, in_order = 0; ///< bytes sent

  void operator+=(const MoveCounts& other) {
    calls += other.calls;
    bytes += other.bytes;
    in_turn += other.in_turn;
    in_order += other.in_order;
  }
};
/// Of the rank that has `mine` of variable `v`, from what the aggregators write if it moves.
/// `near`: those to which this rank sends for nothing.
MoveCounts move_counts(const Schema& schema, std::size_t v, const Box& mine, const Boxes& in_turn,
                       const Boxes& in_order, const std::vector<std::size_t>& near);
/// Whether and how a variable moves, from the counts of all ranks. `locks`: L is not 0.
Move best_move(const MoveCounts& counts, const Deal& deal, bool locks);

/// Of `aggregators`, which are ranks, those of the node of this rank; of one node only the rank.
std::vector<std::size_t> near_aggregators(const Topology& topology,
                                          const std::vector<int>& aggregators, int rank);

/// The stripes of the folder of a file.
struct Stripes {
  std::size_t bytes = default_stripe;
  bool locks = false; ///< a node locks extents of them
};

/// The boxes if the variables lie as in packed_layout(), without asking the format.
Boxes auto_boxes(const Schema& schema, std::size_t v, std::size_t aggregators, std::size_t stripe);

/// Layout `morton`: morton_boxes(), but a variable whose slowest dimension alone is distributed,
/// cells that are in Morton order already, is cut into stripes in turn, from the first value of its
/// section of the file (-io_align puts that on a stripe).
Boxes segment_boxes(const Schema& schema, std::size_t v, std::size_t aggregators,
                    std::size_t stripe);

/// The number of contiguous runs of the file in a box of a variable.
std::size_t runs_in(const Box& box, const Box& whole);

/// Wrap `inner`, which all ranks of `comm` have opened. `aggregators`: ranks, ascending.
std::unique_ptr<Format> make_auto(MPI_Comm comm, const Schema& schema, const Options& options,
                                  const Topology& topology, const std::vector<int>& aggregators,
                                  std::unique_ptr<Format> inner, const Stripes& stripes);

} // namespace nunatak::io
