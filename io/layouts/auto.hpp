// The layout `auto` decides for each variable whether its values move before they are written.
//
// A rank whose part of a variable is one long run of the file writes it by itself; one with many
// short ones sends them. What moves goes to one rank per node (or N; on one node to every rank),
// and each of these owns whole stripes of the file (stripe_of(); in the first record, later ones
// are shifted by the record length), in turn. Lustre and GPFS lock extents of a stripe for a node,
// so that writers of one stripe on two nodes take the lock from each other at every write; owners
// never meet. The locks of all stripes on a server are one set, grown to what is free: where the
// number S of servers is known, stripe s belongs to aggregator (s mod S) mod A, of which there are
// at most S, so that a server has one writer.
//
//   file                   |.....|.....|.....|.....|.....|.....|     stripes
//                          |   v       |         w         |         variables
//   three aggregators      |aaaaa|bbbbb|ccccc|aaaaa|bbbbb|ccccc|
//   the same, two servers  |aaaaa|bbbbb|aaaaa|bbbbb|aaaaa|bbbbb|
//
// Model: a call costs as much as sending C bytes (8 KiB), and L more (128 KiB) if another node owns
// the stripe, on a file system with such locks; L is 0 on others. What stays takes as long as the
// node that has most of it, I times the mean (as with ocean models, whose ranks on land have
// nothing); aggregators have nearly equal parts. Summed over ranks, with the bytes sent between
// nodes,
//
//   native   calls, one for each run of the file x (C + L x bytes sent / bytes) + (I - 1) x bytes
//   moved    bytes sent + calls x C, where one call writes a stripe of many variables
//
// The cheaper is taken; native for what one rank has in one run. Bytes written are the same in
// both, and messages, which carry all variables together, are not counted. Decided when a variable
// is first put, by two small reductions.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/partition.hpp"

namespace nunatak::io {

/// Owners of runs of a file, all of the same length.
struct Deal {
  std::size_t aggregators = 1, run = 1; ///< bytes
  std::size_t servers = 0;              ///< among which runs are dealt in turn; 0: unknown
  std::size_t owner(std::uint64_t byte) const {
    const std::uint64_t n = byte / run;
    return (servers > 0 ? n % servers : n) % aggregators;
  }
};

/// The boxes of variable `v`, whose first value is byte `begin` of the file. An element across a
/// border belongs to the later part; a variable without dimensions is not cut.
Boxes run_boxes(const Schema& schema, std::size_t v, const Deal& deal, std::uint64_t begin);

/// What the model above counts of a variable, of one rank or of several together.
struct MoveCounts {
  std::int64_t calls = 0, bytes = 0; ///< native
  std::int64_t sent = 0;             ///< bytes, if the values move

  void operator+=(const MoveCounts& other) {
    calls += other.calls;
    bytes += other.bytes;
    sent += other.sent;
  }
};
/// The counts of the rank that has `mine` of variable `v`, from what aggregators write if it moves.
/// `near`: those to which this rank sends for nothing.
MoveCounts move_counts(const Schema& schema, std::size_t v, const Box& mine, const Boxes& boxes,
                       const std::vector<std::size_t>& near);
/// Whether a variable moves, from the counts of all ranks and the bytes that each node has of it.
/// `locks`: L is not 0.
bool should_move(const MoveCounts& counts, const std::vector<std::int64_t>& bytes_of_nodes,
                 const Deal& deal, bool locks);

/// Which `aggregators`, ranks, are on the node of this rank; on one node only the rank itself.
std::vector<std::size_t> near_aggregators(const Topology& topology,
                                          const std::vector<int>& aggregators, int rank);

/// The stripes of the folder of a file.
struct Stripes {
  std::size_t bytes = default_stripe;
  bool locks = false;      ///< a node locks extents of them
  std::size_t servers = 0; ///< among which they are dealt in turn; 0: unknown
};

/// At most one of `aggregators` for each server, evenly spaced.
std::vector<int> one_per_server(const std::vector<int>& aggregators, const Stripes& stripes);

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
                                  std::unique_ptr<Format> inner, bool writes_behind,
                                  const Stripes& stripes);

} // namespace nunatak::io
