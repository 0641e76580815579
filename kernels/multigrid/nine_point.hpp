// A symmetric 9-point operator with 2 x 2 blocks on the cells of a patch that are unknowns: the SSA's Jacobian, and its coarse
// versions. One cell's row, and the loops over cells that the smoother of kernels/multigrid/multigrid.hpp is made of.
//
//      6 7 8     Slot (dj + 1) * 3 + di + 1 holds the block that multiplies the values of the neighbour in direction (di, dj):
//      3 4 5     entries 4 slot .. 4 slot + 3, row by row: [uu uv; vu vv]. Blocks of neighbours that are no unknowns are 0.
//      0 1 2
//
// Arrays are (j, i, n) with one ring of ghosts: n = 36 entries of a row, 2 values (u, v), 4 entries of an inverse block. A row
// and what it multiplies lie together in memory; cells that are no unknowns are never read.
#pragma once

#include "kernels/grid/array.hpp"

#include <algorithm>
#include <vector>

namespace nunatak {

template <class Real> using Rows = Kokkos::View<Real***, Kokkos::LayoutRight, Mem>; // (j, i, n), as above

/// What one rank has of an operator and of the system A x = b.
template <class Real> struct NinePoint {
  Patch patch;
  Array2<int> active;               ///< 1: unknown; owned cells and ghosts (0 beyond the edge of the domain)
  Kokkos::View<int*, Mem> cells;    ///< the owned unknowns in raster order: j (xm + 2) + i
  Kokkos::View<int*, Mem> ghosts;   ///< the unknowns among the ghosts
  Kokkos::View<Real*, Mem> vectors; ///< memory of b, x, r, d, e
  Rows<Real> A;                     ///< 36 entries; owned unknowns
  Rows<Real> inverse;               ///< of the diagonal block
  Rows<Real> b, x;                  ///< right-hand side, solution; 0 where there is no unknown
  Rows<Real> r, d, e;               ///< residual; step of the smoother, and the next one

  NinePoint() = default;
  NinePoint(const Patch& p, const Array2<int>& is_active) : patch(p), active(is_active) {
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
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), active);
    std::vector<int> owned, beside;
    for (int j = 0; j <= p.ym + 1; ++j) {
      for (int i = 0; i <= p.xm + 1; ++i) {
        const bool ghost = j == 0 || j == p.ym + 1 || i == 0 || i == p.xm + 1;
        if (host(j, i) != 0) (ghost ? beside : owned).push_back(j * (p.xm + 2) + i);
      }
    }
    cells = list("cells", owned), ghosts = list("ghosts", beside);
  }
  int size() const { return static_cast<int>(cells.extent(0)); }

private:
  static Kokkos::View<int*, Mem> list(const char* name, const std::vector<int>& values) {
    const Kokkos::View<int*, Mem> view(name, values.size());
    const auto host = Kokkos::create_mirror_view(view);
    std::copy(values.begin(), values.end(), host.data());
    Kokkos::deep_copy(view, host);
    return view;
  }
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

/// f(c) for each owned unknown, c = its place in an array of cells.
template <class Real, class F> void for_each_unknown(const char* label, const NinePoint<Real>& p, const F& f) {
  const auto cells = p.cells;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec>(0, p.size()), KOKKOS_LAMBDA(int n) { f(cells(n)); });
}

/// The same for the unknowns among the ghosts.
template <class Real, class F> void for_each_ghost(const char* label, const NinePoint<Real>& p, const F& f) {
  const auto ghosts = p.ghosts;
  if (ghosts.extent(0) == 0) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(ghosts.extent(0))), KOKKOS_LAMBDA(int n) { f(ghosts(n)); });
}

/// The inverses of the diagonal blocks. A block that is singular to rounding is replaced by its trace times the identity, which
/// is not smaller.
template <class Real> void invert_diagonal(const NinePoint<Real>& p) {
  const auto A = p.A, inverse = p.inverse;
  for_each_unknown(
      "multigrid: inverses", p, KOKKOS_LAMBDA(int c) {
        const Real* a = A.data() + 36 * static_cast<std::ptrdiff_t>(c) + 16;
        Real* q = inverse.data() + 4 * static_cast<std::ptrdiff_t>(c);
        const double uu = a[0], uv = a[1], vv = a[3], trace = uu + vv, det = uu * vv - uv * uv;
        const bool regular = det > 1e-6 * trace * trace;
        const double other = trace > 0.0 ? 1.0 / trace : 0.0;
        q[0] = static_cast<Real>(regular ? vv / det : other);
        q[1] = q[2] = static_cast<Real>(regular ? -uv / det : 0.0);
        q[3] = static_cast<Real>(regular ? uu / det : other);
      });
}

} // namespace nunatak
