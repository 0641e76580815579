// A symmetric 9-point operator with 2 x 2 blocks on the unknown cells of a patch: the SSA's
// Jacobian and its coarse versions. Loops over them: passes.hpp.
//
//      6 7 8     Slot (dj + 1) * 3 + di + 1 holds the block that multiplies the values of the
//      3 4 5     neighbour in direction (di, dj): entries 4 slot .. 4 slot + 3, row by row:
//      0 1 2     [uu uv; vu vv]. Blocks of neighbours that are no unknowns are 0.
//
// Arrays are those of lanes.hpp over the patch and the rings of ghosts of its level (halo.hpp): 36
// entries of a row, 4 entries of an inverse block, vectors. Only unknown cells are
// written; lanes of other cells are read, and what follows from them is dropped.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/multigrid/halo.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace nunatak {

/// A rectangle of view indices, and rings of cells around it.
struct Rectangle {
  int j0, i0, rows, columns;
  /// The ring of a cell, 0 inside.
  KOKKOS_INLINE_FUNCTION int ring(int j, int i) const {
    const int y = j < j0 ? j0 - j : j - (j0 + rows - 1),
              x = i < i0 ? i0 - i : i - (i0 + columns - 1);
    return Kokkos::max(0, Kokkos::max(x, y));
  }
};

/// The number of unknowns in each ring, 0 to 32.
struct InRings {
  int of[33] = {};
  KOKKOS_INLINE_FUNCTION InRings& operator+=(const InRings& other) {
    for (int k = 0; k < 33; ++k) of[k] += other.of[k];
    return *this;
  }
};

/// A row of blocks, of whose cells those in rings 0 (owned) to `last` count.
struct RowOfBlocks {
  const unsigned* marks;   ///< bit k of marks[n]: lane k of block n is an unknown
  int blocks, position, j; ///< position: of lane 0 of block 0
  int last, begin, end;    ///< columns between begin and end need no look at their rings
  Rectangle owned;

  CellBlock block(int n) const {
    const int i = n * lanes;
    CellBlock found{position + i, j, marks[n]};
    if (i >= begin && i + lanes <= end) return found;
    for (int k = 0; k < lanes && found.unknowns != 0; ++k) {
      if (owned.ring(j, i + k) > last) found.unknowns &= ~(1u << k);
    }
    return found;
  }
};

/// Marks, lists and counts the unknowns, as in NinePoint.
inline void find_unknowns(const Patch& patch, const Array2<int>& active, const Rectangle& owned,
                          const Kokkos::View<unsigned*, Mem>& marks,
                          const Kokkos::View<int*, Mem>& cells, const Later<InRings>& found) {
  const int stride = active.extent_int(1);
  scan_over<int>(
      "multigrid: unknowns",
      Cells{owned.j0, owned.j0 + owned.rows, owned.i0, owned.i0 + owned.columns}, {},
      KOKKOS_LAMBDA(int j, int i, int& before, bool last) {
        if (active(j, i) == 0) return;
        if (last) cells(before) = j * stride + i;
        before += 1;
      });
  reduce_over<InRings>(
      "multigrid: unknowns of rings", cells_and_ghosts(patch), found,
      KOKKOS_LAMBDA(int j, int i, InRings& in) {
        const int c = j * stride + i;
        if (active(j, i) == 0) return;
        in.of[owned.ring(j, i)] += 1;
        atomic_add(&marks(c / lanes), 1u << c % lanes);
      });
}

/// The part of an operator and of the system A x = b on one rank.
template <class Real> struct NinePoint {
  Patch patch;        ///< with all rings of ghosts except the last, which arrays add
  Array2<int> active; ///< 1: unknown; owned cells and ghosts (0 beyond the domain)
  Kokkos::View<unsigned*, Mem> marks; ///< as in RowOfBlocks
  Kokkos::View<int*, Mem> cells;      ///< positions of the owned unknowns, in raster order
  std::vector<int> within;            ///< [k]: unknowns in rings 0 (owned) to k
  Rows<Real> A;                       ///< 36 entries
  Rows<Real> inverse;                 ///< of S D (smoother.hpp), D the diagonal block
  Rows<Real> b, x;    ///< right-hand side, solution; vectors are 0 where there is no unknown
  Rows<Real> r, d, e; ///< residual; step of the smoother, and the next one
  Rectangle owned;

  NinePoint() = default;
  /// `is_active`: over `owned_`, grown by rings - 1 cells, and its ghosts.
  NinePoint(const Patch& owned_, const Array2<int>& is_active, int rings = 1)
      : patch(grown(owned_, rings - 1)), active(with_lanes(patch, is_active, patch)),
        marks("unknowns", active.size() / lanes),
        cells(Kokkos::view_alloc("cells", Kokkos::WithoutInitializing), active.size()),
        A("matrix", patch, 36),
        inverse("inverse", patch, 4), owned{owned_.ys - patch.ys + 1, owned_.xs - patch.xs + 1,
                                            owned_.ym, owned_.xm} {
    make_vectors();
    const auto found = make_later<InRings>("multigrid: within");
    find_unknowns(patch, active, owned, marks, cells, found);
    Kokkos::fence("multigrid: number of unknowns");
    within.assign(found().of, found().of + rings + 1);
    std::partial_sum(within.begin(), within.end(), within.begin());
  }
  /// Restricts the passes over this copy to `count` of the owned unknowns, positions in `cells`.
  void choose(const Kokkos::View<int*, Mem>& chosen, int count) {
    const auto all = cells;
    const Kokkos::View<unsigned*, Mem> bits("chosen", marks.extent(0));
    Kokkos::parallel_for(
        "multigrid: chosen cells", Kokkos::RangePolicy<Exec>(0, count), KOKKOS_LAMBDA(int n) {
          const int c = all(chosen(n));
          atomic_add(&bits(c / lanes), 1u << c % lanes);
        });
    marks = bits;
  }
  int stride() const { return A.stride; }
  int size() const { return within[0]; } ///< owned unknowns
  int within_ring(int ring) const { return within[ring]; }

  /// Passes (passes.hpp) go row by row together, or one after another.
  bool wavefront() const { return m_wavefront; }
  void loop_by_loop() { m_wavefront = false; }
  /// For loops.
  RowOfBlocks row(int j, int last) const {
    const int blocks = stride() / lanes, begin = owned.i0;
    const int end = owned.ring(j, begin) <= last ? begin + owned.columns : 0;
    return {marks.data() + j * blocks, blocks, j * stride(), j, last, begin, end, owned};
  }

  /// The rows, indexed by view indices of the owned patch.
  Rows<Real> rows_of_owned() const {
    Rows<Real> rows = A;
    rows.start = (owned.j0 - 1) * stride() + owned.i0 - 1;
    return rows;
  }

private:
  /// One block of memory. Planes begin at different offsets into a page, to avoid 4K aliasing.
  /// Lanes without an unknown read up to 64 numbers beyond them.
  void make_vectors() {
    constexpr std::size_t beyond = 64, page = 4096 / sizeof(Real), shift = 384 / sizeof(Real);
    std::size_t plane = active.size() + beyond, start = beyond;
    if (plane > page) plane = (plane / page + 1) * page + shift;
    const Kokkos::View<Real*, Mem> memory("vectors", 10 * plane + beyond);
    for (Rows<Real>* v : {&b, &x, &r, &d, &e}) {
      *v = Rows<Real>(Kokkos::subview(memory, std::make_pair(start, start + 2 * plane)),
                      static_cast<std::ptrdiff_t>(plane), stride());
      start += 2 * plane;
    }
  }

  bool m_wavefront = loops_on_host && Exec().concurrency() == 1;
};

} // namespace nunatak
