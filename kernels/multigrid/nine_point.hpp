// A symmetric 9-point operator with 2 x 2 blocks on the unknown cells of a patch: the SSA's
// Jacobian and its coarse versions, and the loops over cells used by the smoother of multigrid.hpp.
//
//      6 7 8     Slot (dj + 1) * 3 + di + 1 holds the block that multiplies the values of the
//      3 4 5     neighbour in direction (di, dj): entries 4 slot .. 4 slot + 3, row by row:
//      0 1 2     [uu uv; vu vv]. Blocks of neighbours that are no unknowns are 0.
//
// Arrays are (j, i, n) over the patch and the rings of ghosts of its level (halo.hpp): n = 36
// entries of a row, 2 values (u, v), 4 entries of an inverse block. The n values of a cell are
// contiguous; only unknown cells are read.
#pragma once

#include "kernels/grid/list.hpp"
#include "kernels/multigrid/halo.hpp"

#include <utility>
#include <vector>

namespace nunatak {

/// Four numbers multiplied and added together, in one vector register if the compiler has them.
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
template <class Real> struct FourNumbers {
  typedef Real type
      __attribute__((vector_size(4 * sizeof(Real)), aligned(alignof(Real)), may_alias));
};
template <class Real> using Four = typename FourNumbers<Real>::type;
#else
template <class Real> struct Four {
  Real n[4];
  KOKKOS_INLINE_FUNCTION Real operator[](int m) const { return n[m]; }
  KOKKOS_INLINE_FUNCTION Four operator*(const Four& o) const {
    return {n[0] * o.n[0], n[1] * o.n[1], n[2] * o.n[2], n[3] * o.n[3]};
  }
  KOKKOS_INLINE_FUNCTION Four& operator+=(const Four& o) {
    for (int m = 0; m < 4; ++m) n[m] += o.n[m];
    return *this;
  }
};
#endif

template <class Real>
using Rows = Kokkos::View<Real***, Kokkos::LayoutRight, Mem>; // (j, i, n), as above

/// The cells around a rectangle of view indices, ring by ring, each in raster order.
struct RingCells {
  int j0, i0, rows, columns; ///< of the rectangle
  KOKKOS_INLINE_FUNCTION int count(int ring) const {
    return (rows + 2 * ring) * (columns + 2 * ring) - rows * columns;
  }
  KOKKOS_INLINE_FUNCTION void find(int n, int& ring, int& j, int& i) const {
    ring = 1;
    while (n >= count(ring)) ++ring;
    n -= count(ring - 1);
    // rows between the first and the last have two cells
    const int width = columns + 2 * ring, above = rows + 2 * ring - 1;
    const int row = n < width ? 0 : Kokkos::min(1 + (n - width) / 2, above);
    const int column = row == 0       ? n
                       : row == above ? n - width - 2 * (above - 1)
                                      : (n - width) % 2 * (width - 1);
    j = j0 - ring + row;
    i = i0 - ring + column;
  }
};

constexpr int most_rings = 32;
/// The number of unknowns in rings 0 to k.
struct Within {
  int rings[most_rings + 1] = {};
};

/// Writes the positions j stride + i of the unknowns, and their numbers per ring, as in NinePoint.
inline void list_unknowns(const Array2<int>& active, const RingCells& owned, int rings,
                          const Kokkos::View<int*, Mem>& cells, const Later<Within>& within) {
  const int rows = active.extent_int(0), stride = active.extent_int(1);
  const Later<int> in_patch(within.data()->rings);
  scan_over<int>(
      "multigrid: unknowns",
      Cells{owned.j0, owned.j0 + owned.rows, owned.i0, owned.i0 + owned.columns}, in_patch,
      KOKKOS_LAMBDA(int j, int i, int& before, bool last) {
        if (active(j, i) == 0) return;
        if (last) cells(before) = j * stride + i;
        before += 1;
      });
  scan_range<int>(
      "multigrid: unknowns of rings", 0, owned.count(rings),
      KOKKOS_LAMBDA(int n, int& before, bool last) {
        int ring = 0, j = 0, i = 0;
        owned.find(n, ring, j, i);
        if (j >= 0 && i >= 0 && j < rows && i < stride &&
            active(j, i) != 0) { // grown() ends at the domain edge
          if (last) cells(in_patch() + before) = j * stride + i;
          before += 1;
        }
        if (last && n + 1 == owned.count(ring)) within().rings[ring] = in_patch() + before;
      });
}

/// The part of an operator and of the system A x = b on one rank.
template <class Real> struct NinePoint {
  Patch patch;        ///< with all rings of ghosts except the last, which arrays add
  Array2<int> active; ///< 1: unknown; owned cells and ghosts (0 beyond the domain)
  /// positions j (patch.xm + 2) + i of the owned unknowns in raster order, then of ring 1, ...
  Kokkos::View<int*, Mem> cells;
  std::vector<int> within;          ///< [k]: unknowns in rings 0 (owned) to k
  Kokkos::View<Real*, Mem> vectors; ///< memory of b, x, r, d, e
  Rows<Real> A;                     ///< 36 entries
  Rows<Real> inverse;               ///< of S D (smoother.hpp), D the diagonal block
  Rows<Real> b, x;                  ///< right-hand side, solution; 0 where there is no unknown
  Rows<Real> r, d, e;               ///< residual; step of the smoother, and the next one

  NinePoint() = default;
  /// `is_active`: over `owned`, grown by rings - 1 cells, and its ghosts.
  NinePoint(const Patch& owned, const Array2<int>& is_active, int rings = 1)
      : patch(grown(owned, rings - 1)), active(is_active),
        m_first((owned.ys - patch.ys) * (patch.xm + 2) + owned.xs - patch.xs) {
    const Patch& p = patch;
    A = Rows<Real>(Kokkos::view_alloc("matrix", Kokkos::WithoutInitializing), p.ym + 2, p.xm + 2,
                   36);
    inverse = Rows<Real>(Kokkos::view_alloc("inverse", Kokkos::WithoutInitializing), p.ym + 2,
                         p.xm + 2, 4);
    // One block of memory, vectors at different offsets into their page, to avoid 4K aliasing.
    const std::size_t page = 4096 / sizeof(Real), shift = 576 / sizeof(Real);
    const std::size_t length =
        ((2 * static_cast<std::size_t>(p.ym + 2) * static_cast<std::size_t>(p.xm + 2)) / page + 1) *
            page +
        shift;
    vectors = Kokkos::View<Real*, Mem>("vectors", 5 * length);
    std::size_t start = 0;
    for (Rows<Real>* v : {&b, &x, &r, &d, &e})
      *v = Rows<Real>(vectors.data() + std::exchange(start, start + length), p.ym + 2, p.xm + 2, 2);
    cells = Kokkos::View<int*, Mem>(Kokkos::view_alloc("cells", Kokkos::WithoutInitializing),
                                    active.size());
    const auto found = make_later<Within>("multigrid: within");
    list_unknowns(active, RingCells{owned.ys - p.ys + 1, owned.xs - p.xs + 1, owned.ym, owned.xm},
                  rings, cells, found);
    Kokkos::fence("multigrid: number of unknowns");
    within.assign(found().rings, found().rings + rings + 1);
  }
  /// Restricts this copy to `count` of the owned unknowns, without ghosts.
  void choose(const Kokkos::View<int*, Mem>& chosen, int count) {
    const auto all = cells;
    const Kokkos::View<int*, Mem> some(Kokkos::view_alloc("cells", Kokkos::WithoutInitializing),
                                       static_cast<std::size_t>(count));
    Kokkos::parallel_for(
        "multigrid: chosen cells", Kokkos::RangePolicy<Exec>(0, count),
        KOKKOS_LAMBDA(int n) { some(n) = all(chosen(n)); });
    cells = some;
    within.assign(1, count);
  }
  int size() const { return within[0]; } ///< owned unknowns
  int within_ring(int ring) const { return within[ring]; }
  /// The rows, indexed by view indices of the owned patch.
  Rows<Real> rows_of_owned() const {
    return Rows<Real>(A.data() + 36 * static_cast<std::ptrdiff_t>(m_first), patch.ym + 2,
                      patch.xm + 2, 36);
  }

private:
  int m_first = 0; // position of view indices (0, 0) of the owned patch
};

/// (A x) of one cell. `a`: its row; `x`: its value in an array with rows of `stride` cells.
template <class Real>
KOKKOS_INLINE_FUNCTION void row_product(const Real* a, const Real* x, int stride, Real& u,
                                        Real& v) {
  Four<Real> sum{};
  for (int dj = -1; dj <= 1; ++dj) {
    const Real* y = x + 2 * (dj * stride - 1);
    for (int n = 0; n < 3; ++n, a += 4, y += 2)
      sum += Four<Real>{a[0], a[1], a[2], a[3]} * Four<Real>{y[0], y[1], y[0], y[1]};
  }
  u = sum[0] + sum[1];
  v = sum[2] + sum[3];
}

/// f(c) for each unknown in rings 0 (owned) to `ring`, c = its position in an array of cells.
template <class Real, class F>
void for_each_unknown(const char* label, const NinePoint<Real>& p, int ring, const F& f) {
  const auto cells = p.cells;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec>(0, p.within_ring(ring)),
      KOKKOS_LAMBDA(int n) { f(cells(n)); });
}
template <class Real, class F>
void for_each_unknown(const char* label, const NinePoint<Real>& p, const F& f) {
  for_each_unknown(label, p, 0, f);
}

/// The same for the unknowns in rings `first` (1 or more) to `last`.
template <class Real, class F>
void for_each_ghost(const char* label, const NinePoint<Real>& p, int first, int last, const F& f) {
  const auto cells = p.cells;
  const int begin = p.within_ring(first - 1), end = p.within_ring(last);
  if (begin < end)
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(begin, end), KOKKOS_LAMBDA(int n) { f(cells(n)); });
}

/// Inverts the diagonal blocks D, each divided by its S (smoother.hpp): the larger of the sums of
/// |entries| of the two rows of D^-1 A. A block that is singular to rounding is replaced by its
/// trace times the identity, which is not smaller. In rings 0 to `ring`.
template <class Real> void invert_diagonal(const NinePoint<Real>& p, int ring = 0) {
  const auto A = p.A, inverse = p.inverse;
  for_each_unknown(
      "multigrid: inverses", p, ring, KOKKOS_LAMBDA(int c) {
        const Real *row = A.data() + 36 * static_cast<std::ptrdiff_t>(c), *a = row + 16;
        Real* q = inverse.data() + 4 * static_cast<std::ptrdiff_t>(c);
        const double uu = a[0], uv = a[1], vv = a[3], trace = uu + vv, det = uu * vv - uv * uv;
        const bool regular = det > 1e-6 * trace * trace;
        const double other = trace > 0.0 ? 1.0 / trace : 0.0;
        const auto q0 = static_cast<Real>(regular ? vv / det : other);
        const auto q1 = static_cast<Real>(regular ? -uv / det : 0.0);
        const auto q3 = static_cast<Real>(regular ? uu / det : other);
        Four<Real> sum{};
        for (int slot = 0; slot < 9; ++slot, row += 4) {
          Four<Real> product =
              Four<Real>{q0, q0, q1, q1} * Four<Real>{row[0], row[1], row[0], row[1]};
          product += Four<Real>{q1, q1, q3, q3} * Four<Real>{row[2], row[3], row[2], row[3]};
          sum += Four<Real>{Kokkos::abs(product[0]), Kokkos::abs(product[1]),
                            Kokkos::abs(product[2]), Kokkos::abs(product[3])};
        }
        const Real S = sum[0] + sum[1] > sum[2] + sum[3] ? sum[0] + sum[1] : sum[2] + sum[3];
        const Real scale = S > 0 ? 1 / S : 0;
        q[0] = scale * q0;
        q[1] = q[2] = scale * q1;
        q[3] = scale * q3;
      });
}

} // namespace nunatak
