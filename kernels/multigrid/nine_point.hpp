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

/// Writes the same positions, ghosts among them, in raster order, and where each row starts.
inline void list_rows(const Array2<int>& active, const Kokkos::View<int*, Mem>& raster,
                      const Kokkos::View<int*, Mem>& starts) {
  const int rows = active.extent_int(0), stride = active.extent_int(1);
  scan_over<int>(
      "multigrid: rows", Cells{0, rows, 0, stride}, {},
      KOKKOS_LAMBDA(int j, int i, int& before, bool last) {
        if (active(j, i) != 0) {
          if (last) raster(before) = j * stride + i;
          before += 1;
        }
        if (last && i + 1 == stride) starts(j + 1) = before;
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
      : patch(grown(owned, rings - 1)),
        active(is_active), m_owned{owned.ys - patch.ys + 1, owned.xs - patch.xs + 1, owned.ym,
                                   owned.xm} {
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
    list_unknowns(active, m_owned, rings, cells, found);
    if (loops_on_host && Exec().concurrency() == 1) {
      m_raster = Kokkos::View<int*, Mem>(
          Kokkos::view_alloc("cells by row", Kokkos::WithoutInitializing), active.size());
      m_starts = Kokkos::View<int*, Mem>("starts of rows", active.extent(0) + 1);
      list_rows(active, m_raster, m_starts);
    }
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
    forget_rows();
  }
  int size() const { return within[0]; } ///< owned unknowns
  int within_ring(int ring) const { return within[ring]; }

  /// Unknowns of a row, a stretch of a list in raster order (passes.hpp).
  struct Stretch {
    const int *begin, *end;
  };
  bool has_rows() const { return m_raster.data() != nullptr; } ///< on one thread of a CPU
  void forget_rows() { m_raster = {}; }                        ///< passes become loops
  /// Those of view row j that are in rings 0 to `ring`. For loops.
  Stretch row(int j, int ring) const {
    const int first = j * (patch.xm + 2) + m_owned.i0 - ring;
    const int end = first + m_owned.columns + 2 * ring;
    Stretch s{m_raster.data() + m_starts(j), m_raster.data() + m_starts(j + 1)};
    if (j < m_owned.j0 - ring || j >= m_owned.j0 + m_owned.rows + ring) s.end = s.begin;
    while (s.begin != s.end && *s.begin < first) ++s.begin;
    while (s.begin != s.end && s.end[-1] >= end) --s.end;
    return s;
  }

  /// The rows, indexed by view indices of the owned patch.
  Rows<Real> rows_of_owned() const {
    const int first = (m_owned.j0 - 1) * (patch.xm + 2) + m_owned.i0 - 1;
    return Rows<Real>(A.data() + 36 * static_cast<std::ptrdiff_t>(first), patch.ym + 2,
                      patch.xm + 2, 36);
  }

private:
  RingCells m_owned{};
  Kokkos::View<int*, Mem> m_raster, m_starts;
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

/// f(c) for each unknown in rings `first` (0: owned) to `last`, c = its position in arrays.
template <class Real, class F>
void for_each_unknown(const char* label, const NinePoint<Real>& p, int first, int last,
                      const F& f) {
  const auto cells = p.cells;
  const int begin = first > 0 ? p.within_ring(first - 1) : 0, end = p.within_ring(last);
  if (begin < end)
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(begin, end), KOKKOS_LAMBDA(int n) { f(cells(n)); });
}

} // namespace nunatak
