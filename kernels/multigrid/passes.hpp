// Passes over the unknowns of a part of a level of multigrid.hpp: as a wavefront over rows on one
// thread of a CPU, one loop after another elsewhere.
//
// A pass computes values of a cell from values of it and its eight neighbours. In a wavefront each
// pass follows the one before it at a distance of one row (numbers: order of the rows):
//
//   row      0   1   2   3   4      Rows of two passes that are at most one apart are in the same
//   pass 0   1   2   4   7  10      order as loop by loop: row 2 of pass 1 (8) follows row 3 of
//   pass 1   3   5   8  11          pass 0 (7) and precedes row 1 of pass 2 (9). So every cell
//   pass 2   6   9  12              finds what it would find then, bit by bit, also in arrays that
//                                   one pass reads and the next but one writes.
//
// All passes read a row of the matrix while it is in cache, if about as many rows as there are
// passes fit: it comes from memory once, not once per pass.
// On a CPU a pass goes block by block (lanes.hpp), on a GPU a thread has a cell.
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/multigrid/hats.hpp"
#include "kernels/multigrid/nine_point.hpp"

#include <functional>
#include <type_traits>
#include <vector>

namespace nunatak {

/// Planes of vectors: pairs of values of the cell at position c.
template <class Real, int N> struct Planes {
  Real* u[N / 2];
  std::ptrdiff_t to_v;
  KOKKOS_INLINE_FUNCTION Real& operator()(int c, int n) const { return u[n / 2][c + n % 2 * to_v]; }
};
template <class Real, class... Vectors>
auto planes(const Rows<Real>& first, const Vectors&... others) {
  return Planes<Real, 2 + 2 * sizeof...(others)>{{first.first, others.first...}, first.value};
}

/// A pass that computes N values per cell: value n of lane k goes to values[n lanes + k], then to
/// to(c, n). `compute`: (Lane, values + k), for all lanes, the compiler makes vectors of them; or
/// (CellBlock, values), if it does so itself. What it computes without an unknown is dropped; there
/// it reads what is within the arrays.
template <class Real, int N, class To, class F> struct Pass {
  To to;
  F compute;
  static constexpr bool by_block = std::is_invocable_v<F, const CellBlock&, Real*>;

  void operator()(const RowOfBlocks& row) const {
    const F f = compute; // a local copy: stores of the loop cannot alias it
    for (int n = 0; n < row.blocks; ++n) {
      const CellBlock block = row.block(n);
      if (block.unknowns == 0) continue;
      Real values[N * lanes];
      if constexpr (by_block) {
        f(block, values);
      } else {
        NUNATAK_INDEPENDENT
        for (int k = 0; k < lanes; ++k) f(Lane{block.first, k, block.row}, values + k);
      }
      store(block, values);
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& place) const {
    Real values[N * lanes];
    if constexpr (by_block)
      compute(CellBlock{place.position(), place.row, 1}, values);
    else
      compute(place, values);
    for (int n = 0; n < N; ++n) to(place.position(), n) = values[n * lanes];
  }

private:
  void store(const CellBlock& block, const Real* values) const {
    if (block.unknowns == all_lanes) {
      for (int n = 0; n < N; ++n) {
        Real* const written = &to(block.first, n);
        NUNATAK_INDEPENDENT
        for (int k = 0; k < lanes; ++k) written[k] = values[n * lanes + k];
      }
      return;
    }
    for (int k = 0; k < lanes; ++k) {
      for (int n = 0; n < N && block.is(k); ++n) (&to(block.first, n))[k] = values[n * lanes + k];
    }
  }
};

/// The cells of a part, on a GPU.
struct Visited {
  const unsigned* marks; ///< as in RowOfBlocks
  int cells, stride;
  Rectangle owned;

  template <class Real>
  explicit Visited(const NinePoint<Real>& part)
      : marks(part.marks.data()), cells(static_cast<int>(part.active.size())),
        stride(part.stride()), owned(part.owned) {}
  /// pass(Lane) if the cell at position c is an unknown in rings 0 (owned) to `last`.
  template <class P> KOKKOS_INLINE_FUNCTION void visit(int c, int last, const P& pass) const {
    const int n = c / lanes, k = c % lanes, j = c / stride;
    if ((marks[n] >> k & 1u) != 0 && owned.ring(j, c % stride) <= last) pass(Lane{n * lanes, k, j});
  }
};

/// pass(Lane) for each unknown in rings 0 (owned) to `last`, on a GPU.
template <class Real, class P>
void for_each_unknown(const char* label, const NinePoint<Real>& part, int last, const P& pass) {
  const Visited all(part);
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec>(0, all.cells),
      KOKKOS_LAMBDA(int c) { all.visit(c, last, pass); });
}

template <class Real> class Passes {
public:
  explicit Passes(NinePoint<Real>& part) : m_part(&part) {}
  NinePoint<Real>& part() const { return *m_part; }

  /// A pass over the unknowns in rings 0 (owned) to `last`, before or in run().
  template <int N, class To, class F>
  void add(const char* label, int last, const Pass<Real, N, To, F>& pass) {
    add(label, *m_part, HatAxis{}, last, pass);
  }
  /// A pass over the owned unknowns of the next coarser grid. It computes values at a coarse point
  /// from values at the fine point below and around it.
  template <int N, class To, class F>
  void add_coarse(const char* label, const NinePoint<Real>& coarse,
                  const Pass<Real, N, To, F>& pass) {
    add(label, coarse, pass.compute.ay, 0, pass);
  }

  /// Runs the passes that were added since the last call. No communication may be needed between.
  void run() {
    if constexpr (loops_on_host) {
      if (m_passes.empty()) return;
      const auto once = [this](int) {
        const int rows = m_part->active.extent_int(0);
        for (int time = 0; time < rows + m_passes.back().delay; ++time) {
          for (const Kept& pass : m_passes) pass.fine_row(time - pass.delay);
        }
      };
      Kokkos::parallel_for("multigrid: passes", Kokkos::RangePolicy<Exec>(0, 1), once);
      m_passes.clear();
      m_delay = -1;
    }
  }

private:
  struct Kept {
    const NinePoint<Real>* part;
    HatAxis y; ///< from rows of the level to rows of `part`
    int delay, last;
    std::function<void(const RowOfBlocks&)> visit;

    void fine_row(int fine_j) const {
      const int j = y.parent(fine_j);
      if (fine_j < 0 || y.centre(j) != fine_j) return; // between two rows of a coarser grid
      if (j >= 0 && j < part->active.extent_int(0)) row(j);
    }
    void row(int j) const { visit(part->row(j, last)); }
  };

  template <class P>
  void add(const char* label, const NinePoint<Real>& part, const HatAxis& y, int last,
           const P& pass) {
    if constexpr (loops_on_host) {
      const bool together = m_part->wavefront();
      if (together) m_delay += 1;
      const Kept kept{&part, y, m_delay, last, [pass](const RowOfBlocks& s) { widely(pass, s); }};
      if (together) return m_passes.push_back(kept);
      Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, part.active.extent_int(0)),
                           [kept](int j) { kept.row(j); });
    } else {
      for_each_unknown(label, part, last, pass);
    }
  }

  NinePoint<Real>* m_part;
  std::vector<Kept> m_passes;
  int m_delay = -1; ///< of the last pass
};

} // namespace nunatak
