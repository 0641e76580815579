// A symmetric 9-point operator with 2 x 2 blocks on the cells of a patch that are unknowns: the SSA's Jacobian, and its coarse
// versions. One cell's row, and the loops over cells that the smoother of kernels/multigrid/multigrid.hpp is made of.
//
//      6 7 8     Slot (dj + 1) * 3 + di + 1 holds the block that multiplies the values of the neighbour in direction (di, dj):
//      3 4 5     entries 4 slot .. 4 slot + 3, row by row: [uu uv; vu vv]. Blocks of neighbours that are no unknowns are 0.
//      0 1 2
//
// Arrays are (j, i, n) over the rank's patch and as many rings of ghosts as its level has (halo.hpp): n = 36 entries of a row, 2
// values (u, v), 4 entries of an inverse block. A row and what it multiplies lie together in memory; cells that are no unknowns
// are never read.
#pragma once

#include "kernels/multigrid/halo.hpp"

#include <algorithm>
#include <vector>

namespace nunatak {

template <class Real> using Rows = Kokkos::View<Real***, Kokkos::LayoutRight, Mem>; // (j, i, n), as above

/// What one rank has of an operator and of the system A x = b.
template <class Real> struct NinePoint {
  Patch patch;                      ///< with all rings of ghosts but the last: arrays have one around it
  SharedArray2<int> active;         ///< 1: unknown; owned cells and ghosts (0 beyond the edge of the domain)
  Shared<int*> cells;               ///< the owned unknowns in raster order, then those of ring 1, ...: j (patch.xm + 2) + i
  std::vector<int> within;          ///< [k]: unknowns in rings 0 (owned) to k
  Kokkos::View<Real*, Mem> vectors; ///< memory of b, x, r, d, e
  Rows<Real> A;                     ///< 36 entries
  Rows<Real> inverse;               ///< of S D (smoother.hpp), D the diagonal block
  Rows<Real> b, x;                  ///< right-hand side, solution; 0 where there is no unknown
  Rows<Real> r, d, e;               ///< residual; step of the smoother, and the next one

  NinePoint() = default;
  /// `is_active`: over `owned`, grown by rings - 1 cells, and its ghosts.
  NinePoint(const Patch& owned, const SharedArray2<int>& is_active, int rings = 1)
      : patch(grown(owned, rings - 1)), active(is_active), m_first((owned.ys - patch.ys) * (patch.xm + 2) + owned.xs - patch.xs) {
    const Patch& p = patch;
    A = Rows<Real>(Kokkos::view_alloc("matrix", Kokkos::WithoutInitializing), p.ym + 2, p.xm + 2, 36);
    inverse = Rows<Real>(Kokkos::view_alloc("inverse", Kokkos::WithoutInitializing), p.ym + 2, p.xm + 2, 4);
    // One block of memory, each vector at another offset into its page: loads and stores at the same offset of several pages
    // would wait for each other (4 K aliasing).
    const std::size_t page = 4096 / sizeof(Real), shift = 576 / sizeof(Real);
    const std::size_t length =
        ((2 * static_cast<std::size_t>(p.ym + 2) * static_cast<std::size_t>(p.xm + 2)) / page + 1) * page + shift;
    vectors = Kokkos::View<Real*, Mem>("vectors", 5 * length);
    std::size_t start = 0;
    for (Rows<Real>* v : {&b, &x, &r, &d, &e}) *v = Rows<Real>(vectors.data() + start, p.ym + 2, p.xm + 2, 2), start += length;
    Kokkos::fence("multigrid: which cells are unknowns");
    std::vector<std::vector<int>> of_ring(static_cast<std::size_t>(rings) + 1);
    const auto beyond = [](int g, int s, int m) { return std::max({s - g, g - (s + m - 1), 0}); };
    for (int j = 0; j <= p.ym + 1; ++j) {
      for (int i = 0; i <= p.xm + 1; ++i) {
        const int ring = std::max(beyond(p.global_j(j), owned.ys, owned.ym), beyond(p.global_i(i), owned.xs, owned.xm));
        if (active(j, i) != 0) of_ring[static_cast<std::size_t>(ring)].push_back(j * (p.xm + 2) + i);
      }
    }
    std::vector<int> all;
    for (const auto& places : of_ring) {
      all.insert(all.end(), places.begin(), places.end());
      within.push_back(static_cast<int>(all.size()));
    }
    cells = make_shared<int*>("cells", all.size());
    std::copy(all.begin(), all.end(), cells.data());
  }
  int size() const { return within[0]; } ///< owned unknowns
  int within_ring(int ring) const { return within[static_cast<std::size_t>(ring)]; }
  /// The rows with the view indices of the owned patch.
  Rows<Real> rows_of_owned() const {
    return Rows<Real>(A.data() + 36 * static_cast<std::ptrdiff_t>(m_first), patch.ym + 2, patch.xm + 2, 36);
  }

private:
  int m_first = 0; // place of view indices (0, 0) of the owned patch
};

/// (A x) of one cell. `a`: its row; `x`: its value in an array whose rows of cells are `stride` cells long.
template <class Real> KOKKOS_INLINE_FUNCTION void row_product(const Real* a, const Real* x, int stride, Real& u, Real& v) {
  Four<Real> sum{};
  for (int dj = -1; dj <= 1; ++dj) {
    const Real* y = x + 2 * (dj * stride - 1);
    for (int n = 0; n < 3; ++n, a += 4, y += 2) sum += Four<Real>{a[0], a[1], a[2], a[3]} * Four<Real>{y[0], y[1], y[0], y[1]};
  }
  u = sum[0] + sum[1];
  v = sum[2] + sum[3];
}

/// f(c) for each unknown in rings 0 (owned) to `ring`, c = its place in an array of cells.
template <class Real, class F> void for_each_unknown(const char* label, const NinePoint<Real>& p, int ring, const F& f) {
  const auto cells = p.cells;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec>(0, p.within_ring(ring)), KOKKOS_LAMBDA(int n) { f(cells(n)); });
}
template <class Real, class F> void for_each_unknown(const char* label, const NinePoint<Real>& p, const F& f) {
  for_each_unknown(label, p, 0, f);
}

/// The same for the unknowns in rings `first` (1 or more) to `last`.
template <class Real, class F> void for_each_ghost(const char* label, const NinePoint<Real>& p, int first, int last, const F& f) {
  const auto cells = p.cells;
  const int begin = p.within_ring(first - 1), end = p.within_ring(last);
  if (begin < end)
    Kokkos::parallel_for(
        label, Kokkos::RangePolicy<Exec>(begin, end), KOKKOS_LAMBDA(int n) { f(cells(n)); });
}

/// The inverses of the diagonal blocks D, each divided by its S (smoother.hpp): the larger of the sums of |entries| of the two
/// rows of D^-1 A. A block that is singular to rounding is replaced by its trace times the identity, which is not smaller. In
/// rings 0 to `ring`.
template <class Real> void invert_diagonal(const NinePoint<Real>& p, int ring = 0) {
  const auto A = p.A, inverse = p.inverse;
  for_each_unknown(
      "multigrid: inverses", p, ring, KOKKOS_LAMBDA(int c) {
        const Real *row = A.data() + 36 * static_cast<std::ptrdiff_t>(c), *a = row + 16;
        Real* q = inverse.data() + 4 * static_cast<std::ptrdiff_t>(c);
        const double uu = a[0], uv = a[1], vv = a[3], trace = uu + vv, det = uu * vv - uv * uv;
        const bool regular = det > 1e-6 * trace * trace;
        const double other = trace > 0.0 ? 1.0 / trace : 0.0;
        const auto q0 = static_cast<Real>(regular ? vv / det : other), q1 = static_cast<Real>(regular ? -uv / det : 0.0),
                   q3 = static_cast<Real>(regular ? uu / det : other);
        Four<Real> sum{};
        for (int slot = 0; slot < 9; ++slot, row += 4) {
          Four<Real> product = Four<Real>{q0, q0, q1, q1} * Four<Real>{row[0], row[1], row[0], row[1]};
          product += Four<Real>{q1, q1, q3, q3} * Four<Real>{row[2], row[3], row[2], row[3]};
          sum += Four<Real>{Kokkos::abs(product[0]), Kokkos::abs(product[1]), Kokkos::abs(product[2]), Kokkos::abs(product[3])};
        }
        const Real S = sum[0] + sum[1] > sum[2] + sum[3] ? sum[0] + sum[1] : sum[2] + sum[3], scale = S > 0 ? 1 / S : 0;
        q[0] = scale * q0, q[1] = q[2] = scale * q1, q[3] = scale * q3;
      });
}

} // namespace nunatak
