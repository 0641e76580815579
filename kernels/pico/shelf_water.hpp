// Shelf cells in a row, and the water below a shelf: what the loops of the physics go over. Nothing
// is communicated. Neighbours: melt.hpp fills and sums them, shelf_fields.hpp makes fields of them,
// physics.hpp has the formulas.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/pico/physics.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace nunatak::pico {

/// Water below one shelf, box by box.
struct ShelfWater {
  double T0 = default_T0, S0 = default_S0; ///< before the clip
  std::vector<std::int64_t> cells;         ///< of box 0, 1, ..., n_max
  std::vector<double> mean_p;              ///< dbar
  std::vector<double> T, S;                ///< means over the box
  std::vector<NextBox> from;               ///< how box k follows from box k - 1
  double q = 0.0;                          ///< mean overturning of box 1, m3 s-1

  /// Box 0, a box after an empty one, and all boxes if there is no overturning: no box water.
  bool fallback(int k) const {
    if (k == 0) return true;
    return k >= 2 && (cells[static_cast<std::size_t>(k - 1)] == 0 || cells[1] == 0);
  }
};

/// The same of one box, for loops.
struct BoxWater {
  double T0, S0, g1; ///< g1: A_1 gamma
  NextBox from;
  bool fallback;
};

/// Shelf cells first..end - 1 of one shelf and box, side by side.
struct Run {
  int shelf, box, slot, first, end; ///< slot: (shelf, box)
};

/// The runs of a list of cells, which is cut into blocks: a run ends with its block.
struct RunsOfList {
  static constexpr int block =
      loops_on_host ? 4096
                    : 64; ///< a thread takes a run: not too long on a GPU, with few sums on a CPU
  const int *shelf, *box;
  int cells, boxes;

  int blocks() const { return (cells + block - 1) / block; }
  /// f(Run) for each of block b.
  template <class F> KOKKOS_INLINE_FUNCTION void for_each_run(int b, const F& f) const {
    const int last = cells < (b + 1) * block ? cells : (b + 1) * block;
    for (int n = b * block, end; n < last; n = end) {
      for (end = n + 1; end < last && shelf[end] == shelf[n] && box[end] == box[n];) ++end;
      f(Run{shelf[n], box[n], shelf[n] * (boxes + 1) + box[n], n, end});
    }
  }
};

template <class F> struct RunsOfBlock {
  RunsOfList list;
  F f;
  KOKKOS_INLINE_FUNCTION void operator()(int b) const { list.for_each_run(b, f); }
};

/// Of each block: how many runs are before it; then how many there are.
inline void find_runs(const RunsOfList& list, int* first) {
  scan_range<int>(
      "pico: count runs", 0, list.blocks() + 1, KOKKOS_LAMBDA(int b, int& runs, bool last) {
        if (last) first[b] = runs;
        list.for_each_run(b, [&](const Run&) { runs += 1; });
      });
}
inline void write_runs(const RunsOfList& list, const int* first, Run* runs) {
  Kokkos::parallel_for(
      "pico: runs", Kokkos::RangePolicy<Exec>(0, list.blocks()), KOKKOS_LAMBDA(int b) {
        Run* at = runs + first[b];
        list.for_each_run(b, [&](const Run& run) { *at++ = run; });
      });
}

/// Loops add integers in any order: the sum is the same.
KOKKOS_INLINE_FUNCTION void put(std::int64_t n, std::int64_t* at) {
  if (n != 0) atomic_add(at, n);
}
KOKKOS_INLINE_FUNCTION void put(const FixedSum& sum, std::int64_t* at) {
  put(sum.hi, at), put(sum.lo, at + 1);
}

/// The cell that a loop over a list comes to some places later, to be fetched ahead; near the end
/// of the list cell n.
KOKKOS_INLINE_FUNCTION int cell_ahead(const int* cell, int n, int cells) {
  constexpr int ahead = 64;
  return cell[n + ahead < cells ? n + ahead : n];
}

/// Shelf cells of one owner or of several, as the physics needs them.
struct ShelfCells {
  List<Run> runs;
  List<double> p, x;       ///< of each cell: pressure, dbar; cooling T0 - T1 in box 1, K
  List<std::int64_t> sums; ///< what loops add up

  bool listed = false; ///< are the runs in the list?
  RunsOfList list{};   ///< where they are else
  List<int> first;     ///< the first run of each block

  /// A list of cells of these shelves and boxes, 0..boxes. `wait`: for the list of runs, too; else,
  /// when its loops are done, list_runs() makes it.
  void set(const List<int>& shelf, const List<int>& box, int boxes, bool wait) {
    const std::size_t cells = shelf.size();
    list = {shelf.data(), box.data(), static_cast<int>(cells), boxes}, listed = false;
    p.resize(cells), x.resize(cells), first.resize(static_cast<std::size_t>(list.blocks()) + 1);
    find_runs(list, first.data());
    if (!wait) return;
    Kokkos::fence("pico: runs");
    list_runs();
  }
  void list_runs() {
    if (std::exchange(listed, true)) return;
    runs.resize(static_cast<std::size_t>(first.back()));
    write_runs(list, first.data(), runs.data());
  }

  /// f(run) for each run, listed or not.
  template <class F> void for_each_run(const char* label, const F& f) const {
    if (listed)
      for_each_in(label, runs, f);
    else
      Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, list.blocks()),
                           RunsOfBlock<F>{list, f});
  }
};

} // namespace nunatak::pico
