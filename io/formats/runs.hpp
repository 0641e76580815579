// Runs: contiguous bytes of a block in a classic file, which `direct` writes with one call.
//
//   file   | fixed variables | gap | record 0          | record 1          | ...
//                                  ^ begin of record variables, + record_size
//
// Values are row-major, slowest dimension first. No MPI.
#pragma once

#include "io/data/hyperslab.hpp"
#include "io/data/schema.hpp"
#include "io/disk/classic_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nunatak::io {

/// Variables one after another from byte 0 on, each at a multiple of 8 bytes; record variables
/// last. For layouts, where a format does not report where its variables begin.
ClassicLayout packed_layout(const Schema& schema);

/// Bytes that are contiguous both in the file and in a packed block.
struct Run {
  std::uint64_t begin; ///< in the file
  std::size_t size;
  const std::byte* data;
  std::size_t v; ///< the variable, or the first of several
};

/// Append the runs of a box of variable `v`, whose values lie row-major at `data`, ascending. Runs
/// that are adjacent in the file and in memory are merged, also with the last one of `runs`.
void append_runs(const Schema& schema, const ClassicLayout& layout, std::size_t v,
                 std::size_t record, const Box& box, const std::byte* data, std::vector<Run>& runs);

/// The runs of a rank that are packed and not yet written: at most 2 MiB, which stay in cache.
///
/// With stripes that have owners (layouts/auto.hpp) a value across the border of two belongs to the
/// later one, and its first bytes lie in the stripe of another writer. They are set aside and
/// written when all else is, so that the two do not take a lock from each other at every border.
class PendingRuns {
public:
  static constexpr std::size_t most = std::size_t{2} << 20; ///< bytes

  /// Appends a hyperslab of variable `v` in parts: `values(part, at)` packs one to byte `at` of a
  /// buffer and returns its place there; `write()`, which calls flush(), makes space.
  template <class Values, class Write>
  void put(const Schema& schema, const ClassicLayout& layout, std::size_t v, std::size_t record,
           const Hyperslab& slab, const Values& values, const Write& write) {
    const std::size_t element = bytes_of(schema.variables[v].type),
                      n_parts = (slab.elements() * element + most - 1) / most;
    for (std::size_t p = 0; p < n_parts; ++p) {
      const Hyperslab part = part_of(slab, p, n_parts);
      const std::size_t bytes = part.elements() * element;
      if (bytes == 0) continue;
      m_bytes = (m_bytes + element - 1) / element * element; // where a value may begin
      if (m_bytes + bytes > most) write();
      append_runs(schema, layout, v, record, part, values(part, m_bytes), m_runs);
      m_bytes += bytes;
    }
  }
  /// Calls write_all(runs, bytes) for all runs in the order in which `rank` writes them: every
  /// second rank begins at the end, so that neighbours collide less on a server. Then none pends.
  template <class WriteAll> void flush(int rank, const WriteAll& write_all) {
    for (Run& run : m_runs) set_edge_aside(run);
    if (rank % 2 == 1) std::reverse(m_runs.begin(), m_runs.end());
    write_all(m_runs, m_bytes);
    m_runs.clear();
    m_bytes = 0;
  }

  void use_stripe(std::size_t bytes) { m_stripe = bytes; }
  /// Calls write_all(runs, bytes) for what was set aside.
  template <class WriteAll> void flush_edges(const WriteAll& write_all) {
    std::vector<Run> runs;
    std::size_t bytes = 0;
    for (const Edge& edge : m_edges) {
      runs.push_back({edge.begin, edge.size, edge.bytes.data(), edge.v});
      bytes += edge.size;
    }
    if (bytes > 0) write_all(runs, bytes);
    m_edges.clear();
  }

private:
  struct Edge {
    std::uint64_t begin;
    std::size_t size, v;
    std::array<std::byte, 8> bytes; ///< less than a value
  };
  void set_edge_aside(Run& run) {
    if (m_stripe == 0 || run.begin % m_stripe == 0) return;
    const std::size_t size = m_stripe - run.begin % m_stripe;
    if (size >= std::min(run.size, sizeof Edge::bytes)) return;
    m_edges.push_back({run.begin, size, run.v, {}});
    std::memcpy(m_edges.back().bytes.data(), run.data, size);
    run = {run.begin + size, run.size - size, run.data + size, run.v};
  }

  std::vector<Run> m_runs;
  std::size_t m_bytes = 0; ///< of their values
  std::size_t m_stripe = 0;
  std::vector<Edge> m_edges;
};

} // namespace nunatak::io
