// The smoother of kernels/multigrid/multigrid.hpp: Chebyshev's polynomial in (S D)^-1 A, D the 2 x 2 blocks on the diagonal, S a
// number for each cell.
//
// It needs a bound on the largest eigenvalue of (S D)^-1 A. One is known without any estimate: no eigenvalue is larger than a
// norm of the matrix. S is the larger of the sums of |entries| of the cell's two rows of D^-1 A, so that the rows of (S D)^-1 A
// have sums of at most 1, and so have all eigenvalues. S is about 2.9 where the ice is uniform, and large only where it must be.
// (The same bound for all cells is 4: A is a sum over elements of semidefinite matrices, each between at most 4 cells.) No
// reduction is needed, nor a neighbour's row, and the arithmetic in a cell is the same for every decomposition.
//
// The polynomial of degree k damps the eigenvalues from 0.2/k to 1 (the lower end found best for the SSA of Antarctica):
//
//   theta = (high + low)/2,   delta = (high - low)/2,   rho_0 = delta/theta,   d_0 = (S D)^-1 r/theta
//   rho_k = 1/(2 theta/delta - rho_{k-1}),   d_k = rho_k rho_{k-1} d_{k-1} + 2 rho_k/delta (S D)^-1 r,   x += d_k
//
// Each function does one loop over the unknowns in rings 0 (owned) to `ring` and communicates nothing; it needs what it names in
// one ring more.
#pragma once

#include "kernels/multigrid/nine_point.hpp"

#include <utility>

namespace nunatak {

/// The polynomial (Saad 2003, algorithm 12.1): its degree, the interval of eigenvalues that it damps, and the interval's centre
/// and half length.
struct Chebyshev {
  int degree = 2;

  double high() const { return 1.0; }
  double low() const { return high() * (degree > 1 ? 0.2 / degree : 0.3); }
  double theta() const { return 0.5 * (high() + low()); }
  double delta() const { return 0.5 * (high() - low()); }
};

/// x = 0, r = b, d = (S D)^-1 r/theta. Needs b in rings 0 to `ring`.
template <class Real> void start_from_zero(const NinePoint<Real>& p, const Chebyshev& polynomial, int ring) {
  const auto inverse = p.inverse, b = p.b, x = p.x, r = p.r, d = p.d;
  const auto scale = static_cast<Real>(1.0 / polynomial.theta());
  for_each_unknown(
      "multigrid: start", p, ring, KOKKOS_LAMBDA(int c) {
        const auto at = 2 * static_cast<std::ptrdiff_t>(c);
        const Real *f = b.data() + at, *q = inverse.data() + 2 * at;
        Real *px = x.data() + at, *pr = r.data() + at, *pd = d.data() + at;
        px[0] = px[1] = 0;
        pr[0] = f[0], pr[1] = f[1];
        pd[0] = scale * (q[0] * f[0] + q[1] * f[1]);
        pd[1] = scale * (q[2] * f[0] + q[3] * f[1]);
      });
}

/// x += d in the ghosts of rings `first` to `last`: what the owners do, so that x need not be exchanged.
template <class Real> void step_ghosts(const NinePoint<Real>& p, int first, int last) {
  const auto x = p.x, d = p.d;
  for_each_ghost(
      "multigrid: step of ghosts", p, first, last, KOKKOS_LAMBDA(int c) {
        const auto at = 2 * static_cast<std::ptrdiff_t>(c);
        x.data()[at] += d.data()[at], x.data()[at + 1] += d.data()[at + 1];
      });
}

/// r = b - A x, d = (S D)^-1 r/theta. Needs x.
template <class Real> void start(const NinePoint<Real>& p, const Chebyshev& polynomial, int ring) {
  const auto A = p.A, inverse = p.inverse, b = p.b, x = p.x, r = p.r, d = p.d;
  const int stride = p.patch.xm + 2;
  const auto scale = static_cast<Real>(1.0 / polynomial.theta());
  for_each_unknown(
      "multigrid: residual", p, ring, KOKKOS_LAMBDA(int c) {
        const auto at = 2 * static_cast<std::ptrdiff_t>(c);
        Real u = 0, v = 0;
        row_product(A.data() + 18 * at, x.data() + at, stride, u, v);
        const Real *f = b.data() + at, *q = inverse.data() + 2 * at;
        Real *pr = r.data() + at, *pd = d.data() + at;
        pr[0] = f[0] - u, pr[1] = f[1] - v;
        pd[0] = scale * (q[0] * pr[0] + q[1] * pr[1]);
        pd[1] = scale * (q[2] * pr[0] + q[3] * pr[1]);
      });
}

/// x += d, r -= A d, and the next step e = keep d + push (S D)^-1 r; then d and e are swapped. Needs d.
template <class Real> void step(NinePoint<Real>& p, double keep_factor, double push_factor, int ring) {
  const auto A = p.A, inverse = p.inverse, x = p.x, r = p.r, d = p.d, e = p.e;
  const int stride = p.patch.xm + 2;
  const auto keep = static_cast<Real>(keep_factor), push = static_cast<Real>(push_factor);
  for_each_unknown(
      "multigrid: step", p, ring, KOKKOS_LAMBDA(int c) {
        const auto at = 2 * static_cast<std::ptrdiff_t>(c);
        Real u = 0, v = 0;
        row_product(A.data() + 18 * at, d.data() + at, stride, u, v);
        const Real *pd = d.data() + at, *q = inverse.data() + 2 * at;
        Real *px = x.data() + at, *pr = r.data() + at, *pe = e.data() + at;
        px[0] += pd[0], px[1] += pd[1];
        pr[0] -= u, pr[1] -= v;
        // lab 7 begin: the next step | stub: throw "lab 7: not written yet";
        pe[0] = keep * pd[0] + push * (q[0] * pr[0] + q[1] * pr[1]);
        pe[1] = keep * pd[1] + push * (q[2] * pr[0] + q[3] * pr[1]);
        // lab 7 end
      });
  std::swap(p.d, p.e);
}

/// x += d, and r -= A d if wanted (needs d).
template <class Real> void finish(const NinePoint<Real>& p, bool with_residual, int ring) {
  const auto A = p.A, x = p.x, r = p.r, d = p.d;
  const int stride = p.patch.xm + 2;
  for_each_unknown(
      "multigrid: finish", p, ring, KOKKOS_LAMBDA(int c) {
        const auto at = 2 * static_cast<std::ptrdiff_t>(c);
        const Real* pd = d.data() + at;
        Real *px = x.data() + at, *pr = r.data() + at;
        px[0] += pd[0], px[1] += pd[1];
        if (!with_residual) return;
        Real u = 0, v = 0;
        row_product(A.data() + 18 * at, pd, stride, u, v);
        pr[0] -= u, pr[1] -= v;
      });
}

} // namespace nunatak
